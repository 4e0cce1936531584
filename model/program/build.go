package program

import (
	"fmt"
	"slices"

	"railyard/model/schedule"
	"railyard/model/units"
)

// builder collects a program.
type builder struct {
	s        *schedule.Schedule
	x        *schedule.Expander
	p        *Program
	maxCount int
	width    []int // by channel: chunks of one of its sub-chunks
	offset   []int // by channel: where it starts in a block
}

func newBuilder(s *schedule.Schedule, maxCount int) (*builder, error) {
	n := s.Spec.Ranks
	b := &builder{s: s, x: schedule.NewExpander(s), maxCount: maxCount, p: &Program{Spec: s.Spec, Channels: len(s.Channels),
		Input: make([]int, n), Output: make([]int, n), Scratch: make([]int, n), Ranks: make([][]Step, n)}}
	return b, b.cut()
}

// cut finds the least number of equal chunks that every channel's pieces are whole
// numbers of.
func (b *builder) cut() error {
	var total int64
	for _, ch := range b.s.Channels {
		total += ch.Share
	}
	unit := int64(1)
	for _, ch := range b.s.Channels {
		den := total * int64(ch.Chunks/b.s.Spec.Blocks())
		unit = lcm(unit, den/units.GCD(ch.Share, den))
		if unit*int64(b.s.Spec.Blocks()) > maxChunks {
			return fmt.Errorf("the plan cuts the buffer into more than %d equal chunks: "+
				"plan with fewer --slices, fewer channels or equal shares", maxChunks)
		}
	}
	b.p.Unit = int(unit)
	at := 0
	for _, ch := range b.s.Channels {
		per := ch.Chunks / b.s.Spec.Blocks()
		width := int(unit * ch.Share / (total * int64(per)))
		b.width, b.offset = append(b.width, width), append(b.offset, at)
		at += width * per
	}
	return nil
}

func lcm(a, b int64) int64 { return a / units.GCD(a, b) * b }

// places are the chunks of a location, in its order.
func (b *builder) places(channel, rank int, l schedule.Loc) []Place {
	ch := &b.s.Channels[channel]
	blocks := b.s.Spec.Blocks()
	per := ch.Chunks / blocks
	var out []Place
	l.Set.Each(func(chunk int32) {
		copies, c := int(chunk)/ch.Chunks, int(chunk)%ch.Chunks
		block, sub := c/per, c%per
		if schedule.OnlyBlock(b.s.Spec, rank, l.Buf) >= 0 {
			block = 0
		}
		at := (copies*blocks+block)*b.p.Unit + b.offset[channel] + sub*b.width[channel]
		for i := range b.width[channel] {
			out = append(out, Place{l.Buf, at + i})
		}
	})
	return out
}

// wide is an operation of a channel with all of its chunks.
type wide struct {
	op       *schedule.Op
	phase    int
	src, dst []Place
	srcs     [][]Place
	match    *wide // the message's other end
}

// pair is a connection within a phase.
type pair struct{ src, dst, phase int }

// channel appends a channel's steps to every rank's.
func (b *builder) channel(c int) {
	ranks := make([][]*wide, b.s.Spec.Ranks)
	ends := [2]map[pair][]*wide{{}, {}}
	for r := range ranks {
		for p := range b.s.Channels[c].Phases {
			ops := b.x.AppendProgram(nil, c, p, r)
			for i := range ops {
				w := b.wide(c, p, r, &ops[i])
				ranks[r] = append(ranks[r], w)
				switch w.op.Kind {
				case schedule.Send:
					ends[0][pair{r, int(w.op.Peer), p}] = append(ends[0][pair{r, int(w.op.Peer), p}], w)
				case schedule.Recv, schedule.RecvReduce:
					ends[1][pair{int(w.op.Peer), r, p}] = append(ends[1][pair{int(w.op.Peer), r, p}], w)
				}
			}
		}
	}
	for key, sends := range ends[0] {
		for i, w := range sends {
			w.match = ends[1][key][i]
			w.match.match = w
		}
	}
	for r, list := range ranks {
		b.steps(c, r, list)
	}
}

func (b *builder) wide(c, phase, r int, op *schedule.Op) *wide {
	w := &wide{op: op, phase: phase}
	if op.Kind != schedule.Recv && op.Kind != schedule.Reduce {
		w.src = b.places(c, r, op.Src)
	}
	if op.Kind != schedule.Send {
		w.dst = b.places(c, r, op.Dst)
	}
	for _, l := range op.Srcs {
		w.srcs = append(w.srcs, b.places(c, r, l))
	}
	return w
}

// steps cuts a rank's operations into pieces of neighbouring chunks; the two ends of a
// message are cut alike.
func (b *builder) steps(c, r int, list []*wide) {
	seq := map[[2]int]int{} // by peer and direction
	for _, w := range list {
		lists := w.lists()
		if w.match != nil {
			lists = append(lists, w.match.lists()...)
		}
		Runs(lists, b.maxCount, func(from, n int) {
			st := Step{Kind: w.op.Kind, Channel: c, Phase: w.phase, Part: lists[0][from].At % b.p.Unit, Peer: int(w.op.Peer), Count: n}
			if w.src != nil {
				st.Src = w.src[from]
			}
			if w.dst != nil {
				st.Dst = w.dst[from]
			}
			for _, l := range w.srcs {
				st.Srcs = append(st.Srcs, l[from])
			}
			if w.match != nil {
				key := [2]int{st.Peer, int(min(st.Kind, schedule.Recv))}
				st.Seq = seq[key]
				seq[key]++
			}
			b.p.Ranks[r] = append(b.p.Ranks[r], st)
		})
	}
}

// lists are the places that an operation runs along.
func (w *wide) lists() [][]Place {
	out := slices.Clone(w.srcs)
	for _, l := range [][]Place{w.src, w.dst} {
		if l != nil {
			out = append(out, l)
		}
	}
	return out
}

// Runs visits maximal pieces, of at most limit places, in which all lists (of one
// length) run on place by place.
func Runs(lists [][]Place, limit int, visit func(from, n int)) {
	if len(lists) == 0 {
		return
	}
	total := len(lists[0])
	for from := 0; from < total; {
		n := 1
		for from+n < total && n < limit && runOn(lists, from, n) {
			n++
		}
		visit(from, n)
		from += n
	}
}

func runOn(lists [][]Place, from, n int) bool {
	for _, l := range lists {
		if l[from+n] != l[from].plus(n) {
			return false
		}
	}
	return true
}

// packScratch numbers each rank's scratch chunks anew, without holes.
func (b *builder) packScratch() {
	for r, steps := range b.p.Ranks {
		var used []int
		eachScratch(steps, func(p *Place, count int) {
			for i := range count {
				used = append(used, p.At+i)
			}
		})
		number, bound := pack(used, 1)
		b.p.Scratch[r] = bound
		eachScratch(steps, func(p *Place, _ int) { p.At = number(p.At) })
	}
}

// eachScratch visits the scratch places that steps use.
func eachScratch(steps []Step, visit func(p *Place, count int)) {
	for i := range steps {
		st := &steps[i]
		if st.Kind != schedule.Recv && st.Kind != schedule.Reduce && st.Src.Buf == schedule.Scratch {
			visit(&st.Src, st.Count)
		}
		for j := range st.Srcs {
			if st.Srcs[j].Buf == schedule.Scratch {
				visit(&st.Srcs[j], st.Count)
			}
		}
		if st.Writes() && st.Dst.Buf == schedule.Scratch {
			visit(&st.Dst, st.Count)
		}
	}
}
