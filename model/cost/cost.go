// Package cost says what hardware costs beyond the line rates of a topology. A Machine is a YAML file:
// what NCCL's kernels cost on it, what railyard's own cost, and which way is fastest there, each with
// its origin. A Profile is what one of these who run collectives costs.
package cost

import "railyard/model/units"

// Profile is what a runtime and its hardware add to the topology's lines. The zero
// profile with Latencies set is "line"; without, "ideal".
type Profile struct {
	Name string
	Origin
	// Latencies: count the latencies of the topology's links. False where α has them.
	Latencies bool `file:"latencies"`
	// Serial: a rank does one thing at a time, as a core does: its lanes take turns to fetch
	// messages and to combine. A GPU has blocks of threads for each.
	Serial bool `file:"serial"`
	// Blocking: a lane moves itself what it sends, as a thread block of MSCCL++'s executor does: it goes on when the message is
	// there. Else something else moves it, and the lane goes on at once.
	Blocking bool        `file:"blocking"`
	Launch   units.Time  `file:"launch"`   // λ: from the call to the first byte
	Reduce   units.Rate  `file:"reduce"`   // γ: bytes combined per second by one channel's program; 0 is free
	Copy     units.Rate  `file:"copy"`     // local copy; 0 is free
	LocalOp  units.Time  `file:"local_op"` // what an operation of blocks in their GPU's own memory takes, however small
	Sum      units.Rate  `file:"sum"`      // bytes added per second to others in the same memory by a kernel of its own; 0: as Reduce
	Window   units.Bytes `file:"window"`   // what a thread reads of a peer before it passes any on to others; 0: not measured
	MinSize  units.Bytes `file:"min_size"`
	MaxSize  units.Bytes `file:"max_size"` // largest collective size that was fitted; 0 is unlimited
	MaxGPUs  int         `file:"max_gpus"` // most that it was fitted on, where more may share what few do not; 0 is unlimited
	// Memory is what a host's cores reach, by the size of the buffers; ascending. Where it is
	// there, curves say what a message costs and Memory what its bytes do.
	Memory    []Level    `file:"memory,lines"`
	Curves    []Curve    `file:"curves"`
	Estimates []Estimate `file:"estimates,lines"` // what NCCL's own estimates are off by, for all machines together
	Bands     []Band     `file:"bands,lines"`     // how far predictions are off, for all machines together
	Kernels   []Kernel   `file:"kernels"`         // of NCCL, where they were fitted
	Hardware  `file:"-"` // the machine's
}

// Hardware is what holds for all who run on a machine: parameters of messages, of what copies, and
// of transfers between nodes; those that are missing are the shipped ones (see Complete).
type Hardware struct {
	MessageProtocols []Protocol `file:"protocols"`
	Engines          []Engine   `file:"engines"`
	Steps            *Steps     `file:"steps"`
	Access           *Access    `file:"access"` // nil: not measured
}

// Curve is the cost of one transfer (one Send over one route) for a medium and a
// protocol: the segment with From ≤ bytes < next From applies.
type Curve struct {
	Medium   string `file:"medium,need"`   // nvlink, xgmi, pcie, network, membus, any
	Protocol string `file:"protocol,need"` // simple, ll, ll128, any
	// Smooth: α and the time of a byte change evenly, on a scale of factors of the size, from
	// one segment's From to the next; else a segment holds up to the next.
	Smooth bool       `file:"smooth"`
	Launch units.Time `file:"launch"` // what a launch costs besides the profile's, where its kernels do not overlap (copy engines)
	Peer   units.Time `file:"peer"`   // what each further peer costs that one operation hears from, or whose memory it stores to
	Gap    units.Time `file:"gap"`    // LogGP's g: from one message that an adapter is handed to the next, however small
	// Part: where messages of all channels from a rank to another leave at once, with one gap, what each but the first adds to it. 0: each
	// message has a gap of its own.
	Part units.Time `file:"part"`
	// Ahead: α of a message passes while those before it on its connection move, as where many are under way at once; else its
	// bytes begin to move α after the last ones have come.
	Ahead bool `file:"ahead"`
	// Row: what was timed are operations in a row. Each rank begins one Launch after it has ended the one before, and what is predicted
	// is what each takes, not when the first one ends.
	Row bool `file:"row"`
	// Receive is what a message takes of its receiver's program, a part of α: others wait for it. In a row it takes as much of its
	// sender's.
	Receive units.Time `file:"receive"`
	// What all messages that leave or enter a node by its adapters share, whatever their efficiency: memory, a switch of PCIe, cores
	// that copy. 0: nothing but links.
	Node    units.Rate `file:"node"`     // both ways together
	NodeWay units.Rate `file:"node_way"` // each way
	// Sustained is what they have each way while operations follow one another, where bursts go faster, as a shaper's bucket lets them:
	// one begins no sooner after another than its bytes take by it. 0: nothing but links. Where operations are played once, it
	// is NodeWay.
	Sustained units.Rate `file:"sustained"`
	// Carrier is the rate of what copies all messages that a rank sends or receives between nodes, such as a thread, which each keeps
	// busy for Gap, too. 0: not known; Gap is then an adapter's, each way. It is that with the largest messages; where it carries all of
	// them, it is as much faster with others as their Rate is, as caches make them, and so is what nodes share.
	Carrier units.Rate `file:"carrier"`
	// Channels: each channel has a carrier of its own, as a library's communicators have.
	Channels bool       `file:"channels"`
	Further  units.Time `file:"further"` // what each further channel adds once, as streams do that begin and end together
	Reduce   units.Rate `file:"reduce"`  // the profile's in schedules of this very protocol; 0: as there
	Copy     units.Rate `file:"copy"`
	Segments []Segment  `file:"segments,some,lines"`
	Origin   *Origin    // where it is not the profile's
}

// Segment is α + s/β. Rate caps one transfer; Efficiency scales the line rate that
// all transfers of a link share.
type Segment struct {
	From       units.Bytes `file:"from,ascends"`
	Alpha      units.Time  `file:"alpha"`
	AlphaCI    units.Time  `file:"alpha_ci"` // half of the 95 % interval
	Rate       units.Rate  `file:"rate"`     // 0: no cap
	RateCI     units.Rate  `file:"rate_ci"`
	Efficiency float64     `file:"efficiency,lo=0,hi=1"` // (0,1]; 0 means 1
}

// Ideal is line rates and nothing else; Line adds the latencies of the topology file.
var (
	Ideal = &Profile{Name: "ideal", Origin: Origin{Kind: LineRate, Source: "by definition: line rates, no latency, no overhead",
		Date: "2026-11-21"}}
	Line = &Profile{Name: "line", Origin: Origin{Kind: LineRate,
		Source: "by definition: the topology file's rates and latencies, no overhead", Date: "2026-11-21"}, Latencies: true}
)
