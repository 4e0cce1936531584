package nccl

import (
	"fmt"
	"slices"
	"strings"

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
}

// Prediction is a time with what it is made of.
type Prediction struct {
	Algorithm string // ring, tree, nvls, nvls_tree, p2p
	Protocol  string // ll, ll128, simple
	Time      units.Time
	Work      Work
	Fitted    bool       // by a kernel of the profile; else NCCL's own estimate
	Latency   units.Time // the part of Time that moves no bytes
	Own       units.Time // NCCL's own estimate for the same, 0 where it has none
	HeldOut   float64    // mean error of the kernel on measurements left out of its fit
	Warnings  []string
}

// ownError is NCCL's own model's mean error on the measurements in docs/validation.md.
const ownError = 0.25

// Band is what is normal: the prediction give or take twice its mean error, which is 5 %
// at least: runs of one case differ by that.
func (p *Prediction) Band() (low, high units.Time) {
	e := max(2*p.HeldOut, 0.05)
	return max(units.Time(float64(p.Time)/(1+e)), p.Work.Least()), units.Time(float64(p.Time) * (1 + e))
}

// NewRuntime prepares predictions on a topology with a profile that has kernels, and a
// general one for those that it has not. GPUs
// that NCCL does not know (RCCL runs on them) are predicted from kernels alone.
func NewRuntime(t *topology.Topology, p, general *cost.Profile, o Options) (*Runtime, error) {
	r := &Runtime{profile: p, general: general}
	nodes := t.NumNodes()
	m, err := New(t, o) // which may not know the GPUs
	if err == nil {
		r.model, nodes = m, m.Nodes()
	}
	r.why = err
	if r.rates, err = ratesOf(t, nodes); err != nil {
		return nil, err
	}
	if r.model != nil {
		r.rates.inSwitch = r.model.inSwitch()
	}
	return r, nil
}

// inSwitch is the share of its links' rate that NVLS reaches at best, by NCCL's model:
// what the generation's switches sustain, less a channel's head.
func (m *Model) inSwitch() float64 {
	gen, n := generations[generationOf(m.m.ccMin)], float64(m.nvls.n)
	if gen.nvlsEfficiency == 0 || n < 2 {
		return 1
	}
	return gen.nvlsEfficiency * (n - 1) / n
}

// General is the name of the profile that is fitted on all hardware together.
const General = "general"

// With is the same with another profile, and another general one.
func (r *Runtime) With(p, general *cost.Profile) *Runtime {
	clone := *r
	clone.profile, clone.general = p, general
	return &clone
}

// Shared is the same where other collectives run at once: inside a scale-up domain this
// share of the rates is left, and network is what can leave a domain, bytes/s (at most
// what it has alone).
func (r *Runtime) Shared(scaleUp, network float64) *Runtime {
	clone := *r
	clone.rates.scaleUp *= scaleUp
	clone.rates.exchange *= scaleUp
	clone.rates.network = min(clone.rates.network, network)
	return &clone
}

// Ask is a collective to predict. Algorithm and protocol as NCCL writes them; "" or
// "default" leaves the choice to NCCL.
type Ask struct {
	Kind                collective.Kind
	Algorithm, Protocol string
	Size                units.Bytes // as nccl-tests counts it
	Graph               bool        // captured in a CUDA graph
}

// Predict is the time of a collective.
func (r *Runtime) Predict(a Ask) (Prediction, error) {
	var best Prediction
	why := r.why
	for _, c := range r.choices(a) {
		p, err := r.one(a, c)
		if err != nil {
			why = err
			continue
		}
		if c.chosen {
			return p, nil
		}
		if best.Time == 0 || p.Time < best.Time {
			best = p
		}
	}
	if best.Time == 0 {
		if why == nil {
			why = fmt.Errorf("NCCL does not run it on %d ranks", r.rates.ranks)
		}
		return best, fmt.Errorf("%v by %s/%s is not modelled here: %w", a.Kind, orAny(a.Algorithm), orAny(a.Protocol), why)
	}
	return best, nil
}

func plain(name string) string {
	switch name = strings.ToLower(name); name {
	case "default", "-":
		return ""
	case "nvlstree":
		return "nvls_tree"
	}
	return name
}

func orAny(name string) string {
	if name == "" {
		return "any"
	}
	return name
}

// choice is a way to run a collective; chosen where NCCL's model picked it.
type choice struct {
	algorithm, protocol string
	chosen              bool
	own                 units.Time
}

// choices are what may run: NCCL's candidates that agree with what is asked for, its
// first choice first; for point-to-point collectives and foreign GPUs, all kernels of
// the profile that make the collective.
func (r *Runtime) choices(a Ask) []choice {
	algorithm, protocol := plain(a.Algorithm), plain(a.Protocol)
	if c, ok := r.pointToPoint(a); ok {
		return []choice{c}
	}
	var out []choice
	if r.model != nil {
		list, _ := r.model.Candidates(a.Kind, a.Size) // none: a collective without a cost model
		for _, e := range list {
			c := choice{plain(e.Algo.String()), plain(e.Proto.String()), false, e.Time}
			if (algorithm == "" || algorithm == c.algorithm) && (protocol == "" || protocol == c.protocol) {
				c.chosen = len(out) == 0
				out = append(out, c)
			}
		}
	}
	if len(out) > 0 {
		return out
	}
	for _, p := range []*cost.Profile{r.profile, r.general} {
		for _, kind := range append([]collective.Kind{a.Kind}, similar[a.Kind]...) {
			if out = fitted(p, kind, algorithm, protocol); len(out) > 0 {
				return out
			}
		}
	}
	return nil
}

// smallMessage is the message to a peer below which NCCL's point-to-point transfers take
// LL: measured times on H100 and B200 rise up to there and are flat from there on (series
// aic-*-alltoall-*); NCCL_P2P_LL_THRESHOLD, 16 KiB, is for each channel to a peer.
const smallMessage = 64 * units.KiB

// pointToPoint is the one way to make collectives of sends and receives.
func (r *Runtime) pointToPoint(a Ask) (choice, bool) {
	message := a.Size
	switch a.Kind {
	case collective.AllToAll, collective.AllToAllV:
		message /= units.Bytes(r.rates.ranks)
	case collective.SendRecv:
	default:
		return choice{}, false
	}
	if message < smallMessage {
		return choice{algorithm: "p2p", protocol: "ll"}, true
	}
	return choice{algorithm: "p2p", protocol: "simple"}, true
}

// fitted are the ways to make a collective that a profile has kernels for.
func fitted(p *cost.Profile, k collective.Kind, algorithm, protocol string) []choice {
	var out []choice
	for i := range p.Kernels {
		x := &p.Kernels[i]
		c := choice{algorithm: x.Algorithm, protocol: x.Protocol}
		if x.Collective == k.String() && (algorithm == "" || algorithm == x.Algorithm) && (protocol == "" || protocol == x.Protocol) && !slices.Contains(out, c) {
			out = append(out, c)
		}
	}
	return out
}

// one predicts one way.
func (r *Runtime) one(a Ask, c choice) (Prediction, error) {
	w, err := r.rates.work(a.Kind, c.algorithm, a.Size)
	if err != nil {
		return Prediction{}, err
	}
	p := Prediction{Algorithm: c.algorithm, Protocol: c.protocol, Work: w, Own: c.own}
	kernel, note := r.kernel(a, c)
	switch {
	case kernel != nil:
		p.Fitted, p.HeldOut = true, kernel.HeldOut
		p.Latency, p.Time = spend(kernel, &w)
		p.Warnings = beyond(r.profile.Name, kernel, a.Size)
	case c.own > 0:
		p.Time, p.HeldOut = c.own, ownError
		note = fmt.Sprintf("profile %s has no kernel for %v by %s/%s: NCCL's own estimate was used", r.profile.Name, a.Kind, c.algorithm, c.protocol)
	default:
		return p, fmt.Errorf("profile %s has no kernel for %v by %s/%s", r.profile.Name, a.Kind, c.algorithm, c.protocol)
	}
	if note != "" {
		p.Warnings = append(p.Warnings, note)
	}
	p.Time = max(p.Time, w.Least())
	return p, nil
}

// spend is what a kernel takes for some work: the part without bytes, and all of it.
func spend(k *cost.Kernel, w *Work) (latency, total units.Time) {
	l := float64(k.Base) + w.Hops*float64(k.Hop) + w.NetHops*float64(k.NetHop)
	move := k.Moved(w.Chunk, w.Steps, w.chain()) / w.Line * 1e12
	return units.Time(l), units.Time(l + move)
}

// beyond warns where a size lies outside what a kernel was fitted on.
func beyond(profile string, k *cost.Kernel, size units.Bytes) []string {
	if size < k.MinSize || size > k.MaxSize {
		return []string{fmt.Sprintf("extrapolated: profile %s knows %s by %s/%s from %v to %v", profile, k.Collective, k.Algorithm, k.Protocol, k.MinSize, k.MaxSize)}
	}
	return nil
}

// key is the kernel that a choice runs on this machine.
func (r *Runtime) key(k collective.Kind, c choice, graph bool) cost.KernelKey {
	return cost.KernelKey{Collective: k.String(), Algorithm: c.algorithm, Protocol: c.protocol,
		Pair: r.rates.ranks == 2 && c.algorithm == "tree", Network: r.rates.nodes > 1, Graph: graph}
}

// kernel is the profile's, or the nearest one that moves data in the same way, which is
// said in the note.
func (r *Runtime) kernel(a Ask, c choice) (*cost.Kernel, string) {
	for _, p := range []*cost.Profile{r.profile, r.general} {
		for _, key := range r.keys(a, c) {
			switch x := p.Kernel(key); {
			case x == nil:
			case key == r.key(a.Kind, c, a.Graph) && p == r.profile:
				return x, ""
			default:
				return x, fmt.Sprintf("profile %s has no kernel for %v by %s/%s on %d ranks: that of %s in profile %s was used",
					r.profile.Name, a.Kind, c.algorithm, c.protocol, r.rates.ranks, kernelName(key), p.Name)
			}
		}
	}
	return nil, ""
}

// keys are the kernel's key and those of kernels that move data in the same way: first
// launched otherwise, then of a tree's other form, then of other collectives.
func (r *Runtime) keys(a Ask, c choice) []cost.KernelKey {
	var out []cost.KernelKey
	for _, kind := range append([]collective.Kind{a.Kind}, similar[a.Kind]...) {
		for _, graph := range []bool{a.Graph, !a.Graph} {
			key := r.key(kind, c, graph)
			out = append(out, key)
			if c.algorithm == "tree" {
				key.Pair = !key.Pair
				out = append(out, key)
			}
		}
	}
	if c.algorithm == "p2p" && r.rates.nodes > 1 { // nobody has measured them across nodes
		for _, key := range slices.Clone(out) {
			key.Network = false
			out = append(out, key)
		}
	}
	return out
}

// kernelName says what is special about a kernel.
func kernelName(k cost.KernelKey) string {
	name := k.Collective
	if k.Pair {
		name += " of two ranks"
	}
	if k.Algorithm == "p2p" && !k.Network {
		name += " inside a node"
	}
	if k.Graph {
		return name + " in a CUDA graph"
	}
	return name
}

// similar are collectives whose kernels cost nearly the same a step.
var similar = map[collective.Kind][]collective.Kind{
	collective.AllGather:     {collective.ReduceScatter, collective.AllReduce},
	collective.ReduceScatter: {collective.AllGather, collective.AllReduce},
	collective.AllReduce:     {collective.ReduceScatter, collective.AllGather},
	collective.Broadcast:     {collective.Reduce},
	collective.Reduce:        {collective.Broadcast},
	collective.AllToAllV:     {collective.AllToAll},
	collective.SendRecv:      {collective.AllToAll},
}

// Case is a measured run as a fit sees it: the kernel that ran, its work, and NCCL's
// table for what a hop costs.
type Case struct {
	Key         cost.KernelKey
	Work        Work
	Hop, NetHop units.Time
}

// Case works out a measured run.
func (r *Runtime) Case(a Ask) (Case, error) {
	c := choice{algorithm: plain(a.Algorithm), protocol: plain(a.Protocol)}
	switch list := r.choices(a); {
	case len(list) > 0:
		c = list[0]
	case c.algorithm == "" || c.protocol == "":
		c = choice{algorithm: "ring", protocol: "simple"}
	}
	w, err := r.rates.work(a.Kind, c.algorithm, a.Size)
	hop, net := tableHops(c)
	return Case{r.key(a.Kind, c, a.Graph), w, hop, net}, err
}

// tableHops are NCCL's own constants for a hop over NVLink and over the network.
func tableHops(c choice) (hop, net units.Time) {
	a, p := Ring, Simple
	for i := range numAlgos {
		if plain(i.String()) == c.algorithm {
			a = i
		}
	}
	for i := range numProtos {
		if plain(i.String()) == c.protocol {
			p = i
		}
	}
	return units.FromMicroseconds(stepLatency[overNVLink][a][p]), units.FromMicroseconds(stepLatency[overNet][a][p])
}
