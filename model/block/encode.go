package block

import (
	"encoding/binary"
	"slices"
)

// The sizes of the kernels' structures (exec/cuda/kernel/plan.cuh).
const (
	opBytes   = 8 + 4*4 + 3*8 + 8*maxRefs
	laneBytes = 8 * 4
	buffers   = 6
)

// Encode writes a rank's lanes and operations as the kernels read them: all lanes, then
// all operations, little endian.
func (p *Program) Encode(rank int) []byte { return EncodeLanes(p.Lanes[rank]) }

// EncodeLanes writes lanes of one rank.
func EncodeLanes(list []Lane) []byte {
	var lanes, ops []byte
	first := 0
	for i := range list {
		l := &list[i]
		for _, n := range []int{first, len(l.Before), len(l.Body), len(l.After), l.Slices, 0, 0, 0} {
			lanes = binary.LittleEndian.AppendUint32(lanes, uint32(n))
		}
		for _, part := range [][]Op{l.Before, l.Body, l.After} {
			for j := range part {
				ops = part[j].append(ops, l)
			}
			first += len(part)
		}
	}
	return append(lanes, ops...)
}

// MaxLaneBytes is the operations of a rank's longest lane.
func (p *Program) MaxLaneBytes() (most int) {
	for _, lanes := range p.Lanes {
		for i := range lanes {
			most = max(most, opBytes*(len(lanes[i].Before)+len(lanes[i].Body)+len(lanes[i].After)))
		}
	}
	return most
}

// Shape is what an interpreter of a program must know: the kinds of operations, as a set,
// and the most sources, destinations or packets of a kind in one of them.
type Shape struct {
	Kinds uint32
	Width int
}

// Shape is that of all ranks' lanes.
func (p *Program) Shape() (s Shape) {
	for _, lanes := range p.Lanes {
		s.Add(lanes...)
	}
	return s
}

// Add widens a shape to lanes.
func (s *Shape) Add(lanes ...Lane) {
	s.Width = max(s.Width, 2)
	for _, l := range lanes {
		for _, op := range slices.Concat(l.Before, l.Body, l.After) {
			s.Kinds |= 1 << op.Kind
			s.Width = max(s.Width, len(op.Sources), len(op.Destinations), len(op.PacketSources)+1, len(op.PacketTargets)+1)
		}
	}
}

func (op *Op) append(b []byte, l *Lane) []byte {
	b = append(b, byte(op.Kind), byte(len(op.Sources)), byte(len(op.PacketSources)), byte(len(op.Destinations)), byte(len(op.PacketTargets)),
		byte(op.Own), op.Flags, op.Line)
	le := binary.LittleEndian
	for _, n := range []uint32{op.Peers, uint32(op.Lane), uint32(op.Value), uint32(op.PerSlice)} {
		b = le.AppendUint32(b, n)
	}
	for _, n := range []int64{l.Unit, op.Limit, l.Stride} {
		b = le.AppendUint64(b, uint64(n))
	}
	n := 0
	for _, list := range [][]Ref{op.Sources, op.PacketSources, op.Destinations, op.PacketTargets} {
		for _, r := range list {
			b = le.AppendUint64(b, uint64(r.Rank*buffers+int(r.Buffer))<<48|uint64(r.Offset))
			n++
		}
	}
	for ; n < maxRefs; n++ {
		b = le.AppendUint64(b, 0)
	}
	return b
}
