package measurement

import (
	"math"
	"slices"
	"strconv"

	"railyard/model/collective"
	"railyard/model/units"
)

const (
	maxGPUs   = 1 << 22 // more than any cluster that can be loaded
	maxTimeUS = 1e12    // eleven days
)

// measurement reads the current line.
func (p *csvReader) measurement() Row {
	if len(p.row) != len(p.set.Header) {
		p.fail("row", "%d cells for %d columns", len(p.row), len(p.set.Header))
		return Row{}
	}
	kind, err := collective.Parse(p.cell("collective"))
	if err != nil {
		p.fail("collective", "%v", err)
	}
	r := Row{Line: p.line, Collective: kind, ID: p.cell("id"), System: p.cell("system"), Algo: p.cell("algo"), Proto: p.cell("proto"),
		Launch: p.cell("launch"), DType: p.cell("dtype"), NCCLVersion: p.cell("nccl_version"), Columns: slices.Clone(p.row)}
	p.size(&r)
	p.ranks(&r)
	p.time(&r)
	return r
}

func (p *csvReader) size(r *Row) {
	text := p.cell("size_bytes")
	if text == "" {
		r.Unusable = "the file does not give its size"
		return
	}
	size, err := units.ParseBytes(text)
	if err != nil || size < 0 {
		p.fail("size_bytes", "%q is not a number of bytes", text)
	}
	r.Size = size
}

// ranks reads gpus, or gpus_per_node and nodes; where all are given they must agree.
func (p *csvReader) ranks(r *Row) {
	r.GPUs, r.GPUsPerNode, r.Nodes = p.count("gpus"), p.count("gpus_per_node"), p.count("nodes")
	if r.GPUsPerNode == 0 {
		return
	}
	all := r.GPUsPerNode * max(r.Nodes, 1)
	switch {
	case r.GPUs == 0:
		r.GPUs = all
	case r.Nodes > 0 && r.GPUs != all:
		p.fail("gpus", "%d does not agree with %d per node on %d nodes", r.GPUs, r.GPUsPerNode, r.Nodes)
	}
}

// count reads a number of things: 1 or more, 0 where the cell is empty.
func (p *csvReader) count(column string) int {
	text := p.cell(column)
	if text == "" {
		return 0
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > maxGPUs {
		p.fail(column, "%q is not a whole number from 1 to %d", text, maxGPUs)
		return 0
	}
	return n
}

// number reads a number that is not negative; ok is false where the cell is empty.
func (p *csvReader) number(column string) (v float64, ok bool) {
	text := p.cell(column)
	if text == "" {
		return 0, false
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || v < 0 || math.IsInf(v, 0) || math.IsNaN(v) {
		p.fail(column, "%q is not a number of zero or more", text)
		return 0, false
	}
	return v, true
}

// time reads time_us, or derives it: t = size/algbw = size·factor/busbw with
// nccl-tests' factor of the collective.
func (p *csvReader) time(r *Row) {
	us, given := p.number("time_us")
	if !given {
		us = p.derived(r)
	}
	if us > maxTimeUS {
		p.fail("time_us", "%v is more than eleven days", us)
		us = 0
	}
	if us == 0 && r.Unusable == "" {
		r.Unusable = "no time was measured"
	}
	r.Time = units.Time(math.Round(us * 1e6)) // a measurement is no bound: to the nearest
}

func (p *csvReader) derived(r *Row) float64 {
	if r.Size == 0 {
		return 0
	}
	if bw, _ := p.number("algbw_GBps"); bw > 0 {
		r.Derived = "algbw_GBps"
		return float64(r.Size) / bw / 1e3
	}
	if r.GPUs == 0 {
		return 0
	}
	if bw, _ := p.number("busbw_GBps"); bw > 0 {
		r.Derived = "busbw_GBps"
		return float64(r.Size) / bw / 1e3 * r.Collective.BusFactor(r.GPUs)
	}
	return 0
}
