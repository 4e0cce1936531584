package measurement

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"railyard/model/collective"
	"railyard/model/units"
)

const (
	maxCount  = 1 << 22 // more GPUs than any cluster that can be loaded
	maxTimeUS = 1e12    // eleven days
)

// ReadCSV reads measurements. Lines that begin with # before the header are comments.
// The header may be in any order; collective, size_bytes and time_us are needed; gpus,
// or gpus_per_node and nodes, id, system, algo, proto, launch, dtype and nccl_version
// are used where present; every column is carried through. Where time_us is empty the
// time is derived from algbw_GBps or busbw_GBps; a row without size or time is kept and
// marked Unusable. Anything else that is wrong is an error with file, line and column,
// all of them at once; with an error the set holds the rows that could be read.
func ReadCSV(r io.Reader, file string) (*Set, error) {
	set := &Set{File: file}
	header, err := lines(r, file, 0, func(l *Line) { // below the header a leading # is data
		if m := l.measurement(); l.Good() {
			set.Rows = append(set.Rows, m)
		}
	}, []string{"collective", "size_bytes", "time_us"})
	if header == nil {
		return nil, err
	}
	set.Header = header
	return set, err
}

// measurement reads a line.
func (l *Line) measurement() Row {
	kind, err := collective.Parse(l.Cell("collective"))
	if err != nil {
		l.Fail("collective", "%v", err)
	}
	r := Row{Line: l.No, Collective: kind, ID: l.Cell("id"), System: l.Cell("system"), Algo: l.Cell("algo"), Proto: l.Cell("proto"),
		Launch: l.Cell("launch"), DType: l.Cell("dtype"), NCCLVersion: l.Cell("nccl_version"), Columns: slices.Clone(l.cells),
		Size: l.Size("size_bytes"), Replayed: l.Cell("p95_us") != ""}
	if l.Cell("size_bytes") == "" {
		r.Unusable = "the file does not give its size"
	}
	l.ranks(&r)
	l.time(&r)
	return r
}

// ranks reads gpus, or gpus_per_node and nodes; where all are given they must agree.
func (l *Line) ranks(r *Row) {
	r.GPUs, r.GPUsPerNode, r.Nodes = l.Count("gpus"), l.Count("gpus_per_node"), l.Count("nodes")
	if r.GPUsPerNode == 0 {
		return
	}
	all := r.GPUsPerNode * max(r.Nodes, 1)
	switch {
	case r.GPUs == 0:
		r.GPUs = all
	case r.Nodes > 0 && r.GPUs != all:
		l.Fail("gpus", "%d does not agree with %d per node on %d nodes", r.GPUs, r.GPUsPerNode, r.Nodes)
	}
}

// time reads time_us, or derives it: t = size/algbw = size·factor/busbw with
// nccl-tests' factor of the collective.
func (l *Line) time(r *Row) {
	us := l.Number("time_us")
	if l.Cell("time_us") == "" {
		us = l.derived(r)
	}
	if us > maxTimeUS {
		l.Fail("time_us", "%v is more than eleven days", us)
		us = 0
	}
	r.Time = units.Time(math.Round(us * 1e6)) // a measurement is no bound: to the nearest
	if r.Time == 0 && r.Unusable == "" {
		r.Unusable = "no time was measured"
	}
}

func (l *Line) derived(r *Row) float64 {
	if r.Size == 0 {
		return 0
	}
	if bw := l.Number("algbw_GBps"); bw > 0 {
		return l.bandwidth(r, "algbw_GBps", bw, 1)
	}
	if r.GPUs == 0 {
		return 0
	}
	if bw := l.Number("busbw_GBps"); bw > 0 {
		return l.bandwidth(r, "busbw_GBps", bw, r.Collective.BusFactor(r.GPUs))
	}
	return 0
}

// roughest is how much of a bandwidth its last digit may leave open for the time to count as measured.
const roughest = 0.1

// bandwidth is the time in µs by a column's bandwidth of factor times the bytes; 0 where rounding alone may be off by more than the
// roughest, so that it says nothing: 0.01 GB/s is anything from 0.005 to 0.015.
func (l *Line) bandwidth(r *Row, column string, gbps, factor float64) float64 {
	_, decimals, _ := strings.Cut(l.Cell(column), ".")
	if rounding := math.Pow10(-len(decimals)) / 2 / gbps; rounding > roughest {
		r.Unusable = cmp.Or(r.Unusable, fmt.Sprintf("the time is known to ±%.0f %% only: %s is printed as %s", 100*rounding, column,
			l.Cell(column)))
		return 0
	}
	r.Derived = column
	return float64(r.Size) / gbps / 1e3 * factor
}
