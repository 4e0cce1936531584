package main

import (
	"fmt"
	"strings"

	"railyard/model/block"
	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/measurement"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/planner"
	"railyard/report"
	"railyard/report/fit"
	"railyard/sim"
	"railyard/sim/nccl"
)

// ncclAlgorithms maps the algorithm names of NCCL to ours, for the collectives that it
// makes in that way.
func ncclAlgorithms(kind collective.Kind, algo string) ([]string, error) {
	all := []string{"simple_ring"}
	switch kind {
	case collective.AllReduce:
		all = []string{"double_binary_tree", "simple_ring"}
	case collective.AllToAll, collective.AllToAllV, collective.Gather, collective.Scatter, collective.SendRecv, collective.Barrier:
		all = []string{"direct"}
	}
	switch strings.ToLower(algo) {
	case "", "default", "-":
		return all, nil
	case "ring":
		return []string{"simple_ring"}, nil
	case "tree":
		return []string{"double_binary_tree"}, nil
	}
	for _, a := range planner.Algorithms() {
		if a.Name == strings.ToLower(algo) {
			return []string{a.Name}, nil
		}
	}
	return nil, fmt.Errorf("algorithm %s is not modelled", algo)
}

// ncclProtocols maps the protocol names; default is all that the profile knows.
func ncclProtocols(p *cost.Profile, proto string) ([]schedule.Protocol, error) {
	switch name := strings.ToLower(proto); name {
	case "", "default", "-":
		var out []schedule.Protocol
		for _, n := range p.Protocols() {
			out = append(out, schedule.Protocol(n))
		}
		return out, nil
	case "simple", "ll", "ll128":
		return []schedule.Protocol{schedule.Protocol(name)}, nil
	}
	return nil, fmt.Errorf("protocol %s is not modelled", proto)
}

// caseKey is what a schedule for a measured case depends on.
type caseKey struct {
	nodes, gpus int
	kind        collective.Kind
	algo        string
	proto       schedule.Protocol
	slices      int
}

// cases predicts measured cases on one topology with any number of GPUs, keeping what
// it has built.
type cases struct {
	flags   topoFlags
	profile *cost.Profile
	topos   map[[2]int]*topology.Topology
	plans   map[caseKey]*sim.Plan

	general  *cost.Profile // for what profile does not know of the library's kernels
	options  nccl.Options
	runtimes map[[2]int]*nccl.Runtime
	floors   map[runKey]units.Time
}

func newCases(f topoFlags, p *cost.Profile) *cases {
	return &cases{flags: f, profile: p, general: profileGeneral, topos: map[[2]int]*topology.Topology{}, plans: map[caseKey]*sim.Plan{}, runtimes: map[[2]int]*nccl.Runtime{}}
}

// topology is the topology with a row's number of GPUs and nodes.
func (c *cases) topology(m measurement.Row) (*topology.Topology, error) {
	key := [2]int{m.Nodes, m.GPUs}
	if t, ok := c.topos[key]; ok {
		return t, nil
	}
	f := c.flags
	if f.nodes > 0 && m.Nodes > 0 && f.nodes != m.Nodes {
		return nil, fmt.Errorf("--nodes %d, but this was measured on %d: leave --nodes out", f.nodes, m.Nodes)
	}
	if f.gpus > 0 && m.GPUs > 0 && f.gpus*max(m.Nodes, f.nodes, 1) != m.GPUs {
		return nil, fmt.Errorf("--gpus %d of a node, but this was measured on %d GPUs: leave --gpus out", f.gpus, m.GPUs)
	}
	if m.Nodes > 0 {
		f.nodes = m.Nodes
	}
	if m.GPUs > 0 {
		f.gpus = m.GPUs / max(m.Nodes, 1)
	}
	t, err := f.load()
	if err != nil {
		return nil, err
	}
	if m.GPUs > 0 && t.NumRanks() != m.GPUs {
		return nil, fmt.Errorf("%d GPUs were measured, %s has %d: say which of it with --nodes and --gpus", m.GPUs, t.Name(), t.NumRanks())
	}
	c.topos[key] = t
	return t, nil
}

// compiled is the simulator's plan for a case.
func (c *cases) compiled(m measurement.Row, algo string, proto schedule.Protocol, profile *cost.Profile, cache map[caseKey]*sim.Plan) (*sim.Plan, *schedule.Schedule, error) {
	t, err := c.topology(m)
	if err != nil {
		return nil, nil, err
	}
	s, err := c.schedule(t, m, algo, proto)
	if err != nil {
		return nil, nil, err
	}
	key := caseKey{m.Nodes, m.GPUs, m.Collective, algo, proto, s.Channels[0].Slices}
	if p, ok := cache[key]; ok {
		return p, s, nil
	}
	p, err := sim.Compile(t, s, profile)
	if err == nil {
		cache[key] = p
	}
	return p, s, err
}

// schedule is what NCCL runs, as far as our algorithms express it: pipelined ones in
// pieces of a slot of the Simple protocol.
func (c *cases) schedule(t *topology.Topology, m measurement.Row, algo string, proto schedule.Protocol) (*schedule.Schedule, error) {
	spec := collective.Spec{Kind: m.Collective, Ranks: t.NumRanks()}
	if spec.Kind == collective.AllToAllV {
		spec.Counts = uniformCounts(spec.Ranks)
	}
	slices := 1
	if algo == "double_binary_tree" || spec.Kind == collective.Broadcast || spec.Kind == collective.Reduce {
		slices = int(min(max(m.Size/2/c.profile.Protocol("simple").Slot, 1), 64))
	}
	return planner.Build(t, spec, algo, planner.Options{Protocol: proto, Slices: slices})
}

// predict is what the library's kernels take, where the profile has them; else the
// fastest schedule of ours that does what it may have chosen.
func (c *cases) predict(m measurement.Row) (report.Predicted, error) {
	if len(c.profile.Kernels) > 0 {
		return c.predictLibrary(m)
	}
	algos, err := ncclAlgorithms(m.Collective, m.Algo)
	if err != nil {
		return report.Predicted{}, err
	}
	protos, err := ncclProtocols(c.profile, m.Proto)
	if err != nil {
		return report.Predicted{}, err
	}
	var best report.Predicted
	var last error
	for _, a := range algos {
		for _, p := range protos {
			plan, s, err := c.compiled(m, a, p, c.profile, c.plans)
			if err != nil {
				last = err
				continue
			}
			t, err := plan.Time(m.Size)
			if err != nil {
				return report.Predicted{}, err
			}
			if best.Time == 0 || t < best.Time {
				best = report.Predicted{Time: t, Schedule: planner.Name(s), Warnings: c.profile.Warnings(m.Size)}
			}
		}
	}
	if best.Time == 0 {
		return best, last
	}
	return best, nil
}

// unitLatency costs a microsecond a message and nothing else: its time counts messages.
var unitLatency = &cost.Profile{Name: "unit", Curves: []cost.Curve{{Medium: "any", Protocol: "any", Segments: []cost.Segment{{Alpha: units.Microsecond}}}}}

// features says what a measured case has to do; only cases whose algorithm and protocol
// are known can be fitted on.
func (c *cases) features(m measurement.Row) (fit.Features, error) {
	algos, err := ncclAlgorithms(m.Collective, m.Algo)
	if err != nil {
		return fit.Features{}, err
	}
	proto := schedule.Protocol(strings.ToLower(m.Proto))
	if len(algos) != 1 || proto != schedule.Simple && proto != schedule.LL && proto != schedule.LL128 {
		return fit.Features{}, fmt.Errorf("algorithm %s/%s: which one ran is not known", m.Algo, m.Proto)
	}
	t, err := c.topology(m)
	if err != nil {
		return fit.Features{}, err
	}
	s, err := c.schedule(t, m, algos[0], proto)
	if err != nil {
		return fit.Features{}, err
	}
	return scheduleFeatures(t, s, m.Size, m.Time)
}

// scheduleFeatures says what a schedule that took some time has to do.
func scheduleFeatures(t *topology.Topology, s *schedule.Schedule, size units.Bytes, took units.Time) (fit.Features, error) {
	moved := s
	if passesOn(s) {
		moved = inSlices(s)
	}
	line, err := sim.Run(t, moved, size, profileIdeal, sim.Options{})
	if err != nil {
		return fit.Features{}, err
	}
	latency, err := sim.Run(t, s, size, unitLatency, sim.Options{NoTransfer: true})
	if err != nil {
		return fit.Features{}, err
	}
	return fit.Features{Medium: medium(t), Protocol: string(s.Protocol), Messages: latency.Time.Microseconds(), Line: line.Time,
		Message: s.ChunkBytes(0, size), Launched: true, Size: size, Time: took}, nil
}

// inSlices is the schedule in so many slices that its phases run side by side, as they do
// where ranks pass on what they receive while it arrives.
func inSlices(s *schedule.Schedule) *schedule.Schedule {
	const slices = 64
	out := *s
	out.Channels = append([]schedule.Channel(nil), s.Channels...)
	for c := range out.Channels {
		out.Channels[c].Slices = slices
	}
	return &out
}

func passesOn(s *schedule.Schedule) bool {
	return s.Protocol == schedule.Simple && block.PassesOn(s)
}

// medium is what the first ranks are joined by.
func medium(t *topology.Topology) topology.Medium {
	route, err := topology.NewRouter(t).Route(0, min(1, t.NumRanks()-1))
	if err != nil {
		panic(err) // a schedule has been played there
	}
	return route.Medium
}

// Built-in profiles.
var profileIdeal, profileGeneral = builtIn("ideal"), builtIn(nccl.General)

func builtIn(name string) *cost.Profile {
	p, err := cost.Get(name)
	if err != nil {
		panic(err) // part of the program
	}
	return p
}
