package fit

import (
	"testing"

	"railyard/model/cost"
	"railyard/model/measurement"
	"railyard/model/units"
)

// TestAccesses: rates are medians of the rows of each access and size, in the rows' order; other rows are none.
func TestAccesses(t *testing.T) {
	how := measurement.Access{Peer: true, Stores: true, Pattern: measurement.Strided, Piece: 64}
	row := func(kind string, bytes units.Bytes, value float64) measurement.Link {
		return measurement.Link{Kind: kind, Src: "0", Dst: "1", Bytes: bytes, Value: value, Unit: "GBps"}
	}
	a := Accesses(cost.Origin{Kind: cost.Measured}, []measurement.Link{row(how.Kind(), 1<<20, 300), row("local_copy", 1<<20, 5),
		row("sm_push", 1<<20, 5),
		row(how.Kind(), 1<<25, 390), row(how.Kind(), 1<<20, 100), row(how.Kind(), 1<<20, 200), row("peer_store_strided_p0", 1<<20, 1)})
	if len(a.Rates) != 2 || a.Rates[0] != (cost.AccessRate{Access: how, Copied: 1 << 20, Rate: 200e9}) ||
		a.Rates[1] != (cost.AccessRate{Access: how, Copied: 1 << 25, Rate: 390e9}) || a.Kind != cost.Measured {
		t.Errorf("%+v", a)
	}
	if a := Accesses(cost.Origin{}, []measurement.Link{row("local_copy", 1<<20, 5)}); a != nil {
		t.Errorf("%+v of no accesses", a)
	}
}
