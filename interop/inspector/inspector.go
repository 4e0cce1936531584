// Package inspector reads what NCCL's Inspector (plugins/profiler/inspector, since 2.28) dumps: a line of JSON for each collective,
// format v4.0, plain or with its event trace, and its metrics in Prometheus' text format.
package inspector

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"railyard/model/collective"
	"railyard/model/observed"
	"railyard/model/units"
)

const (
	maxLine  = 1 << 20
	maxFile  = 1 << 32 // bytes: the dump grows with the job, by 200 to 500 bytes a collective
	maxRanks = 1 << 22
	maxBytes = 1 << 40
	maxTime  = 1e12 // µs
	maxBad   = 20   // lines that are reported
)

// record is a line of the dump (inspector_json.cc).
type record struct {
	Header struct {
		ID    string `json:"id"`
		Name  string `json:"comm_name"`
		Rank  int    `json:"rank"`
		Ranks int    `json:"n_ranks"`
		Nodes int    `json:"nnodes"`
	} `json:"header"`
	Meta struct {
		Version string `json:"inspector_output_format_version"`
		Dumped  int64  `json:"dump_timestamp_us"`
		Host    string `json:"hostname"`
	} `json:"metadata"`
	Coll *struct {
		Name  string  `json:"coll"`
		Seq   int64   `json:"coll_sn"`
		Size  int64   `json:"coll_msg_size_bytes"` // of what one rank gives or takes
		Time  float64 `json:"coll_exec_time_us"`
		Trace *struct {
			Start  int64 `json:"coll_start_ts"`
			Events []struct {
				Start int64 `json:"kernel_start_ts"`
			} `json:"kernel_events"`
		} `json:"event_trace_ts"`
	} `json:"coll_perf"`
	P2P json.RawMessage `json:"p2p_perf"`
}

// Is reports whether a file looks like a dump: by its first bytes.
func Is(head []byte) bool {
	return bytes.Contains(head, []byte(`"inspector_output_format_version"`)) || bytes.Contains(head, []byte("nccl_bus_bandwidth_gbs{")) ||
		bytes.Contains(head, []byte("nccl_p2p_bus_bandwidth_gbs{"))
}

// Parse reads a dump in either form. Sends and receives are passed over: no collective of theirs can be expected.
func Parse(r io.Reader, file string) ([]observed.Call, error) {
	in := bufio.NewScanner(io.LimitReader(r, maxFile))
	in.Buffer(make([]byte, 64<<10), maxLine)
	var out []observed.Call
	var bad []error
	metrics := &metrics{at: map[string]int{}}
	for line := 1; in.Scan(); line++ {
		text := bytes.TrimSpace(in.Bytes())
		if len(text) == 0 || text[0] == '#' {
			continue
		}
		var err error
		place := observed.Place{File: file, Line: line}
		if text[0] == '{' {
			var c *observed.Call
			if c, err = parseRecord(text, place); c != nil {
				out = append(out, *c)
			}
		} else {
			err = metrics.add(string(text), place)
		}
		if err != nil && len(bad) < maxBad {
			bad = append(bad, fmt.Errorf("%v: %w", place, err))
		}
	}
	if err := in.Err(); err != nil {
		bad = append(bad, fmt.Errorf("%s: %w", file, err))
	}
	if err := errors.Join(bad...); err != nil {
		return nil, err
	}
	return append(out, metrics.calls()...), nil
}

// parseRecord reads a line; nil where it is no collective.
func parseRecord(text []byte, place observed.Place) (*observed.Call, error) {
	var x record
	if err := json.Unmarshal(text, &x); err != nil {
		return nil, fmt.Errorf("not a line of NCCL's Inspector: %w", err)
	}
	if x.Meta.Version == "" {
		return nil, errors.New(`it has no "inspector_output_format_version": it is no line of NCCL's Inspector`)
	}
	if x.Coll == nil {
		if x.P2P == nil {
			return nil, errors.New(`it has neither "coll_perf" nor "p2p_perf"`)
		}
		return nil, nil
	}
	h := &x.Header
	kind, err := collective.Parse(x.Coll.Name)
	switch {
	case err != nil:
		return nil, err
	case h.Ranks < 1 || h.Ranks > maxRanks || h.Rank < 0 || h.Rank >= h.Ranks || h.Nodes < 0 || h.Nodes > h.Ranks:
		return nil, fmt.Errorf("rank %d of %d on %d nodes", h.Rank, h.Ranks, h.Nodes)
	case x.Coll.Size < 0 || x.Coll.Size > maxBytes || !(x.Coll.Time >= 0 && x.Coll.Time <= maxTime):
		return nil, fmt.Errorf("%d bytes in %v us", x.Coll.Size, x.Coll.Time)
	}
	c := &observed.Call{Place: place, Group: h.ID, Rank: h.Rank, Ranks: h.Ranks, Nodes: h.Nodes, Host: x.Meta.Host, Kind: kind,
		Size: observed.InTests(kind, units.Bytes(x.Coll.Size), h.Ranks), Seq: x.Coll.Seq, Start: 1000 * x.Meta.Dumped,
		Time: units.FromMicroseconds(x.Coll.Time)}
	if h.Name != "" && h.Name != "unknown" {
		c.Group = h.Name + " " + h.ID
	}
	if t := x.Coll.Trace; t != nil {
		c.Start = 1000 * t.Start
	}
	return c, nil
}
