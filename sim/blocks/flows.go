package blocks

import (
	"cmp"
	"slices"

	"railyard/model/block"
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
// and puts packets.
func flows(rank int, op *block.Op, n units.Bytes) (out []flow) {
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
		out = append(out, flow{rank, d.Rank, n, packetProtocol(op.Kind)})
	}
	return out
}

// packetProtocol is the protocol of an operation's packets; "" where it has none.
func packetProtocol(k block.Kind) string {
	switch k {
	case block.LLPut, block.LLReduce:
		return string(schedule.LL)
	case block.LinePut, block.LineReduce:
		return string(schedule.LL128)
	case block.WordPut, block.WordReduce:
		return string(schedule.Words)
	}
	return ""
}

// load is what crosses a link, by protocol.
type load struct {
	total float64 // ps at line rate
	parts Work
}

func (l *load) add(medium topology.Medium, f *flow, ps float64) {
	l.total += ps
	i := slices.IndexFunc(l.parts, func(p Part) bool { return p.Protocol == f.protocol && p.Medium == medium })
	if i < 0 {
		i = len(l.parts)
		l.parts = append(l.parts, Part{Medium: medium, Protocol: f.protocol})
	}
	l.parts[i].Bytes = max(l.parts[i].Bytes, f.bytes)
	l.parts[i].Line += units.Time(ps)
}

// across adds flows up by link.
func (m *machine) across(list []flow, loads []load) error {
	for i := range list {
		r, err := m.route(list[i].from, list[i].to)
		if err != nil {
			return err
		}
		for _, h := range r.Hops {
			ps := float64(list[i].bytes) * float64(h.Num) / float64(h.Den) * 1e12 / float64(m.t.Rate(h.Link))
			loads[h.Link].add(r.Medium, &list[i], ps)
		}
	}
	return nil
}

// fullest is the load of the fullest link.
func (m *machine) fullest() (load, error) {
	loads := make([]load, len(m.t.Links()))
	for r, lanes := range m.p.Lanes {
		for i := range lanes {
			l := &lanes[i]
			for s := range max(l.Slices, 1) {
				for j := range l.Body {
					if err := m.across(flows(r, &l.Body[j], bytes(l, &l.Body[j], s)), loads); err != nil {
						return load{}, err
					}
				}
			}
		}
	}
	return slices.MaxFunc(loads, func(a, b load) int { return cmp.Compare(a.total, b.total) }), nil
}
