package study

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/measurement"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/sim/nccl"
	"railyard/study/measured"
)

// Baseline is what the communication library takes for what a plan does; the zero Baseline where
// it does not run, or has no such collective.
type Baseline struct {
	Algorithm, Protocol string
	Time                units.Time
	Low, High           units.Time // the band of normal runs
	Model               units.Time // NCCL's own estimate; 0 where it has none
	Wire, Line          units.Rate // what each link of the group that limits it carries, of its line rate
	Limit               string     // what most of the time goes to
	Basis               Basis
	Measured            units.Time // the fastest shipped measurement of the same; 0 where there is none
	MeasuredIn          string     // its series
	Warnings            []string
}

// Runs reports whether the library runs the collective there.
func (b *Baseline) Runs() bool { return b.Time > 0 }

// Library is how the communication library is run; the zero Library leaves all to it.
type Library struct {
	Options             nccl.Options
	Algorithm, Protocol string     // as NCCL writes them; "": its choice
	Graph               bool       // captured in a CUDA graph
	Floor               units.Time // least time of a launch
}

// baselineRanks is the size of machines up to which the library is put beside plans: its search
// for channels takes seconds on larger ones.
const baselineRanks = 4096

// NCCL is the library on a topology: by the kernels of a machine, of the topology's where that has none or is nil.
func NCCL(t *topology.Topology, m *cost.Machine, o nccl.Options) (*nccl.Runtime, error) {
	p, err := kernelsOf(t, m)
	if err != nil {
		return nil, err
	}
	return nccl.NewRuntime(t, p, cost.GeneralNCCL(), o)
}

func kernelsOf(t *topology.Topology, m *cost.Machine) (*cost.Profile, error) {
	if m != nil && m.NCCL() != nil {
		return m.NCCL(), nil
	}
	own, err := cost.MachineFor(t)
	if err != nil {
		return nil, err
	}
	return own.NCCL(), nil
}

// HasGPUs tells machines of GPUs from hosts, whose ranks are threads and run no such library.
func HasGPUs(t *topology.Topology) bool { return t.Devices()[t.Ranks()[0]].Kind != topology.Thread }

// baseline is the library on a question's machine.
type baseline struct {
	ranks    int
	library  *Library
	profile  *cost.Profile // of its kernels
	runtime  *nccl.Runtime // nil where it does not run
	measured []measurement.Row
	network  string // whose network was measured, of which nothing says what NCCL takes; "": none
}

// baseline prepares it. Machines that NCCL cannot be modelled on have none.
func (q *Question) baseline() (*baseline, error) {
	t := q.asked.Topology
	b := &baseline{ranks: t.NumRanks(), library: &q.asked.Library}
	if !q.asked.Detail.Baseline || t.NumRanks() > baselineRanks || !HasGPUs(t) {
		return b, nil
	}
	if err := b.open(q); err != nil {
		return b, unlessUnsupported(err)
	}
	var err error
	if q.asked.Site.Shipped() != "" {
		b.measured, err = measuredOn(t, q.asked.Site)
	}
	return b, err
}

// unlessUnsupported is what else is wrong than that the library does not run there, or has no such collective.
func unlessUnsupported(err error) error {
	var not nccl.Unsupported
	var cut topology.Unreachable
	if errors.As(err, &not) || errors.As(err, &cut) {
		return nil
	}
	return err
}

// at is the library's side of a collective over all ranks; NCCL has none with counts.
func (b *baseline) at(spec collective.Spec, size units.Bytes) (Baseline, error) {
	if b.runtime == nil || spec.Counts != nil || spec.Ranks != b.ranks || size <= 0 {
		return Baseline{}, nil
	}
	out, err := b.predict(spec.Kind, size)
	if err != nil {
		return Baseline{}, unlessUnsupported(err)
	}
	for _, m := range b.measured {
		if m.Collective == spec.Kind && m.Size == size && (out.Measured == 0 || m.Time < out.Measured) {
			out.Measured, out.MeasuredIn = m.Time, m.ID
		}
	}
	return out, nil
}

// predict is what the library takes as it is run.
func (b *baseline) predict(kind collective.Kind, size units.Bytes) (Baseline, error) {
	l := b.library
	ask := nccl.Ask{Kind: kind, Algorithm: l.Algorithm, Protocol: l.Protocol, Size: size, Graph: l.Graph}
	x, err := b.runtime.PredictLaunched(ask, nccl.Launch{Floor: l.Floor})
	if err != nil {
		return Baseline{}, err
	}
	out := Baseline{Algorithm: x.Algorithm, Protocol: x.Protocol, Time: x.Time, Model: x.Own, Limit: limitOf(&x), Warnings: x.Warnings,
		Wire: units.Rate(x.Work.Wire / x.Time.Seconds()), Line: units.Rate(x.Work.Line)}
	out.Low, out.High = x.Band()
	out.Basis = b.basis(&x)
	return out, nil
}

// keepTo takes a time below what any schedule takes to that limit: kernels that were fitted on whole machines can be
// too fast on odd ones.
func (b *Baseline) keepTo(limit collective.Bound) {
	if !b.Runs() {
		return
	}
	if b.Time < limit.Time {
		b.Time, b.Basis.Kind = limit.Time, cost.Assumed
		b.Warnings = append(slices.Clone(b.Warnings), "NCCL's kernels were predicted faster than the limit: "+limit.Cut)
	}
	b.Low, b.High = max(b.Low, limit.Time), max(b.High, b.Time)
}

// basis is fitted kernels, of this machine or another one's, or NCCL's own estimate.
func (b *baseline) basis(p *nccl.Prediction) Basis {
	out := Basis{Kind: cost.Fitted, Source: "kernels of profile " + b.profile.Name, Beyond: extrapolated(p.Warnings)}
	switch {
	case !p.Fitted:
		out.Kind, out.Source = cost.Assumed, "NCCL's own estimate"
	case b.profile.Borrowed():
		out.Kind, out.Source = b.profile.Kind, fmt.Sprint(&b.profile.Origin)
	case b.network != "":
		out.Kind = cost.Assumed
		out.Source += " on the network that the topology describes; on the one of machine " + b.network + " NCCL was not measured"
	}
	return out
}

// limitOf says what most of the time goes to: the launch, the parameter of the kernel
// that moves no bytes, or the links that its bytes cross.
func limitOf(x *nccl.Prediction) string {
	switch {
	case x.Floored:
		return "launch: the run's launch floor hides the kernel"
	case 2*x.Latency > x.Time:
		return fmt.Sprintf("latency: %.0f%% of the time moves no bytes; most of it: %s", 100*x.Latency.Seconds()/x.Time.Seconds(),
			x.Slowest)
	}
	return x.Work.Limit
}

// open prepares the library on the question's machine.
func (b *baseline) open(q *Question) (err error) {
	if b.profile, err = kernelsOf(q.asked.Topology, q.asked.Machine); err != nil {
		return err
	}
	if m := q.asked.Machine; m != nil && q.asked.Topology.NumNodes() > 1 {
		own := m.Measured()
		if own != nil && own.Name != b.profile.Name && own.OriginOver(topology.Network).Kind == cost.Measured {
			b.network = own.Name
		}
	}
	b.runtime, err = nccl.NewRuntime(q.asked.Topology, b.profile, cost.GeneralNCCL(), q.asked.Library.Options)
	return err
}

// Expect is what the library should take for each size; the error says why it does not run.
func (q *Question) Expect() ([]Baseline, error) {
	if !HasGPUs(q.asked.Topology) {
		return nil, fmt.Errorf("%s has no GPUs, so that nccl-tests do not run there", q.asked.Topology.Name())
	}
	b := &baseline{library: &q.asked.Library}
	if err := b.open(q); err != nil {
		return nil, err
	}
	out := make([]Baseline, len(q.asked.Sizes))
	for i, size := range q.asked.Sizes {
		var err error
		if out[i], err = b.predict(q.spec.Kind, size); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// shipped are what others have measured, read once.
var shipped = sync.OnceValues(measured.ShippedFleet)

// measuredOn are the shipped measurements on this machine, unchanged, with as many nodes and with
// the library free to choose.
func measuredOn(t *topology.Topology, site Site) ([]measurement.Row, error) {
	if site.Shipped() == "" {
		return nil, nil
	}
	fleet, err := shipped()
	if err != nil {
		return nil, err
	}
	var out []measurement.Row
	for _, set := range fleet.Sets {
		for _, m := range set.Rows {
			if m.GPUs != t.NumRanks() || max(m.Nodes, 1) != t.NumNodes() || m.Time <= 0 || forced(m.Algo) || forced(m.Proto) {
				continue
			}
			s, err := fleet.Systems.Of(m.ID)
			if err == nil && s.Excluded == "" && s.Topology == site.Shipped() && len(s.Set) == 0 &&
				(!site.NoInNetwork || s.Options.NVLS == nccl.Off) {
				out = append(out, m)
			}
		}
	}
	return out, nil
}

// forced reports whether a run was told which algorithm or protocol to take.
func forced(name string) bool { return name != "" && name != "default" && name != "-" }

// Baseline is the library's side alone, for one size.
func (q *Question) Baseline(size units.Bytes) (Baseline, error) {
	b, err := q.baseline()
	if err != nil {
		return Baseline{}, err
	}
	return b.at(q.spec, size)
}
