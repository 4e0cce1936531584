package blocks

import (
	"math/bits"

	"railyard/model/block"
	"railyard/model/cost"
)

// traffic is who sends data to whom in a program, each a set of ranks.
type traffic struct{ to, from []uint64 }

// noteTraffic finds it.
func (m *machine) noteTraffic() {
	m.traffic = traffic{make([]uint64, m.p.Ranks), make([]uint64, m.p.Ranks)}
	m.each(func(r int, l *block.Lane, op *block.Op) {
		for _, f := range m.flows(r, op, 0) {
			if f.from != f.to {
				m.traffic.to[f.from] |= 1 << f.to
				m.traffic.from[f.to] |= 1 << f.from
			}
		}
	})
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
