// Package mscclpp writes and reads execution plans of MSCCL++: JSON in which each GPU
// has thread blocks with operations on its buffers, its channels (one semaphore each
// way) and its peers' buffers. Data are put straight into the peer's memory; signal and
// wait say when they are there.
//
// The form is that of https://github.com/microsoft/mscclpp as of 2026
// (src/core/executor/execution_plan.cc, docs/dsl/concepts.md and the plans in
// test/executor-tests).
package mscclpp

import (
	"railyard/interop/foreign"
	"railyard/model/collective"
)

// Limits of the executor (src/core/include/execution_common.hpp), and what fits on a
// GPU at once.
const (
	maxOps        = 64 // of a thread block
	maxChannels   = 16 // of one type in a thread block; of remote buffers too
	maxPerOp      = 8  // channels of an operation
	maxOperands   = 10 // buffers of an operation on one side
	maxSemaphores = 16 // of an operation
	maxBarriers   = 16 // of a GPU
	maxBlocks     = 128
)

// File is an execution plan.
type File struct {
	Name           string `json:"name"`
	Collective     string `json:"collective"`
	Protocol       string `json:"protocol"`
	InPlace        bool   `json:"inplace"`
	ReuseResources bool   `json:"reuse_resources"`
	DoubleScratch  bool   `json:"use_double_scratch_buffer"`
	Alignment      int    `json:"buffer_alignment,omitempty"`
	Threads        int    `json:"num_threads_per_block,omitempty"`
	MinBytes       int64  `json:"min_message_size,omitempty"`
	MaxBytes       uint64 `json:"max_message_size,omitempty"`
	Proven         string `json:"proven,omitempty"` // by what measurements; the executor passes over it
	GPUs           []GPU  `json:"gpus"`
	line           int
}

// GPU is what one rank does.
type GPU struct {
	ID            int            `json:"id"`
	Input         int            `json:"input_chunks"`
	Output        int            `json:"output_chunks"`
	Scratch       int            `json:"scratch_chunks"`
	Blocks        []Block        `json:"threadblocks"`
	Channels      []Channels     `json:"channels"`
	RemoteBuffers []RemoteBuffer `json:"remote_buffers"`
	Semaphores    []Semaphore    `json:"semaphores"`
	line          int
}

// Channels are a GPU's channels of a type, numbered in order of the peers; those of switches are numbered in order
// of the groups of ranks, whose buffers each of them reads or writes at once.
type Channels struct {
	Type   string  `json:"channel_type"`
	To     []int   `json:"connected_to,omitempty"`
	Buffer string  `json:"buffer_type,omitempty"`
	Older  string  `json:"buff,omitempty"` // what plans called it before
	Groups []Ranks `json:"rank_groups,omitempty"`
}

// Ranks are those of a switch's channel.
type Ranks struct {
	Ranks []int `json:"ranks"`
}

// RemoteBuffer is a peer's buffer that the GPU reaches.
type RemoteBuffer struct {
	Rank   int      `json:"rank"`
	Type   string   `json:"type"`
	Access []string `json:"access_channel_types"`
}

// Semaphore is between thread blocks of a GPU.
type Semaphore struct {
	Init int `json:"init_value"`
}

// Block is a thread block; its operations name the channels and remote buffers that it
// lists here by their place in these lists.
type Block struct {
	ID       int          `json:"id"`
	Ops      []Op         `json:"ops"`
	Channels []ChannelIDs `json:"channels"`
	Remote   []BufferIDs  `json:"remote_buffer_refs"`
	line     int
}

// ChannelIDs are a thread block's channels of a type, as the GPU numbers them.
type ChannelIDs struct {
	Type string `json:"channel_type"`
	IDs  []int  `json:"channel_ids"`
}

// BufferIDs are a thread block's remote buffers by type of access.
type BufferIDs struct {
	Type string `json:"access_channel_type"`
	IDs  []int  `json:"remote_buffer_ids"`
}

// Op is an operation.
type Op struct {
	Name       string   `json:"name"`
	Src        []Buffer `json:"src_buff,omitempty"`
	Dst        []Buffer `json:"dst_buff,omitempty"`
	Channels   []int    `json:"channel_ids,omitempty"`
	Type       string   `json:"channel_type,omitempty"`
	ReduceOp   string   `json:"reduce_op,omitempty"`
	Semaphores []int    `json:"semaphore_ids,omitempty"`
	BarrierID  *int     `json:"barrier_id,omitempty"`
	NumBlocks  int      `json:"num_threadblocks,omitempty"` // of a barrier
	Group      *Group   `json:"tbg_info,omitempty"`
	Pieces     *Pieces  `json:"iter_context,omitempty"` // of a pipeline
	Ops        []Op     `json:"ops,omitempty"`          // of a pipeline
	line       int
	number     int // among those of its thread block
}

// Group says that a thread block does one of equal shares of an operation; others do the rest.
type Group struct {
	Block int `json:"tb_id"`
	Size  int `json:"tbg_size"`
}

// Pieces of so many bytes are what a pipeline goes through so many chunks in, with all of its operations.
type Pieces struct {
	Bytes  int64 `json:"unit_size"`
	Chunks int   `json:"num_chunks"`
}

// Buffer is a run of chunks, of a local buffer (i, o or s) or of a remote one.
type Buffer struct {
	Type   string `json:"type,omitempty"`
	Remote *int   `json:"buffer_id,omitempty"`
	Switch *int   `json:"switch_channel_id,omitempty"`
	Index  int    `json:"index"`
	Size   int    `json:"size"`
}

// The types of channels: over memory that both GPUs see, over a port such as a NIC, and through switches that
// copy and combine.
const (
	memory  = "memory"
	port    = "port"
	through = "switch"
)

// collectives are the executor's names.
var collectives = foreign.Names{What: "MSCCL++ plans", List: []foreign.Name{
	{Kind: collective.AllReduce, Text: "allreduce"}, {Kind: collective.AllGather, Text: "allgather"},
	{Kind: collective.ReduceScatter, Text: "reducescatter"}, {Kind: collective.AllToAll, Text: "alltoall"}}}
