// Package cuda runs schedules on the GPUs of this node.
//
// One process drives all GPUs, a goroutine locked to its thread for each. Package
// model/block turns a schedule into block programs; the kernels of exec/cuda/kernel,
// compiled on this machine by NVRTC, run them on memory that all GPUs map. Flags lie in
// the receiver's memory and only grow; the number of a launch is kept in GPU memory, so
// that a captured graph can be replayed.
//
// Every wait on the GPU has a deadline and watches an abort word in host memory: when one
// gives up, the error names rank, block, operation and flag, and all kernels end.
//
// NVLink multicast is never used.
package cuda

import (
	"time"

	"railyard/model/block"
	"railyard/model/collective"
)

// Method is how a schedule is run.
type Method struct {
	Mechanism  block.Mechanism
	Blocks     int  // thread blocks a lane; of copy engines, of a reducing kernel
	Threads    int  // a block
	Streams    int  // of copy engines: those that copies of a stage are spread over; stages have those of their link
	Overlap    bool // a kernel may be launched while the one ahead of it still runs
	Specialise bool // the plan is compiled into the kernel, unless it has too many operations
	Proxied    bool // over nodes: one kernel, whose messages between them a proxy carries; else stages
	kernel     int  // where Blocks is 0, over nodes: blocks of a kernel of stages, about, or of a lane by proxy
}

// Config says what to run and how often.
type Config struct {
	Count      int64 // elements of the whole buffer, as nccl-tests counts it
	DType      collective.DType
	Op         collective.ReduceOp
	InPlace    bool
	Offset     int64 // bytes by which input and output are off alignment, for tests
	Warmup     int
	Iterations int  // operations in a graph, a multiple of block.EpochWords
	Replays    int  // of the graph
	Stream     bool // time launches on streams too, Replays rounds
	NoGraph    bool // and those alone
	Checks     int  // epochs with new inputs, the third of random numbers
	Jitter     time.Duration
	Seed       int64
}

// Limit lowers the replays, then the operations in a graph, so that an operation of so many
// bytes is timed within about a limit; it leaves 5 replays and 4 operations. A graph has operations as
// long as it can: how it begins and ends is shared by them.
func (c *Config) Limit(bytes int64, most time.Duration) {
	guess := time.Duration(bytes/200+3000) * time.Nanosecond // slower than any GPU link of today
	long := func() bool { return guess*time.Duration(c.Iterations*c.Replays) > most }
	for c.Replays > 5 && long() {
		c.Replays = max(c.Replays/2, 5)
	}
	for c.Iterations > 4 && long() {
		c.Iterations = max(c.Iterations/8*4, 4)
	}
}

// warmReplays are the replays of a graph that make the operations of the warm-up.
func (c *Config) warmReplays() int { return (c.Warmup + c.Iterations - 1) / c.Iterations }

// loop is how many operations a round of stream launches has: so many that it does not
// matter which GPU's thread began first.
func (c *Config) loop() int { return 5 * c.Iterations }

// Result is a measurement.
type Result struct {
	Times    []time.Duration   // an operation: one for each replay of the graph, the slowest GPU
	Ranks    [][]time.Duration // the same of each rank
	Stream   []time.Duration   // the same, launched one by one on a stream: one for each round
	Wrong    int64             // elements and guard bytes that are not what they should be; −1: not checked
	Launches int               // operations that ran, checked and timed ones
	// Specialised: the plan was compiled into the kernel, as Method asked and its operations allowed.
	Specialised bool
}
