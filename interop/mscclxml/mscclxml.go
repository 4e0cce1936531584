// Package mscclxml writes and reads the algorithm files of MSCCL and its executors:
// an algo holds gpus, a gpu thread blocks (tb), a tb steps that it takes one after the
// other. A tb sends to one rank and receives from one; tbs wait for one another by
// depid (which tb) and deps (after which of its steps, which has hasdep="1").
//
// The form is the one of https://github.com/microsoft/msccl-tools (msccl/language/ir.py)
// as the parsers read it: https://github.com/microsoft/msccl (src/graph/topo.cc),
// https://github.com/Azure/msccl-executor-nccl and RCCL before 2026
// (src/misc/msccl/msccl_parser.cc).
package mscclxml

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"railyard/interop/foreign"
	"railyard/model/collective"
	"railyard/model/schedule"
)

// Dialect is the executor that a file is for: what it calls collectives and what fits
// into it.
type Dialect struct {
	Name          string
	Steps         int    // of a thread block
	ThreadBlocks  int    // of a GPU
	Channels      int    // in all
	NameLength    int    // of the algorithm's name
	ReduceScatter string // its name
}

// Limits that all executors share.
const (
	maxCount      = 71      // chunks of a step: MSCCL_MAX_COUNT is 72 and excluded
	maxPeers      = 32      // thread blocks that send (or receive) on one channel of a GPU
	maxDependence = 127     // thread blocks are named by a signed byte in dependences
	maxOffset     = 1 << 15 // chunks are named by 16 bits with sign
	maxElements   = 4095    // MAX_NODES is 4096, and full is an error: algo, all gpus, one's own thread blocks and steps
)

// dialects by name.
var dialects = map[string]Dialect{
	"rccl":     {"rccl", 64, 64, 32, 254, "reducescatter"},
	"executor": {"executor", 64, 1024, 32, 254, "reducescatter"},
	"msccl":    {"msccl", 256, 216, 32, 63, "reduce_scatter"},
}

// Get is the dialect of a name; "" is rccl's, whose limits are the smallest.
func Get(name string) (Dialect, error) {
	if name == "" {
		name = "rccl"
	}
	d, ok := dialects[name]
	if !ok {
		return d, fmt.Errorf("unknown MSCCL dialect %q: must be one of %s", name, strings.Join(Names(), ", "))
	}
	return d, nil
}

// Names are the dialects' names.
func Names() []string { return slices.Sorted(maps.Keys(dialects)) }

// File is an algorithm file.
type File struct {
	Name          string
	Proto         string
	Channels      int
	ChunksPerLoop int
	Coll          string
	InPlace       bool
	OutOfPlace    bool
	MinBytes      int64
	MaxBytes      int64
	GPUs          []GPU
	Line          int // where the element stands; 0 in files that were made here
	declaredGPUs  int
}

// GPU is what one rank does.
type GPU struct {
	ID, Input, Output, Scratch int // chunks of its buffers
	Blocks                     []Block
	Line                       int
}

// Block is a thread block.
type Block struct {
	ID, Send, Recv, Channel int // peers are −1 where it has none
	Steps                   []Step
	Line                    int
}

// Step is one operation; DepBlock is −1 where it waits for nothing.
type Step struct {
	Type     string
	S        int
	Src, Dst Place
	Count    int
	DepBlock int
	DepStep  int
	HasDep   bool
	Line     int
}

// Place is a chunk of the buffer i, o or s.
type Place struct {
	Buf string
	Off int
}

// kind is what a type of step does.
type kind struct {
	recv, send, reduce bool
	src, dst           bool // uses its own source, its destination
}

var kinds = map[string]kind{
	"s":    {send: true, src: true},
	"r":    {recv: true, dst: true},
	"rcs":  {recv: true, send: true, dst: true},
	"rrs":  {recv: true, send: true, reduce: true, src: true},
	"rrc":  {recv: true, reduce: true, src: true, dst: true},
	"rrcs": {recv: true, send: true, reduce: true, src: true, dst: true},
	"cpy":  {src: true, dst: true},
	"re":   {reduce: true, src: true, dst: true},
	"nop":  {},
}

// collectives are the names that some dialect has.
var collectives = foreign.Names{What: "MSCCL files", List: []foreign.Name{
	{Kind: collective.AllReduce, Text: "allreduce"}, {Kind: collective.AllGather, Text: "allgather"},
	{Kind: collective.ReduceScatter, Text: "reducescatter"}, {Kind: collective.ReduceScatter, Text: "reduce_scatter"},
	{Kind: collective.AllToAll, Text: "alltoall"}, {Kind: collective.Broadcast, Text: "broadcast"},
	{Kind: collective.Reduce, Text: "reduce"}}}

// collName is what a dialect calls a collective.
func (d Dialect) collName(k collective.Kind) (string, error) {
	if k == collective.ReduceScatter {
		return d.ReduceScatter, nil
	}
	return collectives.Of(k)
}

// protocols by their names in files.
var protocols = map[string]schedule.Protocol{"Simple": schedule.Simple, "LL": schedule.LL, "LL128": schedule.LL128}

// protocolName is how files write a protocol; "" where they have no name for it.
func protocolName(p schedule.Protocol) string {
	if p == schedule.Pulled { // who moves the data is the executor's to say
		p = schedule.Simple
	}
	for name, x := range protocols {
		if x == p {
			return name
		}
	}
	return ""
}
