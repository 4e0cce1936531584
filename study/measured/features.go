package measured

import (
	"fmt"
	"strings"

	"railyard/model/block"
	"railyard/model/cost"
	"railyard/model/measurement"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/report/fit"
	"railyard/sim"
)

// Features says what a measured case has to do; only cases whose algorithm and protocol
// are known can be fitted on.
func (c *Cases) Features(m measurement.Row) (fit.Features, error) {
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
	return Features(t, s, m.Size, m.Time)
}

// UnitLatency costs a microsecond a message and nothing else: its time counts messages.
var UnitLatency = &cost.Profile{Name: "unit", Curves: []cost.Curve{{Medium: "any", Protocol: "any",
	Segments: []cost.Segment{{Alpha: units.Microsecond}}}}}

// Features says what a schedule that took some time has to do.
func Features(t *topology.Topology, s *schedule.Schedule, size units.Bytes, took units.Time) (fit.Features, error) {
	moved := s
	if passesOn(s) {
		moved = inSlices(s)
	}
	line, err := sim.Run(t, moved, size, cost.Ideal, sim.Options{})
	if err != nil {
		return fit.Features{}, err
	}
	latency, err := sim.Run(t, s, size, UnitLatency, sim.Options{NoTransfer: true})
	if err != nil {
		return fit.Features{}, err
	}
	return fit.Features{Medium: Medium(t), Protocol: string(s.Protocol), Messages: latency.Time.Microseconds(), Line: line.Time,
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

// Medium is what the first ranks are joined by.
func Medium(t *topology.Topology) topology.Medium {
	route, err := topology.NewRouter(t).Route(0, min(1, t.NumRanks()-1))
	if err != nil {
		return topology.PCIe // degraded so far that nothing joins them
	}
	return route.Medium
}
