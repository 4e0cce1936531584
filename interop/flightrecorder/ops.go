package flightrecorder

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"railyard/internal/lazy"
	"railyard/interop/foreign"
	"railyard/model/collective"
	"railyard/model/observed"
	"railyard/model/units"
)

// recording is a dump in the words of this house, while it is made.
type recording struct {
	observed.Recording
	at    map[string]int // groups by name
	texts *phrases
}

func begin(file string, rank int, version string, groups map[string]group) (*recording, error) {
	if err := check(version); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	out := &recording{observed.Recording{File: file, Rank: rank}, map[string]int{}, &phrases{known: map[string]string{}}}
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		g := groups[name]
		ranks, err := members(string(g.Ranks))
		if err != nil {
			return nil, fmt.Errorf("%s: group %s: %w", file, name, err)
		}
		out.at[name] = len(out.Groups)
		out.Groups = append(out.Groups, observed.Group{Name: name, About: g.Desc, Ranks: ranks})
	}
	return out, nil
}

func (r *recording) add(e *entry) error {
	if len(e.Group) == 0 {
		return fmt.Errorf("%s: entry %d: it names no process group", r.File, len(r.Ops))
	}
	g, known := r.at[e.Group[0]]
	if !known { // one whose ranks were not noted
		g = len(r.Groups)
		r.at[e.Group[0]] = g
		r.Groups = append(r.Groups, observed.Group{Name: e.Group[0], About: strings.Join(e.Group[1:], " ")})
	}
	op, err := e.op(r.texts)
	if err != nil {
		return fmt.Errorf("%s: entry %d: %w", r.File, len(r.Ops), err)
	}
	op.Group = g
	r.Ops = append(r.Ops, op)
	return nil
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
var message = lazy.Regexp(`^\w+:(send|recv) \d+(?:->|<-)(\d+)$`)

func (e *entry) op(texts *phrases) (observed.Op, error) {
	state, ok := states[e.State]
	if !ok {
		return observed.Op{}, fmt.Errorf("state %q: must be scheduled, started or completed", e.State)
	}
	_, name, _ := strings.Cut(e.Name, ":")
	op := observed.Op{Seq: e.Seq, Name: strings.TrimSuffix(strings.TrimPrefix(name, "_"), "_base"), Peer: -1, State: state,
		TimedOut: e.Retired && state != observed.Completed, Created: e.Created, Begun: e.Started, Ended: e.Completed,
		Caller: e.caller(texts), Bytes: units.Bytes(size(e.Inputs, e.InputTypes))}
	if e.Duration > 0 && e.Duration < 1e12 {
		op.Time = units.FromMicroseconds(1e3 * e.Duration)
	}
	if strings.ContainsAny(name, "<>") { // no collective's name has an arrow
		if m := message().FindStringSubmatch(e.Name); m != nil {
			peer, err := strconv.Atoi(m[2])
			if err != nil {
				return op, fmt.Errorf("%q: no such rank", e.Name)
			}
			op.Name, op.Peer, op.Seq = m[1], peer, e.MessageSeq
		}
	}
	op.Signature = e.signature(op.Name, texts)
	return op, nil
}

// phrases are texts by what they say: of thousands of operations most say the same, which then costs no memory.
type phrases struct {
	known map[string]string
	line  []byte // of the text that is being written
}

// once is the text that line holds.
func (p *phrases) once() string {
	if known, ok := p.known[string(p.line)]; ok {
		return known
	}
	s := string(p.line)
	p.known[s] = s
	return s
}

// signature is what all ranks of a collective must give alike: types; and sizes, but where ranks may give different ones or only the
// root gives any.
func (e *entry) signature(name string, p *phrases) string {
	p.line = p.line[:0]
	p.add(len(e.InputTypes), func(i int) { p.line = append(p.line, e.InputTypes[i]...) })
	kind, err := collective.Parse(name)
	if err == nil && (kind == collective.AllReduce || kind == collective.Broadcast || kind == collective.Reduce ||
		kind == collective.AllGather && len(e.Outputs) == 1 || kind == collective.ReduceScatter && len(e.Inputs) == 1) {
		p.line = append(p.line, ' ')
		p.add(len(e.Inputs), func(i int) {
			p.add(len(e.Inputs[i]), func(j int) { p.line = strconv.AppendInt(p.line, int64(e.Inputs[i][j]), 10) })
		})
	}
	return p.once()
}

// add writes a list: [a b c].
func (p *phrases) add(n int, item func(int)) {
	p.line = append(p.line, '[')
	for i := range n {
		if i > 0 {
			p.line = append(p.line, ' ')
		}
		item(i)
	}
	p.line = append(p.line, ']')
}

// caller is the innermost line of the program, above PyTorch's own.
func (e *entry) caller(p *phrases) string {
	for i := range e.Frames {
		if f := &e.Frames[i]; !strings.Contains(f.File, "torch/distributed/") {
			p.line = strconv.AppendInt(append(append(p.line[:0], f.File...), ':'), f.Line, 10)
			p.line = append(append(append(p.line, " ("...), f.Name...), ')')
			return p.once()
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
