package block

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"unsafe"
)

// head is an operation without its places, as the kernels read it (exec/cuda/kernel/plan.cuh).
type head struct {
	Bytes [8]uint8
	Words [4]uint32
	Longs [5]int64
}

func (op *Op) head(l *Lane, form int) head {
	return head{
		[8]uint8{uint8(op.Kind), uint8(len(op.Sources)), uint8(len(op.PacketSources)), uint8(len(op.Destinations)),
			uint8(len(op.PacketTargets)), uint8(op.Own), op.Flags, op.Line},
		[4]uint32{op.Peers, uint32(form), uint32(op.Value), uint32(op.PerSlice)},
		[5]int64{l.Unit, op.Limit, l.Stride, op.packetBytes(l.Unit), op.packetBytes(l.Stride)},
	}
}

// The sizes of the kernels' structures.
const (
	headBytes = int(unsafe.Sizeof(head{}))
	laneHead  = 4 * 4
	buffers   = 6
	flagKinds = 2
)

// Encoding is how plans are written: for an interpreter of these forms, which a launch's
// blocks a lane are, and where references are; without Address they are symbols.
type Encoding struct {
	Forms     *Forms
	Instances int
	Address   func(Ref) uint64
	Node      []int // of each rank, where there are several (Program.Node)
}

// Encode writes a rank's lanes as the kernels read them, little endian, each with its
// operations and padded to so many bytes.
func (e Encoding) Encode(rank int, list []Lane, laneBytes int) (out []byte) {
	for i := range list {
		l := &list[i]
		for _, n := range []int{len(l.Before), len(l.Body), len(l.After), l.Slices} {
			out = binary.LittleEndian.AppendUint32(out, uint32(n))
		}
		for _, part := range [][]Op{l.Before, l.Body, l.After} {
			for j := range part {
				out = e.op(out, &part[j], l, rank)
			}
		}
		out = append(out, make([]byte, (i+1)*laneBytes-len(out))...)
	}
	return out
}

// LaneBytes is the size of the longest of some lanes.
func (e Encoding) LaneBytes(lanes ...Lane) (most int) {
	for i := range lanes {
		l := &lanes[i]
		most = max(most, laneHead+(headBytes+8*e.Forms.Refs)*(len(l.Before)+len(l.Body)+len(l.After)))
	}
	return most
}

func (e Encoding) op(b []byte, op *Op, l *Lane, rank int) []byte {
	le := binary.LittleEndian
	b, err := binary.Append(b, le, op.head(l, e.Forms.number(l, op)))
	if err != nil {
		panic(err) // the structure has a fixed size
	}
	refs := op.refs(rank, e.Instances, e.Node)
	for _, r := range refs {
		if e.Address != nil {
			b = le.AppendUint64(b, e.Address(r))
		} else {
			b = le.AppendUint64(b, r.symbol())
		}
	}
	for _, n := range op.Limits {
		b = le.AppendUint64(b, uint64(n))
	}
	return append(b, make([]byte, 8*(e.Forms.Refs-len(refs)-len(op.Limits)))...)
}

// symbol is a reference that is no address.
func (r Ref) symbol() uint64 { return uint64(r.Rank*buffers+int(r.Buffer))<<48 | uint64(r.Offset) }

// refs are an operation's places in the order of the kernels: sources, packet sources,
// destinations, packet destinations; of a signal or wait the flags, by peer, which lie with
// who waits; of peers in other nodes those that their proxy reads and raises.
func (op *Op) refs(rank, instances int, node []int) (out []Ref) {
	for peers := op.Peers; peers != 0; peers &= peers - 1 {
		peer := bits.TrailingZeros32(peers)
		if node != nil && node[peer] != node[rank] {
			out = append(out, op.bell(rank, peer, instances))
			continue
		}
		owner, from := peer, rank
		if op.Kind == Wait {
			owner, from = from, owner
		}
		line := EpochWords + flagAt(op.Lane*instances, from, op.Line)
		out = append(out, Ref{Rank: owner, Buffer: ControlBuffer, Offset: FlagLine * int64(line)})
	}
	return append(out, slices.Concat(op.Sources, op.PacketSources, op.Destinations, op.PacketTargets)...)
}

// flagAt is the number of a line among those between a block and all others.
func flagAt(block, peer int, line uint8) int { return (block*maxPeers+peer)*flagKinds + int(line) }
