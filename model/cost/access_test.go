package cost

import (
	"testing"

	"railyard/model/measurement"
	"railyard/model/units"
)

// TestAccessTime: between the sizes that were measured the time of a byte changes evenly, beyond them it stays; of pieces that were
// not measured the nearest tell; another side tells nothing.
func TestAccessTime(t *testing.T) {
	stores := func(piece units.Bytes) measurement.Access {
		return measurement.Access{Stores: true, Pattern: measurement.Misaligned, Piece: piece}
	}
	a := &Access{Rates: []AccessRate{
		{stores(2), 1 << 20, 250e9}, {stores(2), 1 << 24, 500e9}, {stores(8), 1 << 20, 1000e9}, {stores(8), 1 << 24, 1000e9},
	}}
	for _, c := range []struct {
		piece, bytes units.Bytes
		ps           float64 // of a byte
	}{
		{2, 1 << 20, 4}, {2, 1 << 10, 4}, {2, 1 << 24, 2}, {2, 1 << 28, 2}, {2, 1 << 22, 3}, {1, 1 << 22, 3}, {8, 1 << 22, 1},
		{64, 1 << 22, 1},
	} {
		if got, ok := a.Time(stores(c.piece), c.bytes); !ok || got != units.Time(c.ps*float64(c.bytes)) {
			t.Errorf("%v in pieces of %v: %v, %v, want %v ps a byte", c.bytes, c.piece, got, ok, c.ps)
		}
	}
	for _, other := range []measurement.Access{{Pattern: measurement.Misaligned, Piece: 2}, {Peer: true, Stores: true,
		Pattern: measurement.Misaligned, Piece: 2}, {Stores: true, Pattern: measurement.Strided, Piece: 2}} {
		if got, ok := a.Time(other, 1<<20); ok {
			t.Errorf("%s: %v, though nothing was measured", other.Words(), got)
		}
	}
	if _, ok := (*Access)(nil).Time(stores(2), 1<<20); ok {
		t.Error("nothing was measured at all")
	}
}
