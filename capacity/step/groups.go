package step

import (
	"slices"
	"strconv"

	"railyard/model/units"
	"railyard/model/workload"
)

// dim is one direction in which ranks are counted.
type dim struct{ stride, size int }

// Family are all groups of ranks that make one kind of collective at the same time:
// the ranks that differ along its dimensions form a group.
type Family struct {
	Axis   workload.Axis
	Size   int    // ranks of a group
	dims   []dim  // innermost first
	others []dim  // what tells groups apart
	key    string // tells families with different ranks apart
}

// families are the groups of a layout.
type families struct {
	tensor, context, expert, pipeline Family
	data                              Family // replicas of dense parameters: data × context
	expertData                        Family // replicas of experts
	ends                              Family // first and last pipeline stage
}

// of are the groups of an axis on which blocks communicate.
func (f *families) of(a workload.Axis) *Family {
	switch a {
	case workload.Tensor:
		return &f.tensor
	case workload.Context:
		return &f.context
	case workload.Expert:
		return &f.expert
	}
	return &f.data
}

// dimsOf are the directions of some axes in the layout's order.
func (l *Layout) dimsOf(want func(workload.Axis) bool) (in, out []dim) {
	stride := 1
	for _, a := range l.Order {
		if n := l.size(a); n > 1 {
			if want(a) {
				in = append(in, dim{stride, n})
			} else {
				out = append(out, dim{stride, n})
			}
			stride *= n
		}
	}
	return in, out
}

func newFamily(axis workload.Axis, in, out []dim) Family {
	f := Family{Axis: axis, Size: 1, dims: in, others: out}
	for _, d := range in {
		f.Size *= d.size
	}
	f.key = string(appendDims(append(appendDims(make([]byte, 0, 64), in), '/'), out))
	return f
}

func appendDims(key []byte, dims []dim) []byte {
	for _, d := range dims {
		key = strconv.AppendInt(append(strconv.AppendInt(key, int64(d.stride), 10), '.'), int64(d.size), 10)
		key = append(key, ' ')
	}
	return key
}

func (l *Layout) family(name workload.Axis, axes ...workload.Axis) Family {
	in, out := l.dimsOf(func(a workload.Axis) bool { return slices.Contains(axes, a) })
	return newFamily(name, in, out)
}

func (l *Layout) families() families {
	f := families{
		tensor:   l.family(workload.Tensor, workload.Tensor),
		context:  l.family(workload.Context, workload.Context),
		pipeline: l.family(workload.Pipeline, workload.Pipeline),
		data:     l.family(workload.Data, workload.Data, workload.Context),
	}
	f.expert, f.expertData = l.expertFamilies()
	f.ends = l.ends()
	return f
}

// ends are pairs of ranks, one of the first pipeline stage and one of the last.
func (l *Layout) ends() Family {
	in, out := l.dimsOf(func(a workload.Axis) bool { return a == workload.Pipeline })
	if len(in) > 0 {
		in = []dim{{in[0].stride * (l.Pipeline - 1), 2}}
	}
	return newFamily(workload.Pipeline, in, out)
}

// expertFamilies split the block of tensor, context and data axes: the innermost Expert
// ranks of it hold different experts, the others copies.
func (l *Layout) expertFamilies() (expert, copies Family) {
	block, out := l.dimsOf(func(a workload.Axis) bool { return a != workload.Pipeline })
	in, rest := innermost(block, l.Expert)
	expert = newFamily(workload.Expert, in, append(append([]dim(nil), rest...), out...))
	copies = newFamily(workload.Data, rest, append(append([]dim(nil), in...), out...))
	return expert, copies
}

// innermost splits directions into those of the first n ranks and the rest.
func innermost(dims []dim, n int) (in, rest []dim) {
	for _, d := range dims {
		g := units.GCD(n, d.size)
		if g > 1 {
			in = append(in, dim{d.stride, g})
		}
		if d.size > g {
			rest = append(rest, dim{d.stride * g, d.size / g})
		}
		n /= g
	}
	return in, rest
}

// each visits the offsets that dims make, innermost first.
func each(dims []dim, visit func(offset int)) {
	if len(dims) == 0 {
		visit(0)
		return
	}
	last := dims[len(dims)-1]
	for i := range last.size {
		each(dims[:len(dims)-1], func(offset int) { visit(offset + i*last.stride) })
	}
}

// Groups visits the groups, members ascending along the dimensions. The slice is reused.
func (f *Family) Groups(visit func(ranks []int)) {
	ranks := make([]int, 0, f.Size)
	each(f.others, func(base int) {
		ranks = ranks[:0]
		each(f.dims, func(offset int) { ranks = append(ranks, base+offset) })
		visit(ranks)
	})
}
