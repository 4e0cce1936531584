package cost

import (
	"railyard/model/measurement"
	"railyard/model/units"
)

// Access is what a GPU's blocks reach where the places of their threads lie apart or off 16 bytes.
type Access struct {
	Origin
	Rates []AccessRate `file:"rates,lines"`
}

// AccessRate is one pattern and size.
type AccessRate struct {
	measurement.Access `file:",inline="`
	Copied             units.Bytes `file:"copied,some"`
	Rate               units.Rate  `file:"rate,some"` // of what is copied; launches are in it
}

// Time is what blocks take to copy so many bytes where one side is accessed as told, the pieces being the nearest that were measured;
// beyond the sizes that were measured as much a byte. False where nothing like it was measured.
func (a *Access) Time(how measurement.Access, bytes units.Bytes) (t units.Time, ok bool) {
	if a == nil {
		return 0, false
	}
	var below, above *AccessRate
	for i := range a.Rates {
		x := &a.Rates[i]
		if x.Peer != how.Peer || x.Stores != how.Stores || x.Pattern != how.Pattern {
			continue
		}
		if x.Copied <= bytes && (below == nil || x.before(below, how.Piece, bytes)) {
			below = x
		}
		if x.Copied >= bytes && (above == nil || x.before(above, how.Piece, bytes)) {
			above = x
		}
	}
	switch {
	case below == nil && above == nil:
		return 0, false
	case below == nil:
		below = above
	case above == nil:
		above = below
	}
	share := 0.
	if below.Copied != above.Copied {
		share = Between(below.Copied, above.Copied, bytes)
	}
	return units.Time(float64(bytes) / float64(towards(below.Rate, above.Rate, share)) * 1e12), true
}

// before reports whether x tells more of such pieces and sizes than y: its size is nearer, then its pieces.
func (x *AccessRate) before(y *AccessRate, piece, bytes units.Bytes) bool {
	if dx, dy := distance(x.Copied, bytes), distance(y.Copied, bytes); dx != dy {
		return dx < dy
	}
	return distance(x.Piece, piece) < distance(y.Piece, piece)
}

// distance is by which factor two sizes differ.
func distance(a, b units.Bytes) float64 {
	a, b = max(a, 1), max(b, 1)
	return float64(max(a, b)) / float64(min(a, b))
}
