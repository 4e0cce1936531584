package fit

import (
	"fmt"
	"slices"
	"strings"

	"railyard/model/measurement"
	"railyard/model/topology"
	"railyard/model/units"
)

// FromLinks fits a profile on what was measured about links, without any collective:
// rows such as simple_ring or ll_all (a message of Bytes to each peer of the pattern,
// the best number of blocks counts) give α and the share of the line rate, launch_graph
// the launch, local_add and local_copy the rates inside a GPU. t is the machine that
// was measured.
func FromLinks(name, source, date string, links []measurement.Link, t *topology.Topology) (*Result, error) {
	m := &linkModel{t: t, router: topology.NewRouter(t)}
	cases, err := m.cases(links)
	if err != nil {
		return nil, err
	}
	launch, ok := best(links, "launch_graph", func(a, b float64) bool { return a < b })
	if !ok {
		return nil, fmt.Errorf("there is no row launch_graph: what a launch costs is not known")
	}
	cases = append(cases, Features{Medium: cases[0].Medium, Protocol: cases[0].Protocol, Launched: true, Message: cases[0].Message, Size: cases[0].Size,
		Time: microseconds(launch)})
	r, err := Fit(name, source, date, cases)
	if err != nil {
		return nil, err
	}
	p := r.Profile
	p.Reduce, p.Copy = largest(links, "local_add"), largest(links, "local_copy")
	p.MinSize, p.MaxSize = 0, p.MaxSize*units.Bytes(t.NumRanks()) // of collectives, whose messages are a rank's share
	return r, nil
}

func microseconds(v float64) units.Time { return units.Time(v * float64(units.Microsecond)) }

// best is the value of a kind that is better than all others.
func best(links []measurement.Link, kind string, better func(a, b float64) bool) (v float64, ok bool) {
	for _, l := range links {
		if l.Kind == kind && (!ok || better(l.Value, v)) {
			v, ok = l.Value, true
		}
	}
	return v, ok
}

// largest is a rate in GB/s at the largest size of its kind, which no cache holds; 0
// where there is none.
func largest(links []measurement.Link, kind string) units.Rate {
	var rate units.Rate
	size := units.Bytes(-1)
	for _, l := range links {
		if l.Kind == kind && l.Bytes > size {
			rate, size = units.Rate(l.Value*1e9), l.Bytes
		}
	}
	return rate
}

// linkModel knows what messages of a pattern cost at line rate.
type linkModel struct {
	t      *topology.Topology
	router *topology.Router
}

// message is what rows are about that differ in blocks alone.
type message struct {
	protocol, pattern string
	bytes             units.Bytes
}

// cases takes the best number of blocks of each message.
func (m *linkModel) cases(links []measurement.Link) ([]Features, error) {
	times := map[message]float64{}
	var order []message
	for _, l := range links {
		protocol, pattern, ok := strings.Cut(l.Kind, "_")
		if !ok || protocol != "simple" && protocol != "ll" || l.Unit != "us" {
			continue
		}
		k := message{protocol, pattern, l.Bytes}
		if v, known := times[k]; !known {
			order = append(order, k)
			times[k] = l.Value
		} else {
			times[k] = min(v, l.Value)
		}
	}
	if len(order) == 0 {
		return nil, fmt.Errorf("there are no rows of messages, such as simple_pair or ll_all")
	}
	var out []Features
	for _, k := range order {
		perByte, medium, err := m.line(k.pattern)
		if err != nil {
			return nil, err
		}
		out = append(out, Features{Medium: medium, Protocol: k.protocol, Messages: 1, Line: units.Time(perByte * float64(k.bytes)), Message: k.bytes,
			Size: k.bytes, Time: microseconds(times[k])})
	}
	return out, nil
}

// line is the time at line rate of a byte to each peer, in picoseconds: that of the
// fullest link.
func (m *linkModel) line(pattern string) (perByte float64, medium topology.Medium, err error) {
	flows, err := m.flows(pattern)
	if err != nil {
		return 0, 0, err
	}
	load := make([]float64, len(m.t.Links()))
	for _, f := range flows {
		r, err := m.router.Route(f[0], f[1])
		if err != nil {
			return 0, 0, err
		}
		medium = r.Medium
		for _, h := range r.Hops {
			load[h.Link] += float64(h.Num) / float64(h.Den) * 1e12 / float64(m.t.Rate(h.Link))
		}
	}
	return slices.Max(load), medium, nil
}

// flows are the pairs of ranks that send at once.
func (m *linkModel) flows(pattern string) ([][2]int, error) {
	n := m.t.NumRanks()
	if n < 2 {
		return nil, fmt.Errorf("%s has %d rank: messages need two", m.t.Name(), n)
	}
	var out [][2]int
	for a := range n {
		for b := range n {
			switch {
			case a == b:
			case pattern == "pair" && a < 2 && b < 2, pattern == "ring" && b == (a+1)%n, pattern == "all":
				out = append(out, [2]int{a, b})
			}
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("messages of the pattern %q are not known: pair, ring or all", pattern)
	}
	return out, nil
}
