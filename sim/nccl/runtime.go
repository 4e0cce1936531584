package nccl

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"sync"

	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/topology"
	"railyard/model/units"
)

// Runtime predicts how long NCCL takes on real hardware: its own model chooses the
// algorithm and protocol, and what kernels cost is taken from a fitted profile.
type Runtime struct {
	model   *Model // nil for GPUs that NCCL does not run on
	why     error  // why it is nil
	profile *cost.Profile
	general *cost.Profile // of all hardware together, for what profile does not know
	rates   machineRates

	topo             *topology.Topology
	options          Options
	scaleUp, network float64 // shares of the rates that others leave
	ladders          *sync.Map
}

// Prediction is a time with what it is made of.
type Prediction struct {
	Algorithm string // ring, tree, nvls, nvls_tree, p2p
	Protocol  string // ll, ll128, simple
	Over      string // what it crosses (cost.KernelKey.Over)
	Time      units.Time
	Work      Work
	Fitted    bool       // by a kernel of the profile; else NCCL's own estimate
	Latency   units.Time // the part of Time that moves no bytes
	Own       units.Time // NCCL's own estimate for the same, 0 where it has none
	Slowest   string     // the largest part of Latency
	Floored   bool       // a launch floor hides what the kernel takes
	Basis     string     // where the kernel came from (cost.Bases)
	Warnings  []string
	least     units.Time // that no schedule beats
	bands     *cost.Profile
	ranks     int
	nodes     int
}

// Repeats is by which factor runs of one case differ, 9 of 10 (validation/README.md); RepeatsInNode where they stay in a node and
// bytes decide their time, from Bulk on: 142 runs of NCCL's collectives on two machines of two H200, of 64 MiB to 1 GiB, each started
// anew, are within 0.7 and 1.0 % of their median (docs/measured/h200-2/repeats.csv and tuner.csv).
const (
	Repeats       = 1.05
	RepeatsInNode = 1.01
	Bulk          = 64 * units.MiB
)

// RepeatsOf is by which factor runs over so many nodes differ, 9 of 10, and by how many runs of such machines that is known; 0: by runs of
// others.
func RepeatsOf(nodes int, size units.Bytes) (factor float64, runs int) {
	if nodes == 1 && size >= Bulk {
		return RepeatsInNode, 142
	}
	return Repeats, 0
}

// Band is what is normal: where 85 to 95 % of measured times lay on machines that the fit had not seen. It is that of
// repeats at least.
func (p *Prediction) Band() (low, high units.Time) {
	medium, e := cost.BandMedium(p.Over, p.nodes), Repeats
	if b := cmp.Or(p.bands.Band(medium, p.Basis, p.ranks), cost.GeneralNCCL().Band(medium, p.Basis, p.ranks)); b != nil {
		e = max(b.Factor(p.Work.Size), e)
	}
	return max(units.Time(float64(p.Time)/e), p.least), units.Time(float64(p.Time) * e)
}

// NewRuntime prepares predictions on a topology with a machine's kernels (nil: it has none), and
// general ones for those that it has not. GPUs
// that NCCL does not know (RCCL runs on them) are predicted from kernels alone.
func NewRuntime(t *topology.Topology, p, general *cost.Profile, o Options) (*Runtime, error) {
	r := &Runtime{profile: cmp.Or(p, general), general: general, topo: t, options: o, scaleUp: 1, network: 1,
		ladders: &sync.Map{}}
	m, err := New(t, o) // which may not know the GPUs
	if err == nil {
		own := *m // which others may have asked for as well
		own.profile = r.profile
		r.model = &own
	}
	var why Unsupported
	if err != nil && (o.CollNet == On || o.P2PLevel != "" || !errors.As(err, &why)) {
		return nil, err // what was asked for needs NCCL's model
	}
	r.why = err
	fabric, err := fabricOf(t, o.Fabric)
	if err != nil {
		return nil, err
	}
	if r.rates, err = ratesOf(t, fabric); err != nil {
		return nil, err
	}
	r.rates.links, r.rates.inside = r.rates.inside, r.inside()
	r.rates.over = r.rates.inside
	if r.rates.nodes > 1 {
		r.rates.over = fabric
		if r.rates.over == cost.Sockets {
			r.rates.bySenders(socketRate*float64(r.rates.ranks)/float64(r.rates.nodes), "threads that drive sockets")
		}
	}
	if r.model != nil {
		r.rates.inSwitch, r.rates.reducing = r.model.inSwitch(), r.model.collNet
		if n := r.model.nvls.n; n > 1 { // as many as channels were found: one for each adapter in use between nodes
			r.rates.heads = min(r.rates.heads, float64(n))
		}
	}
	return r, nil
}

// inSwitch is the share of its links' rate that NVLS reaches at best, by NCCL's model: what the generation's switches
// sustain. What a head has beside, which NCCL counts as a channel less, is part of the work.
func (m *Model) inSwitch() float64 {
	if gen := generations[generationOf(m.m.ccMin)]; gen.nvlsEfficiency > 0 && m.nvls.n > 1 {
		return gen.nvlsEfficiency
	}
	return 1
}

// With is the same with another profile, and another general one.
func (r *Runtime) With(p, general *cost.Profile) *Runtime {
	clone := *r
	clone.profile, clone.general, clone.ladders = p, general, &sync.Map{}
	return &clone
}

// Shared is the same where other collectives run at once, which leave these shares of the
// rates inside a scale-up domain and out of it; 1 and 1 change nothing.
func (r *Runtime) Shared(scaleUp, network float64) *Runtime {
	clone := *r
	clone.scaleUp, clone.network = r.scaleUp*scaleUp, r.network*network
	clone.rates.scaleUp *= scaleUp
	clone.rates.network *= network
	clone.rates.direct *= network
	return &clone
}

// Chooses reports whether NCCL's choice of algorithm and protocol is modelled here; it is
// not for GPUs that NCCL does not run on.
func (r *Runtime) Chooses() bool { return r.model != nil }

// Ask is a collective to predict. Algorithm and protocol as NCCL writes them; "" or
// "default" leaves the choice to NCCL.
type Ask struct {
	Kind                collective.Kind
	Algorithm, Protocol string
	Size                units.Bytes // as nccl-tests counts it
	Graph               bool        // captured in a CUDA graph
}

// Predict is the time of a collective. It does not fall as sizes grow.
func (r *Runtime) Predict(a Ask) (Prediction, error) {
	if Plain(a.Algorithm) == copyEngine {
		return r.byCopyEngine(a)
	}
	p, err := r.raw(a)
	if err != nil {
		return p, err
	}
	return r.climbed(a, p), nil
}

// raw is the time of what NCCL chooses for this size alone.
func (r *Runtime) raw(a Ask) (Prediction, error) {
	why := r.why
	for _, c := range r.choices(a) {
		p, err := r.one(a, c)
		if err == nil {
			return p, nil
		}
		why = err
	}
	what, none := a.Kind.String(), "NCCL has no cost model of it, and nothing was fitted on it"
	if a.Algorithm != "" || a.Protocol != "" {
		what = fmt.Sprintf("%v by %s/%s", a.Kind, orAny(a.Algorithm), orAny(a.Protocol))
		none = fmt.Sprintf("NCCL does not run it on %d ranks", r.rates.ranks)
	}
	return Prediction{}, unsupported("%s is not modelled here: %w", what, cmp.Or(why, unsupported("%s", none)))
}

// one predicts one way: by a kernel, as far as that can be trusted, and by the corrected estimate of the library.
func (r *Runtime) one(a Ask, c choice) (Prediction, error) {
	w, err := r.work(a, c)
	if err != nil {
		return Prediction{}, err
	}
	latency, time, by := r.estimate(a.Kind, c, &w)
	p := Prediction{Algorithm: c.algorithm, Protocol: c.protocol, Over: r.over(c), Work: w, Own: c.own,
		Basis: cost.OwnEstimate, bands: r.general, ranks: r.rates.ranks, nodes: r.topo.NumNodes(), Slowest: "NCCL's own estimate"}
	kernel, note := r.kernel(a, c)
	switch {
	case kernel != nil:
		l, t := r.spend(kernel, &w)
		trust := r.trust(a, c, kernel)
		latency, time = between(float64(l), latency, trust), between(float64(t), time, trust)
		p.Fitted, p.Basis = true, r.basis(a, c, kernel)
		p.Slowest = r.slowestPart(kernel, &w)
		p.Warnings = extrapolated(r.profile.Name, kernel, kernel.Beyond(a.Size))
	default:
		note = r.estimated(a.Kind, c, by)
	}
	p.Latency, p.Time = units.Time(latency), units.Time(time)
	switch {
	case r.profile.Kind == cost.Assumed:
		p.Warnings = append(p.Warnings, "assumed: "+r.profile.Source)
	case r.profile.Borrowed():
		p.Warnings = append(p.Warnings, fmt.Sprintf("extrapolated: profile %s has no measurements, its kernels are those of %s",
			r.profile.Name, r.profile.From))
	}
	if note != "" {
		p.Warnings = append(p.Warnings, note)
	}
	if staged := r.topo.StagedNICs(); staged != "" && cost.ReachesGPUs(r.rates.over) {
		p.Warnings = append(p.Warnings, staged)
	}
	p.Time = max(p.Time, r.least(&w, c.protocol))
	r.bounded(&p, a.Kind, a.Size)
	return p, nil
}

// spend is what a kernel takes for some work: the part without bytes, which is no less than
// the latencies of the links that its hops cross, and all of it.
func (r *Runtime) spend(k *cost.Kernel, w *Work) (latency, total units.Time) {
	l := float64(k.Base) + cost.Widened(w.Size)*float64(k.Wide) + w.insideNode()*float64(k.Hop) + w.overNetwork()*float64(k.NetHop)
	l = max(l+r.farther(w), w.Hops*float64(r.rates.hop)+w.NetHops*float64(r.rates.across))
	move := k.Moved(w.Chunk, w.Steps, w.Drains, w.Passes()) / w.Line * 1e12
	return units.Time(l), units.Time(l + move)
}

// least is the time that a protocol takes at best: what it puts on the wire at line rate,
// and across a network what the slots of all channels hold for each round trip.
func (r *Runtime) least(w *Work, protocol string) units.Time {
	x := r.profile.Protocol(protocol)
	if x == nil {
		return w.Least()
	}
	least := float64(w.Least()) / x.Efficiency
	if w.NetHops > 0 {
		buffer := x.Slots * int(x.Slot)
		if protocol == "simple" && r.options.Buffer > 0 {
			buffer = int(r.options.Buffer)
		}
		window := float64(r.filled()) * float64(buffer)
		least = max(least, w.Wire/window*2*float64(r.rates.flight))
	}
	return units.Time(least)
}

// slowestPart names the parameter of a kernel that most of its latency comes from, or this machine's links.
func (r *Runtime) slowestPart(k *cost.Kernel, w *Work) string {
	base := float64(k.Base) + cost.Widened(w.Size)*float64(k.Wide)
	hops, net := w.insideNode()*float64(k.Hop), w.overNetwork()*float64(k.NetHop)
	farther := r.farther(w)
	switch {
	case farther >= max(base, hops, net):
		return fmt.Sprintf("%v for links whose latencies are higher than those of the machines of the fit", units.Time(farther))
	case net >= base && net >= hops:
		return fmt.Sprintf("%s of %v over %s (net_hop)", counted(w.overNetwork(), "hop"), k.NetHop, k.Over)
	case hops >= base:
		return fmt.Sprintf("%s of %v inside nodes (hop)", counted(w.insideNode(), "hop"), k.Hop)
	}
	return fmt.Sprintf("%v for launch, first and last synchronisation (base)", units.Time(base))
}

// counted is units.Counted of the nearest whole number: means over ranks are not whole.
func counted(n float64, thing string) string { return units.Counted(int(math.Round(n)), thing) }

// extrapolated warns where a size lies outside what a kernel was fitted on.
func extrapolated(profile string, k *cost.Kernel, beyond float64) []string {
	if beyond > 1 {
		return []string{fmt.Sprintf("extrapolated: profile %s knows %s by %s/%s from %v to %v", profile, k.Collective, k.Algorithm,
			k.Protocol, k.MinSize, k.MaxSize)}
	}
	return nil
}
