package search

import (
	"cmp"
	"fmt"
	"slices"

	"railyard/capacity/step"
	"railyard/model/units"
	"railyard/model/workload"
)

// Space says which layouts are looked at. A number of 0 is free; the layouts are those of
// all values that divide what they have to. Tags name the flags of commands that fix a part of it.
type Space struct {
	Data        int                `flag:"fix dp,lo=1"`
	Tensor      int                `flag:"fix tp,lo=1"`
	Pipeline    int                `flag:"fix pp,lo=1"`
	Context     int                `flag:"fix cp,lo=1"`
	Expert      int                `flag:"fix ep,lo=1"`
	Virtual     int                `flag:"fix vpp,lo=1"`
	Zero        int                `flag:"fix zero,default=-1,lo=0,hi=3"` // −1: free
	MicroBatch  int                `flag:"fix micro-batch,lo=1"`
	GlobalBatch int                `flag:"fix global-batch,lo=1"`
	Recompute   workload.Recompute `flag:"fix recompute,one=none|selective|full"` // "": free
	Sequence    *bool
	Order       []workload.Axis // nil: free
	Base        step.Layout     // what is not searched: bucket, compression
	Narrow      bool            // powers of two and the default order only
}

// String says all that a space depends on.
func (s Space) String() string {
	sequence := "free"
	if s.Sequence != nil {
		sequence = fmt.Sprint(*s.Sequence)
	}
	type plain Space
	s.Sequence = nil
	return fmt.Sprintf("%+v|%s", plain(s), sequence)
}

// maxVirtual and maxMicroBatch bound what is tried: more chunks or larger micro-batches
// than these have not been published.
const (
	maxVirtual    = 12
	maxMicroBatch = 16
	maxExpert     = 256
	maxContext    = 64
)

// Orders are the placements that are tried: which axis is closest together.
var orders = [][]workload.Axis{
	step.DefaultOrder,
	{workload.Tensor, workload.Data, workload.Context, workload.Pipeline},
	{workload.Tensor, workload.Context, workload.Pipeline, workload.Data},
	{workload.Tensor, workload.Pipeline, workload.Context, workload.Data},
	{workload.Data, workload.Tensor, workload.Context, workload.Pipeline},
	{workload.Pipeline, workload.Tensor, workload.Context, workload.Data},
}

// values are the divisors of n up to most, or the given one.
func (s *Space) values(fixed, n, most int) []int {
	if fixed > 0 {
		return []int{fixed}
	}
	var out []int
	for d := 1; d <= min(n, most); d++ {
		if n%d == 0 && (!s.Narrow || d&(d-1) == 0) {
			out = append(out, d)
		}
	}
	return out
}

// Layouts are all layouts of a workload on so many GPUs that pass Layout.Check, in a
// fixed order, no two of which place ranks alike.
func (s *Space) Layouts(w *workload.Workload, ranks int) []step.Layout {
	return s.of(w, ranks, s.batch(w, ranks))
}

// batch is the global batch of all layouts, so that they compare: the one asked for, else the workload's own, else, where no layout in
// powers of two has that, a near one that all replicas divide.
func (s *Space) batch(w *workload.Workload, ranks int) int {
	narrow := *s
	narrow.Narrow = true
	if s.GlobalBatch > 0 || len(narrow.of(w, ranks, w.GlobalBatch)) > 0 {
		return cmp.Or(s.GlobalBatch, w.GlobalBatch)
	}
	return s.nearest(w.GlobalBatch, ranks)
}

// nearest is the multiple nearest to a batch of as many replicas as it gives a sample each, of all GPUs or a power of two less; and of
// larger micro-batches, where none is asked for and as far as these move it by no more than a part in moves.
func (s *Space) nearest(batch, ranks int) int {
	const moves = 32
	unit := ranks
	for unit > batch && unit%2 == 0 {
		unit /= 2
	}
	unit = cmp.Or(s.Data, unit) * max(s.MicroBatch, 1)
	for micro := 1; s.MicroBatch == 0 && 2*micro <= maxMicroBatch && unit <= batch/moves; micro *= 2 {
		unit *= 2
	}
	return max((batch+unit/2)/unit, 1) * unit
}

// Changed says that a layout found here has another global batch than its workload, which was not asked for; nil where it has not.
func (s *Space) Changed(w *workload.Workload, l *step.Layout) []string {
	if s.GlobalBatch > 0 || l.GlobalBatch == w.GlobalBatch {
		return nil
	}
	return []string{fmt.Sprintf("global batch %d instead of %d, which no layout in powers of two has (--fix global-batch takes another)",
		l.GlobalBatch, w.GlobalBatch)}
}

// of are the layouts with a global batch.
func (s *Space) of(w *workload.Workload, ranks, batch int) []step.Layout {
	var out []step.Layout
	heads, context, experts := 1, 1, 1
	if m := w.Transformer; m != nil {
		heads, experts = m.Heads, max(m.Experts, 1)
		context = min(max(m.Sequence/2048, 1), maxContext) // shorter pieces leave attention too little work
	}
	for _, tp := range s.values(s.Tensor, units.GCD(heads, ranks), heads) {
		for _, cp := range s.values(s.Context, units.GCD(context, ranks), context) {
			for _, pp := range s.values(s.Pipeline, ranks/max(tp*cp, 1), w.Layers()) {
				dp := ranks / (tp * cp * pp)
				if dp*tp*cp*pp != ranks || s.Data > 0 && s.Data != dp {
					continue
				}
				for _, ep := range s.values(s.Expert, units.GCD(experts, tp*cp*dp), maxExpert) {
					out = s.schedules(out, w, step.Layout{Data: dp, Tensor: tp, Context: cp, Pipeline: pp, Expert: ep,
						GlobalBatch: batch}, ranks)
				}
			}
		}
	}
	return out
}

// schedules appends the layouts of one division of the ranks.
func (s *Space) schedules(out []step.Layout, w *workload.Workload, l step.Layout, ranks int) []step.Layout {
	l.Bucket, l.Compress = s.Base.Bucket, s.Base.Compress
	for _, l.MicroBatch = range s.values(s.MicroBatch, l.GlobalBatch/l.Data, maxMicroBatch) {
		for _, l.Virtual = range s.virtual(w, &l) {
			for _, l.Zero = range s.zero(&l) {
				for _, l.Sequence = range s.sequence(w, &l) {
					for _, l.Recompute = range s.recompute(w) {
						for _, l.Order = range s.orders(&l) {
							if l.Check(w, ranks) == nil {
								out = append(out, l)
							}
						}
					}
				}
			}
		}
	}
	return out
}

func (s *Space) virtual(w *workload.Workload, l *step.Layout) []int {
	if s.Virtual > 0 || l.Pipeline == 1 {
		return []int{max(s.Virtual, 1)}
	}
	var out []int
	perStage := (w.Layers() + l.Pipeline - 1) / l.Pipeline
	for v := 1; v <= min(perStage, maxVirtual); v++ {
		if perStage%v == 0 {
			out = append(out, v)
		}
	}
	return out
}

func (s *Space) zero(l *step.Layout) []int {
	switch {
	case s.Zero >= 0:
		return []int{s.Zero}
	case l.Data*l.Context == 1:
		return []int{0}
	case l.Pipeline > 1:
		return []int{0, 1}
	}
	return []int{0, 1, 2, 3}
}

func (s *Space) sequence(w *workload.Workload, l *step.Layout) []bool {
	switch {
	case s.Sequence != nil:
		return []bool{*s.Sequence && l.Tensor > 1}
	case l.Tensor == 1:
		return []bool{false}
	case s.Narrow || w.Transformer != nil && w.Transformer.Experts > 0:
		return []bool{true}
	}
	return []bool{true, false}
}

func (s *Space) recompute(w *workload.Workload) []workload.Recompute {
	switch {
	case s.Recompute != "":
		return []workload.Recompute{s.Recompute}
	case w.Transformer == nil || w.Transformer.Fused:
		return []workload.Recompute{workload.NoRecompute, workload.FullRecompute}
	}
	return []workload.Recompute{workload.NoRecompute, workload.SelectiveRecompute, workload.FullRecompute}
}

// orders are placements that differ once axes of one rank are left out.
func (s *Space) orders(l *step.Layout) [][]workload.Axis {
	if s.Order != nil {
		return [][]workload.Axis{s.Order}
	}
	if s.Narrow {
		return orders[:1]
	}
	size := map[workload.Axis]int{workload.Data: l.Data, workload.Tensor: l.Tensor, workload.Context: l.Context,
		workload.Pipeline: l.Pipeline}
	var out [][]workload.Axis
	seen := map[string]bool{}
	for _, o := range orders {
		key := fmt.Sprint(slices.DeleteFunc(slices.Clone(o), func(a workload.Axis) bool { return size[a] == 1 }))
		if !seen[key] {
			seen[key] = true
			out = append(out, o)
		}
	}
	return out
}
