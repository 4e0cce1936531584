package blocks

import (
	"math/bits"

	"railyard/model/block"
	"railyard/model/cost"
)

// traffic is who sends data to whom in a program, each a set of ranks.
type traffic struct{ to, from []uint64 }

func trafficOf(p *block.Program) *traffic {
	t := &traffic{make([]uint64, p.Ranks), make([]uint64, p.Ranks)}
	add := func(from, to int) {
		if from != to {
			t.to[from] |= 1 << to
			t.from[to] |= 1 << from
		}
	}
	for r, lanes := range p.Lanes {
		for i := range lanes {
			for j := range lanes[i].Body {
				op := &lanes[i].Body[j]
				for _, s := range op.Sources {
					add(s.Rank, r)
				}
				for _, d := range op.Destinations {
					add(r, d.Rank)
				}
				for _, d := range op.PacketTargets {
					add(r, d.Rank)
				}
			}
		}
	}
	return t
}

// oneWay reports whether a rank that hears of nobody sends to one that hears of it alone and
// sends nothing: as from the root of a broadcast, where nobody puts and takes by turns.
func (t *traffic) oneWay(from, to int) bool {
	return t.from[from] == 0 && t.to[to] == 0 && t.from[to] == 1<<from
}

// sent is a message of a protocol with so many further peers; under costs that know messages
// one way, one of these, whose further peers are those that the rank sends to as well.
func (m *machine) sent(from, to int, protocol string, peers int) (Part, error) {
	r, err := m.route(from, to)
	if one := cost.OneWay(protocol); err == nil && m.traffic.oneWay(from, to) && m.costs.Covers(r.Medium, one) {
		protocol, peers = one, bits.OnesCount64(m.traffic.to[from])-1
	}
	return Part{Protocol: protocol, Messages: 1, Peers: float64(peers)}, err
}
