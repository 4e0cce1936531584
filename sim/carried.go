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
	perRoute, most := make([]float64, len(e.routes)), 0.0
	for i := range e.Plan.conns {
		k := &e.Plan.conns[i]
		perRoute[k.route] += float64(e.bytes(k))
	}
	for i, load := range e.resourceLoads(perRoute) {
		if side := e.res[i].node; side != nil && side.carrier {
			most = max(most, load)
		}
	}
	return units.Bytes(most / piecesAlone)
}
