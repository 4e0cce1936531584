package main

import (
	"math"
	"strconv"
	"strings"

	"railyard/exec/cuda"
	"railyard/model/block"
	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/measurement"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/planner"
	"railyard/study/kernels"
)

// relayed is a kernel of the probe in which all ranks but one read a part of that one's memory and
// pass it on: what it took, and what it should where all of a part is read before any is passed
// on, and where nothing is, in µs.
type relayed struct {
	part            units.Bytes
	threads         int // of all blocks
	took            float64
	apart, overlaps float64
}

// relayThreads reads a kind such as relay_t256_overlap: threads of a block.
func relayThreads(kind string) (int, bool) {
	text, ok := strings.CutPrefix(kind, "relay_t")
	text, overlap := strings.CutSuffix(text, "_overlap")
	n, err := strconv.Atoi(text)
	return n, ok && overlap && err == nil && n > 0
}

// fitWindow tells a profile what a thread reads before it passes any on, where rows say it. They are
// predicted as a broadcast that is dealt out and passed on; a machine that has none keeps what is
// believed of all.
func fitWindow(p *cost.Profile, rows []measurement.Link, t *topology.Topology) error {
	spec := collective.Spec{Kind: collective.Broadcast, Ranks: t.NumRanks()}
	if spec.Ranks < 3 || spec.Ranks > block.MaxRanks {
		return nil
	}
	s, err := planner.Build(t, spec, "scatter_exchange", planner.Options{Slices: 1})
	if err != nil {
		return nil
	}
	var all []relayed
	for _, l := range rows {
		threads, ok := relayThreads(l.Kind)
		if !ok {
			continue
		}
		r := relayed{part: l.Bytes, threads: threads * l.Blocks, took: l.Value}
		for window, to := range map[units.Bytes]*float64{0: &r.overlaps, l.Bytes: &r.apart} {
			whole := kernels.Floats(l.Bytes * units.Bytes(spec.Ranks-1))
			w, err := kernels.Work(t, s, cuda.Method{Mechanism: block.Push}, whole, window, p)
			if err != nil {
				return err
			}
			*to = w.Time(p).Microseconds()
		}
		all = append(all, r)
	}
	if len(all) > 0 {
		p.Window = bestWindow(all)
	}
	return nil
}

// within is what a relay takes where each thread reads so many bytes before it passes any on.
func (r *relayed) within(each units.Bytes) float64 {
	return r.overlaps + (r.apart-r.overlaps)*min(1, float64(each)*float64(r.threads)/float64(r.part))
}

// bestWindow has the least squares of relative errors, but for the same time that all rows are off
// by: how long flags take is not what they are to tell. A thread has at most eight accesses of 16
// bytes under way.
func bestWindow(all []relayed) (best units.Bytes) {
	least := math.Inf(1)
	for each := units.Bytes(1); each <= 8*16; each++ {
		var off, weight, squares float64
		for i := range all {
			w := 1 / all[i].took / all[i].took
			off, weight = off+w*(all[i].took-all[i].within(each)), weight+w
		}
		off /= weight
		for i := range all {
			e := (all[i].within(each)+off)/all[i].took - 1
			squares += e * e
		}
		if squares < least {
			best, least = each, squares
		}
	}
	return best
}
