package nccltests

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"railyard/interop/foreign"
	"railyard/model/collective"
	"railyard/model/observed"
	"railyard/model/units"
)

// iterations are the times of each iteration in µs (-I 1): of the process that took longest, and of each process.
type iterations struct {
	Times     []float64   `json:"times_us"`
	Processes [][]float64 `json:"per_process_max_times_us"`
}

// maxJSON is the largest document, in MiB.
const maxJSON = 256

// IsJSON reports whether a file looks like what -J writes: by its first bytes.
func IsJSON(head []byte) bool {
	head = bytes.TrimSpace(head)
	return bytes.HasPrefix(head, []byte(`{"version":`)) && bytes.Contains(head, []byte(`"args":`)) &&
		bytes.Contains(head, []byte(`"start_time":`))
}

// Calls are the iterations of a document of version 2 or 3 that times each (-J FILE -I 1), as calls: of each process, where there are
// several. Their clock begins with the test, whose start the document gives to the second only.
func Calls(r io.Reader, file string) ([]observed.Call, error) {
	data, err := foreign.Read(r, maxJSON)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	var d document
	dec := json.NewDecoder(bytes.NewReader(data))
	if err := dec.Decode(&d); err != nil {
		return nil, fmt.Errorf("%s: %w", file, foreign.JSONError(data, dec, err))
	}
	one, err := d.head(0)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	kind, err := collective.Parse(one.name)
	if err != nil {
		return nil, fmt.Errorf("%s: its \"args\" do not name the test: %w", file, err)
	}
	if len(one.known) == 0 {
		return nil, fmt.Errorf(`%s: its "config" has no "devices"`, file)
	}
	var out []observed.Call
	now := int64(0) // ns since the test began
	for i := range d.Results {
		x := &d.Results[i]
		if x.Iterations == nil {
			continue
		}
		processes := x.Iterations.Processes
		if len(processes) == 0 {
			processes = [][]float64{x.Iterations.Times}
		}
		for p, times := range processes {
			if len(times) != len(processes[0]) || x.Size < 0 {
				return nil, fmt.Errorf("%s: result %d: process %d has %d times, process 0 %d", file, i, p, len(times), len(processes[0]))
			}
			for n, us := range times {
				if !(us >= 0 && us <= maxMicroseconds) {
					return nil, fmt.Errorf("%s: result %d: process %d, iteration %d: time %v", file, i, p, n, us)
				}
				out = append(out, observed.Call{Place: observed.Place{File: file}, Group: "nccl-tests", Rank: p, Ranks: len(one.known),
					Nodes: len(one.ranks), Host: d.host(p), Kind: kind, Size: units.Bytes(x.Size), Seq: int64(n), Start: now + int64(n),
					Time: units.FromMicroseconds(us)})
			}
		}
		now += int64(len(processes[0])) + 1
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s: it has no times of iterations: run nccl-tests with -I 1; railyard compare reads it as it is", file)
	}
	return out, nil
}

// host is where a process runs; "" where that is not said.
func (d *document) host(process int) string {
	if process < len(d.Config.Devices) {
		return d.Config.Devices[process].Host
	}
	return ""
}
