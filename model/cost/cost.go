// Package cost says what a transfer, a reduction and a launch cost beyond the line
// rates of the topology. A Profile is a YAML file: the result of a fit or a set of
// sourced constants.
package cost

import "railyard/model/units"

// Profile is what a runtime and its hardware add to the topology's lines. The zero
// profile with Lines set is "line"; without, "ideal".
type Profile struct {
	Name   string
	Source string
	Date   string
	// Latencies: count the latencies of the topology's links. False only in "ideal".
	Latencies bool
	// Serial: a rank does one thing at a time, as a core does: its lanes take turns to fetch
	// messages and to combine. A GPU has blocks of threads for each.
	Serial bool
	// Memory is what a host's cores reach, by the size of the buffers; ascending. Where it is
	// there, curves say what a message costs and Memory what its bytes do.
	Memory []Level
	Launch units.Time // λ: from the call to the first byte
	Curves []Curve
	// Parameters of messages, of what copies, and of transfers between nodes; those that
	// are missing are the shipped ones (see Complete).
	MessageProtocols []Protocol
	Engines          []Engine
	Steps            Steps
	Reduce           units.Rate  // γ: bytes combined per second by one channel's program; 0 is free
	Copy             units.Rate  // local copy; 0 is free
	Window           units.Bytes // what a thread reads of a peer before it passes any on to others; 0: not measured
	MaxSize          units.Bytes // largest collective size that was fitted; 0 is unlimited
	MinSize          units.Bytes
	// From is the profile whose kernels it has, for want of measurements; "" where they are its own.
	From    string
	Error   string   // how well it fits, in words: in and out of sample
	Kernels []Kernel // of the communication library, where they were fitted
	// Execution is the profile of railyard's own kernels on such GPUs (see Running); "" where there is none.
	Execution string
	// GPU is the name, as its driver has it, of the GPUs on which Methods were measured.
	GPU     string
	Methods []Method
}

// Curve is the cost of one transfer (one Send over one route) for a medium and a
// protocol: the segment with From ≤ bytes < next From applies.
type Curve struct {
	Medium   string // nvlink, xgmi, pcie, net, host, any
	Protocol string // simple, ll, ll128, any
	// Smooth: α and the time of a byte change evenly, on a scale of factors of the size, from
	// one segment's From to the next; else a segment holds up to the next.
	Smooth   bool
	Launch   units.Time // what a launch costs besides the profile's, where its kernels do not overlap (copy engines)
	Peer     units.Time // what each further peer costs that one operation hears from, or whose memory it stores to
	Segments []Segment
}

// Segment is α + s/β. Rate caps one transfer; Efficiency scales the line rate that
// all transfers of a link share.
type Segment struct {
	From       units.Bytes
	Alpha      units.Time
	AlphaCI    units.Time // half of the 95 % interval
	Rate       units.Rate // 0: no cap
	RateCI     units.Rate
	Efficiency float64 // (0,1]; 0 means 1
}
