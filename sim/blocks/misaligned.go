package blocks

import (
	"cmp"
	"slices"

	"railyard/model/block"
	"railyard/model/cost"
	"railyard/model/measurement"
	"railyard/model/topology"
	"railyard/model/units"
)

// quad is what an access of a thread moves where data are aligned to it, in bytes.
const quad = 16

// Misaligned is what a program takes longer since data are not aligned to 16 bytes; 0 where the costs do not say what such accesses take.
func Misaligned(t *topology.Topology, p *block.Program, shape Shape, costs *cost.Profile) (units.Time, error) {
	m, err := newMachine(t, p, shape, costs)
	if err != nil {
		return 0, err
	}
	return m.misaligned()
}

// misaligned is what the rank that loses most takes longer since data of its operations are not aligned to 16 bytes; 0 where
// the costs do not say what such accesses take. All of a rank's blocks are at work on each operation.
func (m *machine) misaligned() (_ units.Time, err error) {
	lost := make([]units.Time, m.p.Ranks)
	m.each(func(r int, l *block.Lane, op *block.Op) {
		var one units.Time // of a slice
		for s := range max(l.Slices, 1) {
			if s == 0 || !alike(l, op, s) {
				t, failed := m.lost(r, l, op, s)
				one, err = t, cmp.Or(err, failed)
			}
			lost[r] += one
		}
	})
	return slices.Max(lost), err
}

// alike reports whether an operation moves as much in a slice as in the one before.
func alike(l *block.Lane, op *block.Op, slice int) bool {
	same := func(limit int64) bool {
		part := block.Op{Limit: limit}
		return bytes(l, &part, slice) == bytes(l, &part, slice-1)
	}
	return same(op.Limit) && !slices.ContainsFunc(op.Limits, func(limit int64) bool { return !same(limit) })
}

// lost is that of one operation in a slice. What it also sends or fetches over links hides accesses that are faster than these.
func (m *machine) lost(rank int, l *block.Lane, op *block.Op, slice int) (units.Time, error) {
	var took, would units.Time
	for _, x := range m.unalignedOf(rank, op) {
		n := bytes(l, op, slice)
		if x.pair < len(op.Limits) {
			n = bytes(l, &block.Op{Limit: op.Limits[x.pair]}, slice)
		}
		aligned := measurement.Access{Peer: x.Peer, Stores: x.Stores, Pattern: measurement.Coalesced, Piece: quad}
		a, known := m.costs.Access.Time(x.Access, n)
		b, also := m.costs.Access.Time(aligned, n)
		if known && also {
			took, would = took+a, would+b
		}
	}
	list := m.flows(rank, op, bytes(l, op, slice))
	if took <= would || len(list) == 0 {
		return max(took-would, 0), nil
	}
	wire, err := m.slowest(list)
	return max(took-max(would, units.Time(wire.time(m.costs))), 0), err
}

// unaligned is an access of an operation, of pairs by its number.
type unaligned struct {
	measurement.Access
	pair int
}

// unalignedOf are the accesses of an operation that are off 16 bytes, as kernels do them: what lies across quads is loaded in
// both, and stored eight bytes at a time where these are aligned, else element by element (store_quad in exec/cuda/kernel). Without
// packets, where places are aligned unlike one another the last destination's (of pairs: each one's) lines are whole and the others
// follow it.
func (m *machine) unalignedOf(rank int, op *block.Op) (out []unaligned) {
	packets := packetProtocol(op.Kind) != ""
	add := func(i int, r block.Ref, stores bool, from int64) {
		if off := (r.Offset - from) & (quad - 1); off != 0 {
			how := measurement.Access{Peer: r.Rank != rank, Stores: stores, Pattern: measurement.Misaligned, Piece: m.element(off)}
			out = append(out, unaligned{how, i})
		}
	}
	to := func(int) int64 { return 0 }
	if n := len(op.Destinations); !packets && n > 0 {
		to = func(source int) int64 {
			if op.Flags&block.Pairs != 0 {
				return op.Destinations[source].Offset
			}
			return op.Destinations[n-1].Offset
		}
	}
	for i, s := range op.Sources {
		add(i, s, false, to(i))
	}
	if packets || op.Flags&block.Pairs == 0 {
		for i, d := range op.Destinations {
			add(i, d, true, to(0))
		}
	}
	return out
}

// element is what is stored at once so far off 16 bytes.
func (m *machine) element(off int64) units.Bytes {
	if off%8 == 0 {
		return 8
	}
	return units.Bytes(m.elements)
}
