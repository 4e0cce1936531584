package sim

import (
	"errors"
	"fmt"

	"railyard/model/cost"
	"railyard/model/schedule"
	"railyard/model/topology"
)

// Plan is a schedule compiled for a topology and a profile; it runs at any size.
// A Plan is not safe for concurrent use.
type Plan struct {
	topo    *topology.Topology
	jobs    []Job
	strands []strand // by channel, those of all jobs end to end
	profile *cost.Profile
	options CompileOptions

	routes    []route
	conns     []conn
	laneConns []int32 // by lane: connections in the order in which its program first names them (see lane)
	inboxes   []int32 // where messages wait for a receiver, by connection: their connections; nil: each has one, of its own number
	lanes     []lane
	ops       []op    // the distinct programs, end to end
	seqs      []int32 // the distinct lists of messages, end to end: indices into sizes
	sizes     []size
	classes   []costClass
	res       []resource
	wires     []wire    // that any route uses, ascending
	scratch   [][]int64 // by job and its channel: chunks of scratch in use, where the profile has levels of memory

	base     *Plan              // the plan that this one is folded from, nil if it is not
	symmetry *nodeSymmetry      // that was used to compile few nodes for all, nil if none was
	links    *topology.Symmetry // of whose orbits one link stands for all; nil: each for itself
	whole    *Plan              // the plan without any folding, once it was needed
	eng      *engine            // working memory, reused between runs
	steps    int64              // longest chain of dependent messages, once known
	compiled int64              // operations, those of one slice
	limit    int64              // looks, see Limited
}

// route is what all connections of a job between two ranks share; where networks hash, or channels have carriers of their own,
// those of one channel.
type route struct {
	src, dst int32
	job      int32
	strand   int32 // the channel's; 0 for all
	times    int32 // how many routes it stands for, channels counted
	class    int32
	team     bool    // full holds only its part of what is sent once for several
	leaving  float64 // the part of its bytes that its source sends for it: less than all where switches make the copies
	full     topology.Route
	copies   []int32 // by hop of full: how many links of its orbit; nil: one each; where links have orbits, both until they are hops
	hops     []hop   // full.Hops by index into Plan.wires
	use      []usage // resources that it shares with other connections
	solo     float64 // bytes/s that a transfer gets alone
	private  float64 // bytes/s that the resources it does not share allow
}

// hop is a wire with the share of the route's bytes that cross it.
type hop struct {
	wire  int32
	share float64
}

// usage is a resource that a route loads with weight bytes for each byte it moves, by
// as many transfers as one stands for there. Several of a resource, which differ in their weights, lie side by side.
type usage struct {
	res, count int32
	weight     float64
	load       uint64 // of both, at full efficiency
}

func newUsage(res int32, weight float64, count int32) usage {
	return usage{res, count, weight, fixedWeight(weight, count)}
}

// conn is a FIFO between two lanes.
type conn struct {
	route    int32
	channel  int32 // strand
	phase    int32
	messages sequence // of one slice
	receiver int32    // lane; of several, one
	sibling  int32    // the next connection that a send on this one also means, −1
	times    int32    // how many connections it stands for
}

// lane is the program of a rank in a phase of a channel: ops[first:end], with a loop that
// counts from first. Connection i
// of those is laneConns[conns+i]: where it sends, the connection, −1 where another send
// means that one too; where it receives, the inbox. Ranks are the topology's, channels
// strands.
type lane struct {
	rank, channel, phase int32
	first, end           int32
	loop                 loop
	conns                int32
	before, after        int32 // lanes of the phase before and after on this rank, −1
	sibling              int32 // the next lane after the same one, −1
	times                int32 // how many lanes it stands for
	group                int32 // which lanes begin an operation together (see row.go)
}

// op is an operation compiled. conn counts the lane's connections; −1 for local work.
type op struct {
	kind schedule.OpKind
	conn int32
	size int32 // index into Plan.sizes: bytes moved, combined or copied
}

// CompileOptions say how a plan is made. The zero value spreads transfers and folds.
type CompileOptions struct {
	Flat    bool     // no folding, no loops: the oracle of other plans, which take the same time to the picosecond
	Hashing *Hashing // networks hash flows; nil: they spread them
	// Congested is the share of its rate that a port of a network's switch carries while several messages compete for it
	// (see congestion.go); 0: all of it.
	Congested float64
	// Connections and Operations are how many may be compiled, each by itself where no symmetry is claimed; beyond,
	// compilation is given up with ErrTooLong. 0: any number.
	Connections int // with routes of a few hops, which take memory too
	Operations  int64

	Routes *topology.Router // of the topology: what it has found is not sought again; nil: one of its own
	Like   *Plan            // of a schedule whose channels share the programs of this one's: its symmetry is not sought again; nil: none

	router *topology.Router // where networks hash: of any seed
}

// Compile prepares a schedule, folded where ranks are equivalent. It fails where two ranks
// that talk have no route, or where the ends of a connection disagree about its messages.
func Compile(t *topology.Topology, s *schedule.Schedule, p *cost.Profile) (*Plan, error) {
	return CompileJobs(t, []Job{{Schedule: s}}, p, CompileOptions{})
}

// CompileFlat is Compile without folding.
func CompileFlat(t *topology.Topology, s *schedule.Schedule, p *cost.Profile) (*Plan, error) {
	return CompileJobs(t, []Job{{Schedule: s}}, p, CompileOptions{Flat: true})
}

// CompileJobs is Compile for collectives that run at once.
func CompileJobs(t *topology.Topology, jobs []Job, p *cost.Profile, o CompileOptions) (*Plan, error) {
	if len(jobs) == 0 {
		return nil, errors.New("sim: there is no job")
	}
	o.Flat = o.Flat || p.Serial || p.Blocking // a processor is one rank's, and who waits one lane, not a class's
	alike := alikeNodes
	if o.Flat || o.Hashing != nil { // the oracle of other plans; flows on links of their own
		alike = nothingAlike
	}
	plan, err := compile(t, jobs, p, o, alike)
	for ; alike > nothingAlike && errors.Is(err, errAsymmetric); alike-- {
		plan, err = compile(t, jobs, p, o, alike-1)
	}
	if err != nil || o.Flat || plan.inboxes != nil {
		return plan, err
	}
	if q := fold(plan, nil); q != nil {
		return q, nil
	}
	return plan, nil
}

// alike is what is compiled once for all that is alike.
type alike uint8

const (
	nothingAlike alike = iota
	alikeLinks         // that no route tells apart
	alikeNodes         // and nodes, of one schedule
)

func compile(t *topology.Topology, jobs []Job, p *cost.Profile, o CompileOptions, what alike) (*Plan, error) {
	for i := range jobs {
		if err := jobs[i].validate(t); err != nil {
			if len(jobs) > 1 {
				err = fmt.Errorf("job %d: %w", i+1, err)
			}
			return nil, err
		}
	}
	c, err := newCompiler(t, jobs, p, o)
	if err != nil {
		return nil, err
	}
	if what == alikeNodes && len(jobs) == 1 && !c.rowed() && jobs[0].Ranks == nil && len(jobs[0].Schedule.Paths) == 0 {
		c.begin(0)
		c.symmetry = findSymmetry(t, jobs[0].Schedule, c.x, o.Like)
	}
	switch {
	case c.symmetry != nil:
		c.links = c.symmetry.Symmetry
	case what > nothingAlike:
		c.links = t.Standing()
	}
	if err := c.expand(); err != nil {
		return nil, err
	}
	c.group()
	if err := c.match(); err != nil {
		return nil, err
	}
	if err := c.mergeLinks(); err != nil {
		return nil, err
	}
	c.classify()
	return c.Plan, nil
}

// listed are the messages of a connection as they are listed, those of a loop once.
func (p *Plan) listed(k *conn) []int32 {
	return p.seqs[k.messages.first : k.messages.first+k.messages.n]
}
