package flightrecorder

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"railyard/interop/foreign"
	"railyard/model/collective"
	"railyard/model/observed"
	"railyard/model/units"
)

// recording is the dump in the words of this house.
func (d *dump) recording(file string, rank int) (*observed.Recording, error) {
	out := &observed.Recording{File: file, Rank: rank, Ops: make([]observed.Op, 0, len(d.Entries))}
	at, texts := map[string]int{}, map[string]string{}
	once := func(s *string) { // of thousands of operations most say the same
		if known, ok := texts[*s]; ok {
			*s = known
			return
		}
		texts[*s] = *s
	}
	for _, name := range slices.Sorted(maps.Keys(d.Groups)) {
		g := d.Groups[name]
		ranks, err := members(string(g.Ranks))
		if err != nil {
			return nil, fmt.Errorf("%s: group %s: %w", file, name, err)
		}
		at[name] = len(out.Groups)
		out.Groups = append(out.Groups, observed.Group{Name: name, About: g.Desc, Ranks: ranks})
	}
	for i := range d.Entries {
		e := &d.Entries[i]
		if len(e.Group) == 0 {
			return nil, fmt.Errorf("%s: entry %d: it names no process group", file, i)
		}
		g, known := at[e.Group[0]]
		if !known { // one whose ranks were not noted
			g = len(out.Groups)
			at[e.Group[0]] = g
			out.Groups = append(out.Groups, observed.Group{Name: e.Group[0], About: strings.Join(e.Group[1:], " ")})
		}
		op, err := e.op()
		if err != nil {
			return nil, fmt.Errorf("%s: entry %d: %w", file, i, err)
		}
		op.Group = g
		once(&op.Name)
		once(&op.Signature)
		once(&op.Caller)
		out.Ops = append(out.Ops, op)
	}
	return out, nil
}

// members reads a group's ranks: "[0, 1, 2]".
func members(text string) ([]int, error) {
	if text == "" {
		return nil, nil
	}
	var ranks []int
	if err := json.Unmarshal([]byte(text), &ranks); err != nil {
		return nil, fmt.Errorf("ranks %.40q are no list of numbers", text)
	}
	slices.Sort(ranks)
	ranks = slices.Compact(ranks)
	if len(ranks) > 0 && (ranks[0] < 0 || ranks[len(ranks)-1] >= maxRanks) {
		return nil, fmt.Errorf("ranks %.40q: must be from 0 to %d", text, maxRanks-1)
	}
	return ranks, nil
}

// states are the recorder's words for how far an operation has come.
var states = map[string]observed.State{"scheduled": observed.Scheduled, "started": observed.Started, "completed": observed.Completed}

// message is a send or a receive: "nccl:send 0->1", "nccl:recv 1<-0", ranks of the group.
var message = regexp.MustCompile(`^\w+:(send|recv) \d+(?:->|<-)(\d+)$`)

func (e *entry) op() (observed.Op, error) {
	state, ok := states[e.State]
	if !ok {
		return observed.Op{}, fmt.Errorf("state %q: must be scheduled, started or completed", e.State)
	}
	_, name, _ := strings.Cut(e.Name, ":")
	op := observed.Op{Seq: e.Seq, Name: strings.TrimSuffix(strings.TrimPrefix(name, "_"), "_base"), Peer: -1, State: state,
		TimedOut: e.Retired && state != observed.Completed, Created: e.Created, Begun: orZero(e.Started), Ended: orZero(e.Completed),
		Caller: e.caller(), Bytes: units.Bytes(size(e.Inputs, e.InputTypes))}
	if e.Duration != nil && *e.Duration > 0 && *e.Duration < 1e12 {
		op.Time = units.FromMicroseconds(1e3 * *e.Duration)
	}
	if m := message.FindStringSubmatch(e.Name); m != nil {
		peer, err := strconv.Atoi(m[2])
		if err != nil {
			return op, fmt.Errorf("%q: no such rank", e.Name)
		}
		op.Name, op.Peer, op.Seq = m[1], peer, e.MessageSeq
	}
	op.Signature = e.signature(op.Name)
	return op, nil
}

func orZero(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}

// signature is what all ranks of a collective must give alike: types; and sizes, but where ranks may give different ones or only the
// root gives any.
func (e *entry) signature(name string) string {
	kind, err := collective.Parse(name)
	if err == nil && (kind == collective.AllReduce || kind == collective.Broadcast || kind == collective.Reduce ||
		kind == collective.AllGather && len(e.Outputs) == 1 || kind == collective.ReduceScatter && len(e.Inputs) == 1) {
		return fmt.Sprint(e.InputTypes, e.Inputs)
	}
	return fmt.Sprint(e.InputTypes)
}

// caller is the innermost line of the program, above PyTorch's own.
func (e *entry) caller() string {
	for _, f := range e.Frames {
		if !strings.Contains(f.File, "torch/distributed/") {
			return fmt.Sprintf("%s:%d (%s)", f.File, f.Line, f.Name)
		}
	}
	return ""
}

// size are the bytes of tensors; 0 where a type is not known.
func size(sizes [][]int, types []string) (bytes int64) {
	const most = 1 << 50
	for i, dims := range sizes {
		if i >= len(types) {
			return 0
		}
		n := foreign.TorchElement(types[i])
		for _, d := range dims {
			if d < 0 || d > 0 && n > most/int64(d) {
				return 0
			}
			n *= int64(d)
		}
		if bytes += n; bytes > most {
			return 0
		}
	}
	return bytes
}
