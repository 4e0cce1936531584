// Package kernels predicts what railyard's own kernels take for a schedule on GPUs, and says what fits need
// to know of such runs.
package kernels

import (
	"slices"

	"railyard/exec/cuda"
	"railyard/model/block"
	"railyard/model/cost"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/report/fit"
	"railyard/sim"
	"railyard/sim/blocks"
	"railyard/study/measured"
)

// Predict is the time of a schedule as GPUs run it, its protocol being that of the
// method: where copy engines move the data what the schedule says, else what the programs
// of the blocks do. Slower is how much of it is lost since data are not aligned to 16 bytes.
func Predict(t *topology.Topology, s *schedule.Schedule, how cuda.Method, d Data, p *cost.Profile) (took, slower units.Time, err error) {
	if how.Mechanism == block.Copies {
		r, err := sim.Run(t, sumsApart(s), d.Size, p, sim.Options{})
		return r.Time + p.Transfer(measured.Medium(t), string(s.Protocol), 0).Launch, 0, err
	}
	w, err := workOf(t, s, how, d, p)
	return w.Time(p), w.Slower(), err
}

// Misaligned is what a schedule of the planner's takes where GPUs run it, by the faster way where it is pulled or pushed, and how much of
// that is lost since data are not aligned to 16 bytes; 0 where all are, or where GPUs do not run it.
func Misaligned(t *topology.Topology, s *schedule.Schedule, d Data, p *cost.Profile) (took, slower units.Time, err error) {
	for _, how := range cuda.MethodFor(s).Ways(false) {
		program, err := compiled(s, how, d)
		if err != nil || !slices.ContainsFunc(program.Lanes, func(lanes []block.Lane) bool { return block.Unaligned(lanes...) }) {
			return 0, 0, nil
		}
		as := *s
		as.Protocol = how.Mechanism.Protocol()
		all, lost, err := Predict(t, &as, how, d, p)
		if err != nil {
			return 0, 0, err
		}
		if took == 0 || all < took {
			took, slower = all, lost
		}
	}
	return took, slower, nil
}

func compiled(s *schedule.Schedule, how cuda.Method, d Data) (*block.Program, error) {
	return block.Compile(s, block.Options{Count: max(int64(d.Size)/int64(d.Element), 1), Size: d.Element, Instances: 1,
		Mechanism: how.Mechanism, InPlace: d.InPlace})
}

// Data is how large a collective is, the bytes of an element, and whether input and output are the same memory.
type Data struct {
	Size    units.Bytes
	Element int
	InPlace bool
}

// Floats are data of four bytes an element, in two buffers.
func Floats(size units.Bytes) Data { return Data{Size: size, Element: 4} }

// sumsApart gives what kernels sum up behind copies phases of its own: copy engines go on with the next slice meanwhile.
func sumsApart(s *schedule.Schedule) *schedule.Schedule {
	x := schedule.NewExpander(s)
	out := *s
	out.Channels = slices.Clone(s.Channels)
	for c := range out.Channels {
		ch := &out.Channels[c]
		ch.Phases, ch.Trees, ch.Kinds = nil, nil, nil
		for p, ph := range s.Channels[c].Phases {
			moves := schedule.Phase{Gen: schedule.GenOps, Op: ph.Op, Src: ph.Src, Acc: ph.Acc, Dst: ph.Dst,
				Ops: make([]schedule.Program, s.Spec.Ranks)}
			sums := moves
			moves.Apart = ph.Apart
			sums.Ops = make([]schedule.Program, s.Spec.Ranks)
			for r := range s.Spec.Ranks {
				for _, op := range x.AppendProgram(nil, c, p, r) {
					to := &moves
					if op.Kind == schedule.Reduce {
						to = &sums
					}
					to.Ops[r] = append(to.Ops[r], op)
				}
			}
			if ch.Phases = append(ch.Phases, moves); slices.ContainsFunc(sums.Ops, notEmpty) {
				ch.Phases = append(ch.Phases, sums)
			}
		}
	}
	return &out
}

func notEmpty(ops schedule.Program) bool { return len(ops) > 0 }

// workOf is what blocks have to do for a schedule.
func workOf(t *topology.Topology, s *schedule.Schedule, how cuda.Method, d Data, costs *cost.Profile) (blocks.Work, error) {
	return Work(t, s, how, d, blocks.Window(how.Blocks, how.Threads, costs.Window), costs)
}

// Work is workOf where blocks read so many bytes before they pass any on.
func Work(t *topology.Topology, s *schedule.Schedule, how cuda.Method, d Data, window units.Bytes,
	costs *cost.Profile) (blocks.Work, error) {
	program, err := compiled(s, how, d)
	if err != nil {
		return nil, err
	}
	return blocks.Of(t, s, program, d.Size, blocks.Shape{Threads: how.Blocks * how.Threads, Window: window, Element: d.Element}, costs)
}

// Case says what a schedule that took some time has to do as GPUs run it.
func Case(t *topology.Topology, s *schedule.Schedule, how cuda.Method, size units.Bytes, took units.Time,
	costs *cost.Profile) (fit.Case, error) {
	c := fit.Case{Launched: true, Size: size, Time: took}
	if how.Mechanism == block.Copies {
		f, err := measured.Features(t, s, size, took)
		c.Apart = true // kernels before the copies and behind them
		c.Parts = []fit.Part{{Medium: f.Medium, Protocol: f.Protocol, Bytes: f.Message, Messages: f.Messages, Line: f.Line}}
		return c, err
	}
	w, err := workOf(t, s, how, Floats(size), costs)
	for _, x := range w {
		if x.Local != 0 { // known, not fitted
			c.Time -= x.Local
			continue
		}
		c.Parts = append(c.Parts, fit.Part{Medium: x.Medium, Protocol: x.Protocol, Bytes: x.Bytes, Messages: x.Messages, Peers: x.Peers,
			Line: x.Line})
	}
	return c, err
}
