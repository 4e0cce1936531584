// Package ncclprofiler reads the traces of NCCL's example profiler plugin (plugins/profiler/example, since 2.23; print_event.cc): Chrome's
// asynchronous events, a line each, of which some are no JSON. A collective's time is that of its kernel's channels on the GPU's clock.
package ncclprofiler

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"railyard/model/collective"
	"railyard/model/observed"
	"railyard/model/units"

	"railyard/internal/lazy"
)

const (
	maxLine  = 1 << 16
	maxFile  = 1 << 32 // bytes
	maxRanks = 1 << 22
	maxElems = 1 << 37
	maxTime  = 1_000_000_000_000 // ns
	maxBad   = 20                // lines that are reported
)

// event is a line, as far as it is looked at.
type event struct {
	Name     string `json:"name"`
	Category string `json:"cat"`
	Phase    string `json:"ph"`
	Args     struct {
		Seq       int64  `json:"SeqNum"`
		Comm      uint64 `json:"CommHash"`
		Rank      int
		Count     int64
		Type      string `json:"Datatype"`
		Algorithm string
		Protocol  string
		Channels  int   `json:"nChannels"`
		Start     int64 `json:"StartGpuClk"` // ns
		Stop      int64 `json:"StopGpuClk"`  // ns; 0: not over when it was written
	} `json:"args"`
}

// what is looked at: collectives, what may stand between one and its kernel, and kernels.
var (
	looked = lazy.Regexp(`"cat": ?"(COLL|P2P|GPU)"`)
	begins = lazy.Regexp(`^\s*\[\s*\{"name": ?"[^"]*", ?"cat": ?"(GROUP|GROUP_API|COLL|COLL_API|P2P|P2P_API|PROXY)", ?"ph": ?"b"`)
	width  = lazy.Regexp(`^nccl(Int|Uint|Float|Bfloat)(8|16|32|64)(e[0-9]m[0-9])?$`)
)

// Is reports whether a file looks like a trace: by its first bytes.
func Is(head []byte) bool { return begins().Match(head) }

// Trace is what files say; of how many ranks communicators are, only all together say.
type Trace struct {
	calls   []observed.Call // sizes are of what one rank gives or takes
	choices []observed.Choice
	ranks   map[string]int // of each communicator
	untimed int            // collectives without a kernel's times
	sends   int            // sends and receives
}

// Parse adds a file to what others said.
func (t *Trace) Parse(r io.Reader, file string) error {
	in := bufio.NewScanner(io.LimitReader(r, maxFile))
	in.Buffer(make([]byte, 4<<10), maxLine)
	p := parser{Trace: t}
	var bad []error
	for line := 1; in.Scan() && len(bad) < maxBad; line++ {
		text := bytes.TrimRight(bytes.TrimLeft(in.Bytes(), " \t["), " \t\r,")
		if !looked().Match(text) {
			continue
		}
		var e event
		err := json.Unmarshal(text, &e)
		if err == nil {
			err = p.event(&e, observed.Place{File: file, Line: line})
		}
		if err != nil {
			bad = append(bad, fmt.Errorf("%s:%d: %w", file, line, err))
		}
	}
	if err := in.Err(); err != nil {
		bad = append(bad, fmt.Errorf("%s: %w", file, err))
	}
	p.end()
	return errors.Join(bad...)
}

// parser goes through a file: a collective's events stand between its beginning and its end.
type parser struct {
	*Trace
	open        *observed.Call
	start, stop int64 // of the open one's kernel, ns
}

func (p *parser) event(e *event, place observed.Place) error {
	switch a := &e.Args; {
	case e.Category == "GPU":
		if e.Phase != "b" || e.Name != "KernelCh" || p.open == nil || a.Stop == 0 {
			return nil
		}
		if a.Start <= 0 || a.Stop < a.Start || a.Stop-a.Start > maxTime {
			return fmt.Errorf("a kernel from %d to %d ns", a.Start, a.Stop)
		}
		if p.stop == 0 || a.Start < p.start {
			p.start = a.Start
		}
		p.stop = max(p.stop, a.Stop)
		return nil
	default:
		p.end()
		if e.Category == "P2P" && e.Phase == "b" {
			p.sends++
		}
		if e.Category == "P2P" || e.Phase != "b" {
			return nil
		}
		return p.begin(e, place)
	}
}

// begin opens a collective.
func (p *parser) begin(e *event, place observed.Place) error {
	a := &e.Args
	kind, err := collective.Parse(e.Name)
	bits := width().FindStringSubmatch(a.Type)
	switch {
	case err != nil:
		return err
	case bits == nil:
		return fmt.Errorf("datatype %q is not known", a.Type)
	case a.Rank < 0 || a.Rank >= maxRanks || a.Count < 0 || a.Count > maxElems || a.Seq < 0 || a.Channels < 0:
		return fmt.Errorf("%d elements of rank %d in collective %d over %d channels", a.Count, a.Rank, a.Seq, a.Channels)
	}
	n, _ := strconv.ParseInt(bits[2], 10, 64)
	group := fmt.Sprintf("0x%x", a.Comm)
	if p.ranks == nil {
		p.ranks = map[string]int{}
	}
	p.ranks[group] = max(p.ranks[group], a.Rank+1)
	p.open = &observed.Call{Place: place, Group: group, Rank: a.Rank, Kind: kind, Seq: a.Seq, Size: units.Bytes(a.Count * n / 8)}
	if a.Algorithm != "" && a.Protocol != "" {
		p.choices = append(p.choices, observed.Choice{Place: place, Comm: group, Kind: kind, Size: p.open.Size, Times: 1,
			Algorithm: strings.ToLower(a.Algorithm), Protocol: strings.ToLower(a.Protocol), Channels: a.Channels})
	}
	return nil
}

// end closes the open collective.
func (p *parser) end() {
	switch {
	case p.open == nil:
	case p.stop == 0:
		p.untimed++
	default:
		p.open.Start, p.open.Time = p.start, units.Time(p.stop-p.start)*units.Nanosecond
		p.calls = append(p.calls, *p.open)
	}
	p.open, p.start, p.stop = nil, 0, 0
}

// Calls are the collectives of all files, and notes on those whose times they do not have, and on what is none.
func (t *Trace) Calls() (out []observed.Call, notes []string) {
	for _, c := range t.calls {
		c.Ranks = t.ranks[c.Group]
		c.Size = observed.InTests(c.Kind, c.Size, c.Ranks)
		out = append(out, c)
	}
	if t.untimed > 0 {
		notes = append(notes, fmt.Sprintf("%s in traces of NCCL's profiler plugin without times of their kernels: "+
			"NCCL_PROFILE_EVENT_MASK=66 records them", units.Counted(t.untimed, "collective")))
	}
	if t.sends > 0 {
		notes = append(notes, fmt.Sprintf("%s in traces of NCCL's profiler plugin are sends or receives, which are not judged",
			units.Counted(t.sends, "event")))
	}
	return out, notes
}

// Log is what NCCL chose for them.
func (t *Trace) Log() *observed.Log {
	log, at := &observed.Log{}, map[observed.Choice]int{}
	comms := map[string]bool{}
	for _, x := range t.choices {
		if !comms[x.Comm] {
			comms[x.Comm] = true
			log.Comms = append(log.Comms, observed.Comm{Place: x.Place, ID: x.Comm, Ranks: t.ranks[x.Comm]})
		}
		x.Size = observed.InTests(x.Kind, x.Size, t.ranks[x.Comm])
		key := x
		key.Place = observed.Place{}
		if i, known := at[key]; known {
			log.Choices[i].Times++
			continue
		}
		at[key] = len(log.Choices)
		log.Choices = append(log.Choices, x)
	}
	return log
}
