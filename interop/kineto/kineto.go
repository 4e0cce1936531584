// Package kineto reads the collectives of a trace that PyTorch's profiler has exported (Chrome's format, as libkineto's output_json.cpp
// writes it): kernels of NCCL that carry the record of their collective.
package kineto

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"railyard/interop/foreign"
	"railyard/model/collective"
	"railyard/model/observed"
	"railyard/model/units"

	"railyard/internal/lazy"
)

const (
	maxTrace = 1 << 32 // bytes, unpacked
	maxValue = 1 << 26 // bytes of an event, or of what is passed over
	maxRanks = 1 << 22
	maxElems = 1 << 37
	maxTime  = 1e12 // µs
	maxBad   = 20   // events that are reported
)

// event is what is read of an event.
type event struct {
	Category string  `json:"cat"`
	Time     float64 `json:"dur"` // µs
	Start    float64 `json:"ts"`  // µs
	Args     struct {
		Name  string          `json:"Collective name"`
		In    int64           `json:"In msg nelems"`
		Out   int64           `json:"Out msg nelems"`
		Size  int             `json:"Group size"`
		Split string          `json:"In split size"` // "[]": the same to all
		Type  string          `json:"dtype"`
		Group string          `json:"Process Group Name"`
		About string          `json:"Process Group Description"`
		Ranks json.RawMessage `json:"Process Group Ranks"` // a list, or a text that holds one
		Seq   *int64          `json:"Seq"`
	} `json:"args"`
}

// Is reports whether a file looks like a trace: by its first bytes.
func Is(head []byte) bool {
	return bytes.Contains(head, []byte(`"traceEvents"`)) || bytes.HasPrefix(bytes.TrimSpace(head), []byte(`{`)) &&
		bytes.Contains(head, []byte(`"schemaVersion"`)) && bytes.Contains(head, []byte(`"deviceProperties"`))
}

// trace is what a file says as a whole.
type trace struct {
	rank  int
	base  int64 // ns that events' times are added to
	calls []observed.Call
	bad   []error
	seen  map[string]int64 // collectives of each group and kind so far, where events do not number them
	lists map[string][]int
	other int // kernels of collectives that are not known
	bare  int // and of those that do not say which they are of
}

// Parse reads a trace. The second result says what was passed over, or that there is nothing to judge; "" neither.
func Parse(r io.Reader, file string) ([]observed.Call, string, error) {
	t := &trace{rank: -1, seen: map[string]int64{}, lists: map[string][]int{}}
	lines := &counter{r: io.LimitReader(r, maxTrace), left: maxValue}
	if err := t.read(&decoder{json.NewDecoder(lines), lines}, file); err != nil {
		return nil, "", fmt.Errorf("%s: line %d or before: %w", file, lines.line+1, err)
	}
	if err := errors.Join(t.bad...); err != nil {
		return nil, "", err
	}
	for i := range t.calls {
		t.calls[i].Rank = t.rank
		t.calls[i].Start += t.base
	}
	return t.calls, t.note(file), nil
}

func (t *trace) note(file string) string {
	switch {
	case t.bare > 0:
		return fmt.Sprintf("%s: %s of NCCL without the record of their collective, which newer versions of PyTorch write: their sizes are "+
			"not known", file, units.Counted(t.bare, "kernel"))
	case t.other > 0:
		return fmt.Sprintf("%s: %s of no collective that is known", file, units.Counted(t.other, "kernel"))
	case len(t.calls) == 0:
		return file + ": no kernel of a collective: nothing of it is judged"
	}
	return ""
}

// counter counts lines as they are read, and bounds what one value may take.
type counter struct {
	r    io.Reader
	line int
	left int
}

func (c *counter) Read(p []byte) (int, error) {
	if c.left <= 0 {
		return 0, fmt.Errorf("one value is larger than %d MiB", maxValue>>20)
	}
	n, err := c.r.Read(p[:min(len(p), c.left)])
	c.left -= n
	c.line += bytes.Count(p[:n], []byte("\n"))
	return n, err
}

// decoder is a decoder each of whose values has that bound.
type decoder struct {
	*json.Decoder
	from *counter
}

func (d *decoder) Decode(v any) error {
	d.from.left = maxValue
	return d.Decoder.Decode(v)
}

// read goes through the document's keys; events are decoded one by one, so that memory does not grow with the file.
func (t *trace) read(dec *decoder, file string) error {
	if token, err := dec.Token(); err != nil || token != json.Delim('{') {
		return fmt.Errorf("it is no trace: it must begin with { (%w)", cmpErr(err))
	}
	found := false
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return err
		}
		switch key {
		case "traceEvents":
			found = true
			err = t.events(dec, file)
		case "baseTimeNanoseconds": // of 1970
			if err = dec.Decode(&t.base); err == nil && (t.base < 0 || t.base > 1<<62) {
				err = fmt.Errorf("baseTimeNanoseconds %d", t.base)
			}
		case "distributedInfo":
			var info struct {
				Rank *int `json:"rank"`
			}
			if err = dec.Decode(&info); err == nil && info.Rank != nil && *info.Rank >= 0 && *info.Rank < maxRanks {
				t.rank = *info.Rank
			}
		default:
			var skipped json.RawMessage
			err = dec.Decode(&skipped)
		}
		if err != nil {
			return err
		}
	}
	if !found {
		return errors.New(`it has no "traceEvents"`)
	}
	return nil
}

func cmpErr(err error) error {
	if err == nil {
		return errors.New("it begins otherwise")
	}
	return err
}

// kernel is one of NCCL, or of RCCL, which has the same names: ncclKernel_AllReduce_RING_LL, ncclDevKernel_Generic.
var kernel = lazy.Regexp(`"name": ?"(?:void )?nccl(?:Dev)?Kernel`)

func (t *trace) events(dec *decoder, file string) error {
	if token, err := dec.Token(); err != nil || token != json.Delim('[') {
		return errors.New(`"traceEvents" is no list`)
	}
	for n := 1; dec.More(); n++ {
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return err
		}
		if !bytes.Contains(raw, []byte(`"Collective name"`)) { // most events are others: they are not looked at
			if kernel().Match(raw) {
				t.bare++
			}
			continue
		}
		var e event
		if err := json.Unmarshal(raw, &e); err != nil {
			return fmt.Errorf("event %d: %w", n, err)
		}
		if e.Category != "kernel" { // the record on the host says the same and no time
			continue
		}
		if err := t.add(&e, file); err != nil && len(t.bad) < maxBad {
			t.bad = append(t.bad, fmt.Errorf("%s: event %d: %w", file, n, err))
		}
	}
	_, err := dec.Token()
	return err
}

func (t *trace) add(e *event, file string) error {
	a := &e.Args
	kind, known := kindOf(a.Name)
	if !known {
		t.other++
		return nil
	}
	if kind == collective.AllToAllV && (a.Split == "" || a.Split == "[]") {
		kind = collective.AllToAll
	}
	width := foreign.TorchElement(a.Type)
	switch {
	case width == 0:
		return fmt.Errorf("dtype %q is not known", a.Type)
	case a.Size < 1 || a.Size > maxRanks:
		return fmt.Errorf("a group of %d", a.Size)
	case a.In < 0 || a.In > maxElems || a.Out < 0 || a.Out > maxElems:
		return fmt.Errorf("%d elements in, %d out", a.In, a.Out)
	case !(e.Time >= 0 && e.Time <= maxTime) || !(e.Start >= 0 && e.Start < 1e15):
		return fmt.Errorf("starts at %v us and takes %v us", e.Start, e.Time)
	}
	group := a.Group
	if a.About != "" && a.About != "undefined" {
		group = a.About
	}
	c := observed.Call{Place: observed.Place{File: file}, Group: group, Rank: -1, Ranks: a.Size, Kind: kind, Start: int64(e.Start * 1e3),
		Size: units.Bytes(max(a.In, a.Out) * width), Time: units.FromMicroseconds(e.Time), On: t.members(a.Ranks)}
	key := fmt.Sprint(a.Group, " ", kind)
	c.Seq = t.seen[key]
	t.seen[key]++
	if a.Seq != nil {
		c.Seq = *a.Seq
	}
	t.calls = append(t.calls, c)
	return nil
}

// members are a group's ranks, one list for all its calls; nil where they are not said in full (long lists end in dots).
func (t *trace) members(raw json.RawMessage) []int {
	text := strings.Trim(string(raw), `"`)
	list, known := t.lists[text]
	if !known {
		if json.Unmarshal([]byte(text), &list) != nil {
			list = nil
		}
		t.lists[text] = list
	}
	return list
}

// kindOf is the collective of PyTorch's name: allreduce, _allgather_base, reduce_scatter_tensor_coalesced, all_to_allv.
func kindOf(name string) (collective.Kind, bool) {
	name = strings.TrimPrefix(name, "_")
	for _, end := range []string{"_coalesced", "_base", "_tensor", "_into", "_single", "_oop"} {
		name = strings.TrimSuffix(name, end)
	}
	kind, err := collective.Parse(name)
	return kind, err == nil && kind != collective.SendRecv && kind != collective.Barrier
}
