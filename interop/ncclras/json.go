package ncclras

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"

	"railyard/interop/foreign"
	"railyard/model/observed"
)

// document is the answer in the format json (rasDumpCommsToJSON).
type document struct {
	Version string `json:"nccl_version"`
	Time    string `json:"timestamp"`
	Comms   []struct {
		Hash    string `json:"hash"`
		Size    int    `json:"size"`
		Ranks   []rank `json:"ranks"`
		Missing []struct {
			member
			Status struct {
				Dead bool `json:"considered_dead"`
			} `json:"status"`
		} `json:"missing_ranks"`
	} `json:"communicators"`
}

type member struct {
	Rank int    `json:"rank"`
	Host string `json:"host"`
	PID  int    `json:"pid"`
	GPU  int    `json:"nvml_dev"`
}

func (m *member) observed() observed.Member {
	out := observed.Member{Rank: m.Rank, Host: m.Host, PID: max(m.PID, 0), GPU: m.GPU}
	if m.Host == "unknown" {
		out.Host = ""
	}
	return out
}

type rank struct {
	member
	Status struct {
		InitState  int `json:"init_state"`
		AsyncError int `json:"async_error"`
	} `json:"status"`
	Counts map[string]int64 `json:"collective_counts"`
}

func parseJSON(r io.Reader, file string) ([]*observed.Roll, error) {
	data, err := foreign.Read(r, maxAnswer)
	if err != nil {
		return nil, err
	}
	var d document
	dec := json.NewDecoder(bytes.NewReader(data))
	if err := dec.Decode(&d); err != nil {
		return nil, foreign.JSONError(data, dec, err)
	}
	if d.Version == "" || d.Comms == nil {
		return nil, fmt.Errorf(`it has no "nccl_version" and "communicators": it is no answer of NCCL's RAS`)
	}
	roll := &observed.Roll{File: file, Version: d.Version, Time: d.Time}
	for i := range d.Comms {
		c := &d.Comms[i]
		if c.Size < 0 || c.Size > maxRanks {
			return nil, fmt.Errorf("communicator %s: size %d: must be from 0 to %d", c.Hash, c.Size, maxRanks)
		}
		s := observed.Progress{Place: observed.Place{File: file}, Comm: c.Hash, Ranks: c.Size}
		for k := range c.Missing {
			s.Missing = append(s.Missing, observed.Absence{Member: c.Missing[k].observed(), Dead: c.Missing[k].Status.Dead})
		}
		s.Counts, s.Errors = counts(c.Ranks), failures(c.Ranks)
		roll.Comms = append(roll.Comms, s)
	}
	return []*observed.Roll{roll}, nil
}

// counts sorts ranks by how many operations of each kind they have launched; kinds that nobody has launched are left out.
func counts(ranks []rank) (out []observed.Count) {
	type key struct {
		op   string
		upto int64
	}
	by, launched := map[key]*observed.Count{}, map[string]bool{}
	for i := range ranks {
		r := &ranks[i]
		for _, op := range slices.Sorted(maps.Keys(r.Counts)) {
			n := r.Counts[op]
			launched[op] = launched[op] || n > 0
			c := by[key{op, n}]
			if c == nil {
				c = &observed.Count{Op: op, Upto: n}
				by[key{op, n}] = c
			}
			c.Ranks++
			c.Members = append(c.Members, r.observed())
		}
	}
	for _, c := range by {
		if launched[c.Op] {
			out = append(out, *c)
		}
	}
	slices.SortFunc(out, byOp)
	return out
}

// failures are what ranks report beyond success and work in progress.
func failures(ranks []rank) (out []observed.Failure) {
	by := map[string]*observed.Failure{}
	for i := range ranks {
		r := &ranks[i]
		for kind, code := range map[string]int{"starting the communicator": r.Status.InitState, "while it ran": r.Status.AsyncError} {
			if code == success || code == inProgress {
				continue
			}
			text := fmt.Sprintf("%s (%s)", result(code), kind)
			f := by[text]
			if f == nil {
				f = &observed.Failure{Text: text}
				by[text] = f
			}
			f.Ranks++
			f.Members = append(f.Members, r.observed())
		}
	}
	for _, text := range slices.Sorted(maps.Keys(by)) {
		out = append(out, *by[text])
	}
	return out
}

// NCCL's results that are no failure (nccl.h).
const (
	success    = 0
	inProgress = 7
)

// result is what NCCL calls a result (ncclErrorToString of client_support.cc).
func result(code int) string {
	names := []string{"", "Unhandled CUDA error", "System error", "Internal error", "Invalid argument", "Invalid usage",
		"Remote process error"}
	if code > 0 && code < len(names) {
		return names[code]
	}
	return fmt.Sprintf("error %d", code)
}
