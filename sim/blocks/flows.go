package blocks

import (
	"cmp"
	"slices"

	"railyard/model/block"
	"railyard/model/cost"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/model/units"
)

// flow is bytes that an operation moves between two ranks.
type flow struct {
	from, to int
	bytes    units.Bytes
	protocol string
}

// bytes is what an operation of a lane handles in a slice.
func bytes(l *block.Lane, op *block.Op, slice int) units.Bytes {
	return units.Bytes(max(0, min(l.Unit, op.Limit-int64(slice)*l.Stride)))
}

// flows are what an operation moves over links: it loads from peers' memory, stores there,
// and puts packets. Words that are passed on go as fast as what is stored: taking them hides
// behind sending what they become, and so it does where other threads take than put. Only else do
// they take what the words of the probe do, which are put and then taken.
func (m *machine) flows(rank int, op *block.Op, n units.Bytes) (out []flow) {
	for _, s := range op.Sources {
		if s.Rank != rank {
			out = append(out, flow{s.Rank, rank, n, string(schedule.Pulled)})
		}
	}
	for _, d := range op.Destinations {
		if d.Rank != rank {
			out = append(out, flow{rank, d.Rank, n, string(schedule.Simple)})
		}
	}
	for _, d := range op.PacketTargets {
		protocol := packetProtocol(op.Kind)
		if protocol == string(schedule.Words) && m.between[packet(d.Rank, d, 0)] {
			protocol = string(schedule.Simple)
		}
		out = append(out, flow{rank, d.Rank, n, protocol})
	}
	return out
}

// packetProtocol is the protocol of an operation's packets; "" where it has none.
func packetProtocol(k block.Kind) string {
	if m, ok := k.Mechanism(); ok {
		return string(m.Protocol())
	}
	return ""
}

// load is what crosses a link, by protocol.
type load struct {
	data  float64 // ps at line rate
	parts Work
}

func (l *load) add(medium topology.Medium, protocol string, bytes units.Bytes, ps float64) {
	i := slices.IndexFunc(l.parts, func(p Part) bool { return p.Protocol == protocol && p.Medium == medium })
	if i < 0 {
		i = len(l.parts)
		l.parts = append(l.parts, Part{Medium: medium, Protocol: protocol})
	}
	l.parts[i].Bytes = max(l.parts[i].Bytes, bytes)
	l.parts[i].Line += units.Time(ps)
}

// across adds flows up by link. What is loaded is asked for, which takes room the other way.
func (m *machine) across(list []flow, loads []load) error {
	for i := range list {
		f := &list[i]
		r, err := m.route(f.from, f.to)
		if err != nil {
			return err
		}
		sent, err := m.sent(f.from, f.to, f.protocol, 0)
		if err != nil {
			return err
		}
		for _, h := range r.Hops {
			ps := m.ps(h, f.bytes)
			loads[h.Link].data += ps
			loads[h.Link].add(r.Medium, sent.Protocol, f.bytes, ps)
		}
		if f.protocol != string(schedule.Pulled) || !m.costs.Covers(r.Medium, cost.Request) {
			continue
		}
		if r, err = m.route(f.to, f.from); err != nil {
			return err
		}
		for _, h := range r.Hops {
			loads[h.Link].add(r.Medium, cost.Request, 0, cost.RequestShare*m.ps(h, f.bytes))
		}
	}
	return nil
}

// ps is what bytes take at line rate on a hop.
func (m *machine) ps(h topology.Hop, n units.Bytes) float64 {
	return float64(n) * float64(h.Num) / float64(h.Den) * 1e12 / float64(m.t.Rate(h.Link))
}

// busiest is the load of the link that takes longest, and the most data of any link at line rate.
func (m *machine) busiest() (longest Work, data float64, err error) {
	loads := make([]load, len(m.t.Links()))
	m.each(func(r int, l *block.Lane, op *block.Op) {
		for s := range max(l.Slices, 1) {
			err = cmp.Or(err, m.across(m.flows(r, op, bytes(l, op, s)), loads))
		}
	})
	for i := range loads {
		data = max(data, loads[i].data)
	}
	return m.longestOf(loads), data, err
}

// longestOf is the load that takes longest.
func (m *machine) longestOf(loads []load) Work {
	return slices.MaxFunc(loads, func(a, b load) int { return cmp.Compare(a.parts.time(m.costs), b.parts.time(m.costs)) }).parts
}

// slowest is what flows take on the link that takes longest.
func (m *machine) slowest(list []flow) (Work, error) {
	loads := make([]load, len(m.t.Links()))
	err := m.across(list, loads)
	return m.longestOf(loads), err
}
