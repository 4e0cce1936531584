// Package kernels predicts what railyard's own kernels take for a schedule on GPUs, and says what fits need
// to know of such runs.
package kernels

import (
	"fmt"
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
	"railyard/study/score"
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

// Misaligned is what a schedule of the planner's takes longer where GPUs run it, by the faster way where it is pulled or pushed, since data
// are not aligned to 16 bytes; 0 where all are, or where GPUs do not run it.
func Misaligned(t *topology.Topology, s *schedule.Schedule, d Data, p *cost.Profile) (slower units.Time, err error) {
	if block.BlocksAligned(s, d.options(block.Pull)) {
		return 0, nil
	}
	took, ways := units.MaxTime, cuda.MethodFor(s).Ways(d.InPlace)
	for _, how := range ways {
		program, err := compiled(s, how, d)
		if err != nil {
			return 0, nil
		}
		if len(ways) == 1 {
			return blocks.Misaligned(t, program, blocks.Shape{Threads: how.Blocks * how.Threads, Element: d.Element}, p)
		}
		as := *s
		as.Protocol = how.Mechanism.Protocol()
		all, lost, err := Predict(t, &as, how, d, p)
		if err != nil {
			return 0, err
		}
		if all < took {
			took, slower = all, lost
		}
	}
	return slower, nil
}

// reportedLoss is the share of a time from which on what is lost to data off 16 bytes is said: predictions of such runs are as much
// off in the mean where nothing says what they lose (docs/evidence/execution-one-host.md, odd counts).
const reportedLoss = 0.07

// Told says what a plan loses since its places are not aligned to 16 bytes; nothing where that is within what predictions are off.
func Told(took, slower units.Time) []string {
	if float64(slower) <= reportedLoss*float64(took) {
		return nil
	}
	return []string{fmt.Sprintf("misaligned: ranks' parts do not begin at multiples of 16 bytes, which costs %v of %v (%.0f %%): "+
		"make each rank's part a multiple of 16 bytes, padded if need be", slower, took, 100*float64(slower)/float64(took))}
}

// Longer says what schedules take longer than simulated since their data are not aligned, of elements of so many bytes at a size: on the
// GPUs of one node whose accesses to memory were measured; nil elsewhere.
func Longer(t *topology.Topology, p *cost.Profile, element func(units.Bytes) int) score.Longer {
	if p.Access == nil || t.NumNodes() > 1 || t.NumRanks() > block.MaxRanks || t.Devices()[t.Ranks()[0]].Kind != topology.GPU {
		return nil
	}
	return func(s *schedule.Schedule, size units.Bytes, simulated units.Time) (units.Time, []string) {
		slower, err := Misaligned(t, s, Data{Size: size, Element: element(size)}, p)
		if err != nil {
			return 0, []string{fmt.Sprintf("what data off 16 bytes cost on GPUs is not known: %v", err)}
		}
		return slower, Told(simulated+slower, slower)
	}
}

func compiled(s *schedule.Schedule, how cuda.Method, d Data) (*block.Program, error) {
	return block.Compile(s, d.options(how.Mechanism))
}

// Data is how large a collective is, the bytes of an element, and whether input and output are the same memory.
type Data struct {
	Size    units.Bytes
	Element int
	InPlace bool
}

// options are those of their programs.
func (d Data) options(m block.Mechanism) block.Options {
	return block.Options{Count: max(int64(d.Size)/int64(d.Element), 1), Size: d.Element, Instances: 1, Mechanism: m, InPlace: d.InPlace}
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
