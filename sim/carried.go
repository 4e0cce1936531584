package sim

import (
	"slices"

	"railyard/model/cost"
	"railyard/model/units"
)

// Messages that a thread carries go through memory, and are as slow as all that it moves in an operation leaves no room for in caches:
// pieces of a large message are no faster than one of half of it, since those of whose rates a profile is made went in two pieces
// (exec/cuda, InPieces).
const piecesAlone = 2

// together reports whether what messages cost depends on what their carriers move beside them.
func together(p *cost.Profile) bool {
	return slices.ContainsFunc(p.Curves, func(c cost.Curve) bool { return c.Carrier > 0 && !c.Channels })
}

// carried is how much the busiest carrier of a rank's messages moves in an operation, both ways, as the piece of a message alone.
func (e *engine) carried() units.Bytes {
	if !together(e.profile) {
		return 0
	}
	load, most := make([]float64, len(e.res)), 0.0
	for i := range e.Plan.conns {
		k := &e.Plan.conns[i]
		sum := 0.0
		for i, s := range e.listed(k) {
			sum += float64(k.messages.loop.times(int32(i))) * float64(e.table.bytes[s])
		}
		sum *= float64(e.strand(k.channel).slices)
		for _, u := range e.routes[k.route].use {
			if side := e.res[u.res].node; side != nil && side.carrier {
				load[u.res] += sum * u.weight * float64(u.count)
				most = max(most, load[u.res])
			}
		}
	}
	return units.Bytes(most / piecesAlone)
}
