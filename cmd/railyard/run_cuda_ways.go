package main

import (
	"cmp"

	"railyard/exec/cuda"
	"railyard/model/block"
	"railyard/model/collective"
	"railyard/model/schedule"
	"railyard/planner"
	"railyard/study"
)

// execution is a schedule with how it runs.
type execution struct {
	schedule *schedule.Schedule
	how      cuda.Method
}

// others are the ways that costs choose from where neither the user nor a measurement says how a row runs: what is
// planned, pushed where it is pulled; and where their costs are known, what words and copy engines can run.
func (g *gpuFlags) others(p *planned, row *study.Row, how cuda.Method) (out []execution) {
	if g.staged() {
		if !g.planned && len(g.measured(p)) > 1 { // a plan that was given, by either engine
			how.Proxied = !how.Proxied
			out = append(out, execution{row.Schedule, how})
		}
		return out
	}
	if g.given && g.Mechanism == "" {
		return g.flagged(p, row, how)
	}
	if _, measured := g.choose(p.Question.Spec(), row.Size); measured || g.fixed || g.Mechanism != "" {
		return nil
	}
	for _, way := range how.Ways(g.inPlace)[1:] {
		out = append(out, execution{row.Schedule, way})
	}
	return append(append(out, g.words(p, row)...), copies(p)...)
}

// flagged are the ways of a plan that was given, whose flags travel apart from its data as far as it says: in packets and lines, whose
// costs are known, too.
func (g *gpuFlags) flagged(p *planned, row *study.Row, how cuda.Method) (out []execution) {
	if how.Mechanism.Flagged() {
		return nil // the plan says how they travel
	}
	for _, protocol := range []schedule.Protocol{schedule.LL, schedule.LL128} {
		if !p.Question.Costs().Curved(string(protocol)) {
			continue
		}
		as := *row.Schedule
		as.Protocol = protocol
		way := cuda.MethodFor(&as)
		way.Specialise = how.Specialise
		way = way.Fitted(row.Schedule, int64(row.Size), g.node.Multiprocessors())
		out = append(out, execution{row.Schedule, g.shaped(way)})
	}
	return out
}

// words are the ways of reductions in words, which carry floating-point numbers: by the algorithms that tune tries them with, as what
// they cost was measured of these (study/tuning/variants.go).
func (g *gpuFlags) words(p *planned, row *study.Row) (out []execution) {
	if g.dtype == collective.Int32 || !p.Question.Spec().Kind.Reduces() || !p.Question.Costs().Curved(string(schedule.Words)) {
		return nil
	}
	for _, algorithm := range []string{"direct", "two_shot", "simple_ring"} {
		s, err := planner.Build(p.Question.Topology(), p.Question.Spec(), algorithm, planner.Options{Protocol: schedule.Words})
		if err != nil {
			continue // it does not apply
		}
		for _, m := range []block.Mechanism{block.Words, block.WordsPush} {
			how := cuda.MethodFor(s)
			how.Mechanism, how.Specialise = m, g.Specialise
			out = append(out, execution{s, how.Fitted(s, int64(row.Size), g.node.Multiprocessors())})
		}
	}
	return out
}

// copies are the ways of copy engines, which run phases of direct messages. Of two phases, each rank sums up its part alone, whose cost is
// not known apart.
func copies(p *planned) (out []execution) {
	how := cuda.Method{Mechanism: block.Copies, Blocks: 64, Threads: 512, Streams: 1}
	if !p.Question.Costs().Curved(string(how.Mechanism.Protocol())) {
		return nil
	}
	for _, slices := range []int{1, 2, 4} {
		o := planner.Options{Slices: slices, Protocol: how.Mechanism.Protocol()}
		s, err := planner.Build(p.Question.Topology(), p.Question.Spec(), "two_shot", o)
		if planner.NotApplicable(err) {
			s, err = planner.Build(p.Question.Topology(), p.Question.Spec(), "direct", o)
		}
		if err == nil {
			out = append(out, execution{s, how})
		}
	}
	return out
}

// method is how to run a row.
func (g *gpuFlags) method(row study.Row) cuda.Method {
	how := cuda.MethodFor(row.Schedule)
	if c, ok := g.choose(row.Schedule.Spec, row.Size); ok && !g.fixed {
		how = c.Method
	}
	if g.Mechanism != "" {
		was := how.Mechanism.Flagged()
		how.Mechanism, _ = block.ParseMechanism(g.Mechanism) // check has seen it
		if was && !how.Mechanism.Flagged() {
			how.Blocks, how.Threads, how.Streams = 64, 512, 1
		}
	}
	if g.staged() { // blocks of stages depend on what is in each
		how.Blocks, how.Threads = 0, cmp.Or(how.Threads, 512)
	} else {
		how = how.Fitted(row.Schedule, int64(row.Size), g.node.Multiprocessors())
	}
	how = g.shaped(how)
	how.Proxied = g.staged() && (g.Engine == string(schedule.Proxied) || row.Schedule.Protocol == schedule.Proxied)
	how.Specialise = g.Specialise && how.Mechanism != block.Copies
	return how
}

// shaped has the blocks and threads that the user chose.
func (g *gpuFlags) shaped(how cuda.Method) cuda.Method {
	how.Blocks, how.Threads = cmp.Or(g.Blocks, how.Blocks), cmp.Or(g.Threads, how.Threads)
	return how
}
