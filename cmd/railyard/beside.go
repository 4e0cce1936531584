package main

import (
	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/measurement"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/report"
	"railyard/sim/nccl"
	"railyard/study/measured"
)

// besideRanks is the size of machines up to which the library is put beside schedules of
// ours: its search for channels takes seconds on larger ones.
const besideRanks = 4096

// beside says what the communication library would take for what a schedule of ours does.
type beside struct {
	source  string // of the topology, "" where it was changed
	topo    *topology.Topology
	runtime *nccl.Runtime // nil where the library does not run here
	sets    []*measurement.Set
	systems []measured.System
	forward bool // switches only forward, so that only what was measured without NVLS compares
}

// newBeside prepares it; kernels are the profile's, where it has some.
func newBeside(f *topoFlags, t *topology.Topology, p *cost.Profile) (*beside, error) {
	b := &beside{topo: t, forward: f.noInNetwork}
	if t.NumRanks() > besideRanks || f.name == hostTopology {
		return b, nil
	}
	if len(p.Kernels) == 0 {
		var err error
		if p, err = cost.Get(nccl.ProfileFor(t)); err != nil {
			return nil, err
		}
	}
	b.runtime, _ = nccl.NewRuntime(t, p, profileGeneral, nccl.Options{}) // none: nothing to put beside
	if len(f.set)+len(f.fail)+len(f.slow)+len(f.loads) > 0 {
		return b, nil
	}
	b.source = f.name
	var err error
	if b.systems, err = measured.Systems(); err == nil {
		b.sets, err = measured.Shipped()
	}
	return b, err
}

// row is the library's side of a collective over all ranks; NCCL has none with counts.
func (b *beside) row(spec collective.Spec, size units.Bytes) report.Library {
	var out report.Library
	if b.runtime == nil || spec.Counts != nil || spec.Ranks != b.topo.NumRanks() || size <= 0 {
		return out
	}
	x, err := b.runtime.Predict(nccl.Ask{Kind: spec.Kind, Size: size})
	if err != nil {
		return out
	}
	out.Way, out.TimeUS = x.Algorithm+"/"+x.Protocol, microseconds(x.Time)
	if x.Own > 0 {
		out.ModelUS = microseconds(x.Own)
	}
	if m := b.measured(spec.Kind, size); m != nil {
		out.MeasuredUS, out.MeasuredIn = microseconds(m.Time), m.ID
	}
	return out
}

func microseconds(t units.Time) *float64 {
	us := t.Microseconds()
	return &us
}

// measured is the fastest shipped measurement of the same on this machine, with as many
// nodes, unchanged and with the library free to choose.
func (b *beside) measured(kind collective.Kind, size units.Bytes) *measurement.Row {
	var best *measurement.Row
	for _, set := range b.sets {
		for i := range set.Rows {
			m := &set.Rows[i]
			if m.Collective != kind || m.Size != size || m.GPUs != b.topo.NumRanks() || max(m.Nodes, 1) != b.topo.NumNodes() || m.Time <= 0 {
				continue
			}
			if plainChoice(m.Algo) != "" || plainChoice(m.Proto) != "" || !b.sameMachine(m.ID) {
				continue
			}
			if best == nil || m.Time < best.Time {
				best = m
			}
		}
	}
	return best
}

// sameMachine reports whether a series was measured on this machine, unchanged.
func (b *beside) sameMachine(series string) bool {
	s, err := measured.SystemOf(b.systems, series)
	return err == nil && s.Excluded == "" && s.Topology == b.source && len(s.Set) == 0 && (!b.forward || s.Options.NVLS == nccl.Off)
}

// plainChoice is what was forced, "" where nothing was.
func plainChoice(name string) string {
	if name == "default" || name == "-" {
		return ""
	}
	return name
}
