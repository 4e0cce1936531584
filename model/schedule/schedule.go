// Package schedule holds THE plan format: how a collective's bytes move between
// ranks. A schedule is data, stored compactly as channels of phases, each phase a
// generator (ring, tree, direct, …) over groups of ranks; it expands lazily to
// per-rank operations. The checker in this package proves that a schedule computes
// its collective and cannot deadlock.
//
// # Execution model
//
// The buffer of the collective consists of Spec.Blocks() equal blocks. Each channel
// owns the same share of every block, cuts it into Slices, and each slice into
// Chunks/Blocks sub-chunks; so a channel sees Chunks chunks a slice, numbered block
// by block. Channels touch disjoint bytes and never wait for one another.
//
// On every rank, (channel, phase) is one sequential program, run once for each slice
// in order. Slice p of phase k starts on a rank when slice p of phase k−1 has ended
// there: phases are the stages of a pipeline over slices.
//
// Sends are asynchronous and ordered per (source, destination, channel, phase): the
// k-th Send from a to b matches the k-th Recv or RecvReduce at b from a. A send reads
// its source until the matching receive has ended. Receives block the program.
package schedule

import (
	"reflect"

	"railyard/model/collective"
)

// Schema is the version of the JSON form.
const Schema = "railyard.schedule/v4"

// Schedule is a plan for one collective on one topology.
type Schedule struct {
	Algorithm    string            `json:"algorithm"` // "ring", "double_binary_tree", "hierarchical(ring,ring)", …
	Spec         collective.Spec   `json:"collective"`
	Protocol     Protocol          `json:"protocol"`
	Needs        []Capability      `json:"needs,omitempty"` // of the switches on its ways: what Uses says
	Channels     []Channel         `json:"channels"`
	Paths        []Path            `json:"paths,omitempty"` // of pairs of ranks that have several ways to one another, ascending
	TopologyName string            `json:"topology"`
	TopologyHash string            `json:"topology_hash"`
	Tool         string            `json:"tool"` // version that made it
	Seed         int64             `json:"seed"` // 0 where nothing was random
	Inputs       map[string]string `json:"inputs,omitempty"`
}

// Protocol is how bytes and flags travel; it selects the cost and, on GPUs, the code.
type Protocol string

// The protocols: flags apart from data, 8-byte data+flag packets, 128-byte lines, words that
// are their own flags.
const (
	Simple     Protocol = "simple"
	LL         Protocol = "ll"
	LL128      Protocol = "ll128"
	Words      Protocol = "words"
	Pulled     Protocol = "pull" // Simple, where the receiver reads the memory of the sender
	CopyEngine Protocol = "copy" // by DMA
	// Between nodes, of GPUs: by a proxy of each process, or by a library's messages between kernels.
	Proxied Protocol = "proxy"
	Staged  Protocol = "stages"
)

// Channel is an independent strand of the schedule with a share of the bytes.
type Channel struct {
	Share  int64   `json:"share"`  // relative to the sum over all channels
	Slices int     `json:"slices"` // ≥ 1
	Chunks int     `json:"chunks"` // per slice; a multiple of Spec.Blocks()
	Phases []Phase `json:"phases"`
	Trees  *Trees  `json:"trees,omitempty"` // of phases of generator trees
	Kinds  *Kinds  `json:"kinds,omitempty"` // of phases of generator ops: of which nodes they hold the programs
}

// Depth is the length of the pipeline: the slices, or the pieces that trees cut data into.
func (c *Channel) Depth() int { return c.Slices * c.Pieces() }

// Pieces is in how many pieces trees cut a slice's data; 1 without trees.
func (c *Channel) Pieces() int {
	if c.Trees == nil {
		return 1
	}
	return c.Trees.pieces()
}

// Phase is a generator applied to groups of ranks.
type Phase struct {
	Gen    string          `json:"generator"` // ring, direct, tree, doubling, bruck, switch, trees, rails or ops
	Op     collective.Kind `json:"op"`
	Groups Groups          `json:"groups,omitzero"`
	// Src is where a rank's own data is read, Dst where results go. Acc holds partial
	// sums and forwarded data that are not results (Dst where Dst covers them).
	Src     Buffer      `json:"src"`
	Acc     Buffer      `json:"acc"`
	Dst     Buffer      `json:"dst"`
	Root    int         `json:"root,omitempty"`    // position of the root in each group (tree, ring, direct: rooted ops)
	Parents RankList    `json:"parents,omitempty"` // tree: parent position of each position, −1 at the root
	Radix   int         `json:"radix,omitempty"`   // k-nomial: k
	Ops     []Program   `json:"ops,omitempty"`     // gen "ops": explicit programs by rank, or of first nodes (see Kinds)
	Level   int         `json:"level,omitempty"`   // gen "trees": hops that end at this depth; 0: all; "rails": the stage
	Local   int         `json:"local,omitempty"`   // gen "rails": ranks of a node
	Order   []TreeOrder `json:"order,omitempty"`   // gen "trees", all levels: by rank
	Packed  []Packed    `json:"-"`                 // gen "ops": what was added, in place of Ops (see Add)
	// Apart phases wait for no phase before them, nor do those behind them for any: they use no memory that those write.
	Apart bool `json:"apart,omitempty"`
}

// Buffer names a rank's memory.
type Buffer uint8

// The buffers. Input and Output are what the user passes; Scratch has Chunks × copies
// chunks: index i has the size and the share of bytes of chunk i mod Chunks. Of an
// all_to_allv, where chunks differ by rank, it has those of rank i/Chunks's input.
const (
	Input Buffer = iota
	Output
	Scratch
)

// ChunkSet is a set of chunk numbers: First + i·Stride + o·OuterStride for i < Count
// and o < max(Outer, 1).
type ChunkSet struct {
	First       int32 `json:"first"`
	Count       int32 `json:"count"`
	Stride      int32 `json:"stride"`
	Outer       int32 `json:"outer,omitempty"`
	OuterStride int32 `json:"outer_stride,omitempty"`
}

// Loc is a place in a rank's memory.
type Loc struct {
	Buf Buffer   `json:"buffer"`
	Set ChunkSet `json:"chunks"`
}

// OpKind is what an operation does.
type OpKind uint8

// The operations.
const (
	Send       OpKind = iota // send Src to Peer
	Recv                     // Dst = incoming
	RecvReduce               // Dst = Src ⊕ incoming
	Copy                     // Dst = Src
	Reduce                   // Dst = ⊕ over Srcs, in the order given, rounded once
	// In-network operations (see Team). The peers' ends are a Recv and a Send.
	Multicast    // send Src to all Peers; switches make the copies
	SwitchReduce // Dst = Src ⊕ what all Peers send; switches combine that on its way
)

// Op is one operation of a rank's program.
type Op struct {
	Kind OpKind `json:"op"`
	Peer int32  `json:"peer"`           // Send, Recv, RecvReduce
	Src  Loc    `json:"src,omitzero"`   // Send, RecvReduce, Copy, Multicast, SwitchReduce
	Dst  Loc    `json:"dst,omitzero"`   // all but Send and Multicast
	Srcs []Loc  `json:"srcs,omitempty"` // Reduce
	// Peers of Multicast and SwitchReduce, whose Peer is −1.
	Peers RankList `json:"peers,omitempty"`
}

// Groups says which ranks act together in a phase and which chunks each of them is
// responsible for. It is either a grid (regular clusters, constant size) or a list.
type Groups struct {
	Grid *Grid   `json:"grid,omitempty"`
	List []Group `json:"list,omitempty"`
}

// Group is a set of ranks in generator order.
type Group struct {
	Ranks RankList `json:"ranks"`
	// Parts[m] are the chunks of member m; nil means chunk Ranks[m]: each rank owns
	// the chunk of its own number.
	Parts []ChunkSet `json:"parts,omitempty"`
	// Whole are all chunks of the group; the zero value means all chunks of the channel.
	Whole ChunkSet `json:"whole,omitzero"`
}

// Grid lays the ranks 0…ΠDims−1 out in mixed radix (last axis fastest). A group is
// the ranks that differ along Axis only. Chunks are numbered in the same mixed radix,
// with radix 1 along the axes in Unsplit: member m's part is the chunks whose digit
// along Axis is m and whose digits along Fixed are the group's own; the group's whole
// is the same without the digit along Axis. Axes neither Fixed nor Unsplit are free;
// they must lie next to one another, so that every set is an arithmetic progression.
type Grid struct {
	Dims    []int32 `json:"dims"`
	Axis    int     `json:"axis"`
	Fixed   []int   `json:"fixed,omitempty"`
	Unsplit []int   `json:"unsplit,omitempty"`
	Order   []int32 `json:"order,omitempty"` // positions along Axis in generator order; nil is 0,1,2,…
}

// SameButSlices reports whether schedules differ in nothing but the numbers of slices, and in their protocol.
func (s *Schedule) SameButSlices(o *Schedule) bool {
	if len(s.Channels) != len(o.Channels) || !reflect.DeepEqual(s.Spec, o.Spec) || !reflect.DeepEqual(s.Paths, o.Paths) {
		return false
	}
	for i := range s.Channels {
		x, y := s.Channels[i], o.Channels[i]
		x.Slices = y.Slices
		if !reflect.DeepEqual(x, y) {
			return false
		}
	}
	return true
}
