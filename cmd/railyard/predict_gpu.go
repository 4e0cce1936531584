package main

import (
	"railyard/exec/cuda"
	"railyard/model/block"
	"railyard/model/cost"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/sim"
)

// protocolOf is the protocol whose costs a way to run a schedule has.
func protocolOf(how cuda.Method) schedule.Protocol {
	switch {
	case how.Copies:
		return schedule.CopyEngine
	case how.Mechanism == block.Packets:
		return schedule.LL
	case how.Mechanism == block.Lines:
		return schedule.LL128
	case how.Mechanism.InWords():
		return schedule.Words
	case how.Mechanism == block.Pull:
		return schedule.Pulled
	}
	return schedule.Simple
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

// predictRun is the time of a schedule as GPUs run it, its protocol being that of the
// method. Where ranks pass on what they receive, messages cost what they do in the
// schedule, but bytes move in all phases at once.
func predictRun(t *topology.Topology, s *schedule.Schedule, size units.Bytes, p *cost.Profile) (units.Time, error) {
	if !passesOn(s) {
		r, err := sim.Run(t, s, size, p, sim.Options{})
		return r.Time, err
	}
	latency, err := sim.Run(t, s, size, p, sim.Options{NoTransfer: true})
	if err != nil {
		return 0, err
	}
	flow, err := sim.Run(t, inSlices(s), size, onlyRates(t, s, size, p), sim.Options{})
	if err != nil {
		return 0, err
	}
	return latency.Time + flow.Time, nil
}

// onlyRates is a profile in which the schedule's messages cost no α and have the rate of
// their whole size.
func onlyRates(t *topology.Topology, s *schedule.Schedule, size units.Bytes, p *cost.Profile) *cost.Profile {
	out := &cost.Profile{Name: p.Name, Reduce: p.Reduce, Copy: p.Copy}
	seen := map[topology.Medium]bool{}
	router := topology.NewRouter(t)
	for to := 1; to < t.NumRanks(); to++ {
		route, err := router.Route(0, to)
		if err != nil || seen[route.Medium] {
			continue
		}
		seen[route.Medium] = true
		x := p.Transfer(route.Medium, string(s.Protocol), s.ChunkBytes(0, size))
		out.Curves = append(out.Curves, cost.Curve{Medium: route.Medium.String(), Protocol: "any", Segments: []cost.Segment{{Rate: x.Cap, Efficiency: x.Efficiency}}})
	}
	return out
}
