package sim

import (
	"fmt"
	"slices"

	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/schedule"
	"railyard/model/symmetry"
	"railyard/model/topology"
)

// compiler is the working memory of Compile.
type compiler struct {
	*Plan
	x        *schedule.Expander // of the job at hand
	job      *Job
	row      int64              // what its ranks send at most, by counts
	counted  bool               // it is an all_to_allv
	levels   bool               // the profile has levels of memory
	self     int32              // rank at hand, the job's number
	router   *topology.Router   // where networks spread
	paths    []*schedule.Routes // by job: the ways that its schedule names
	routeOf  map[routeKey]int32
	hops     int // of all routes
	orbits   orbits
	teams    teamRoutes
	connOf   []map[connKey]int32 // by phase of the channel at hand; one for all where no symmetry moves them
	ends     []ends              // by connection
	receives []int32             // where laneConns has connections on which lanes receive, if some stand for others
	shape    []int32
	sizeOf   sizeTable

	programs interner[op]
	seqTable interner[int32]
	progSeqs map[int32][]sequence // by first op of a program
	peers    []int32              // by rank: its connections in the lane at hand (out, in)
	stamp    []int32              // by rank: the lane that peers belongs to
	prog     []op
	loop     loop // of prog
	conn     []int32
	with     []int32 // by local connection: the peer
	out      []bool  // the same: the lane sends on it
	turned   map[turnKey]*turnedProgram
}

// ends says what both programs do on a connection.
type ends struct{ send, recv sequence }

// sequence is a sequence of sizes: seqs[first:first+n], with a loop.
type sequence struct {
	first, n int32
	loop     loop
}

// total is how many messages it has.
func (s *sequence) total() int64 { return int64(s.n) + s.loop.extra() }

func newCompiler(t *topology.Topology, jobs []Job, p *cost.Profile, o CompileOptions) (*compiler, error) {
	if o.Hashing != nil && o.router == nil {
		o.router = topology.NewECMPRouter(t, 0)
	}
	c := &compiler{
		Plan:     &Plan{topo: t, jobs: jobs, strands: strandsOf(jobs), profile: p, options: o, steps: -1},
		router:   o.Routes,
		routeOf:  map[routeKey]int32{},
		progSeqs: map[int32][]sequence{}, turned: map[turnKey]*turnedProgram{},
		peers: make([]int32, 2*t.NumRanks()), stamp: slices.Repeat([]int32{-1}, 2*t.NumRanks()),
	}
	if c.router == nil {
		c.router = topology.NewRouter(t)
	}
	for i := range jobs {
		paths, err := c.pathsOf(&jobs[i])
		if err != nil {
			return nil, err
		}
		c.paths = append(c.paths, paths)
	}
	c.programs.init(op.key)
	c.seqTable.init(func(s int32) uint64 { return uint64(s) })
	c.shape = shapes(c.Plan)
	c.sizeOf.init()
	return c, nil
}

// pathsOf are the ways that a job's schedule names, on the ranks that it was made for; placed on others, it takes the routes of the
// topology.
func (c *compiler) pathsOf(j *Job) (*schedule.Routes, error) {
	if j.Ranks != nil {
		return &schedule.Routes{}, nil
	}
	return j.Schedule.NewRoutes(c.router, c.topo)
}

// shapes gives channels of a job whose chunks have equal sizes the same number: that of
// the first of them.
func shapes(p *Plan) []int32 {
	out := make([]int32, len(p.strands))
	for i := range p.strands {
		a := p.channel(int32(i))
		for j := range p.strands[:i+1] {
			b := p.channel(int32(j))
			if p.strands[i].job == p.strands[j].job && a.Share == b.Share && a.Slices == b.Slices && a.Chunks == b.Chunks {
				out[i] = int32(j)
				break
			}
		}
	}
	return out
}

// expand compiles all programs, lane by lane: only one is held at a time.
func (c *compiler) expand() error {
	var buf []schedule.Op
	var marks []mark // by channel
	for ch, s := range c.strands {
		marks = append(marks, c.mark())
		if c.begin(s.job); s.channel == 0 && len(c.profile.Memory) > 0 {
			c.scratch = append(c.scratch, c.x.ScratchChunks())
		}
		if like := c.copied(ch); like >= 0 {
			if err := c.copy(ch, like, marks); err != nil {
				return err
			}
			continue
		}
		phases := c.channel(int32(ch)).Phases
		ranks, times := c.representatives(ch)
		stay := c.symmetry == nil || c.symmetry.back[ch] == nil
		c.connOf = connections(len(phases), stay)
		for ph := range phases { // neighbours of a phase lie side by side
			if stay {
				clear(c.connOf[ph])
			}
			if err := c.findTeams(int(s.channel), ph, ranks); err != nil {
				return err
			}
			for _, r := range ranks {
				id := int32(len(c.lanes))
				c.self = r
				l := lane{rank: c.job.rank(c.self), channel: int32(ch), phase: int32(ph), before: -1, after: -1, sibling: -1, times: times}
				if c.symmetry != nil {
					l.times *= c.symmetry.multiplicity(r)
				}
				if ph > 0 && !phases[ph].Apart {
					l.before = id - int32(len(ranks))
				}
				if ph+1 < len(phases) && !phases[ph+1].Apart {
					l.after = id + int32(len(ranks))
				}
				var err error
				if buf, err = c.compileLane(id, &l, buf, s, int(r)); err != nil {
					return err
				}
				if c.options.Operations > 0 && c.compiled > c.options.Operations {
					return ErrTooLong
				}
				c.lanes = appended(c.lanes, l)
			}
		}
	}
	c.ops, c.seqs = c.programs.all, c.seqTable.all
	return nil
}

// begin turns to a job.
func (c *compiler) begin(job int32) {
	if c.job == &c.jobs[job] {
		return
	}
	c.job = &c.jobs[job]
	c.row, c.counted = c.job.Schedule.Spec.LargestRow(), c.job.Schedule.Spec.Kind == collective.AllToAllV
	c.levels = len(c.profile.Memory) > 0
	c.x = schedule.NewExpander(c.job.Schedule)
}

// program is that of a rank in a phase, in a single slice what repeats only once.
func (c *compiler) program(buf []schedule.Op, s strand, phase, rank int) ([]schedule.Op, schedule.Loop) {
	if s.slices > 1 || c.options.Flat {
		return c.x.AppendProgram(buf, int(s.channel), phase, rank), schedule.Loop{}
	}
	return c.x.AppendOnce(buf, int(s.channel), phase, rank)
}

// representatives says which ranks of a channel are compiled, and how many lanes each lane
// stands for.
func (c *compiler) representatives(channel int) (ranks []int32, times int32) {
	y := c.symmetry
	switch {
	case y == nil:
		return symmetry.InPlace(c.job.Schedule.Spec.Ranks), 1
	case y.times[channel] == 0:
		return nil, 0
	}
	return y.ranks(y), y.times[channel]
}

// joins reports whether a connection may stand for several of its sender's.
func (c *compiler) joins() bool { return c.symmetry != nil && c.symmetry.joins }

// lane compiles one program and enters it and its connections.
func (c *compiler) lane(id int32, l *lane, ops []schedule.Op, again schedule.Loop) error {
	c.prog, c.conn, c.with, c.out = c.prog[:0], c.conn[:0], c.with[:0], c.out[:0]
	c.loop = loop{laps: 1}
	for i := range ops {
		if again.Times > 1 && i == again.First {
			c.loop.from, c.loop.laps = int32(len(c.prog)), int32(again.Times)
		}
		if again.Times > 1 && i == again.End {
			c.loop.to = int32(len(c.prog))
		}
		var err error
		switch o := &ops[i]; o.Kind {
		case schedule.Multicast, schedule.SwitchReduce:
			err = eachMessage(o, func(o *schedule.Op) error { return c.operation(id, l, o) })
		default:
			err = c.operation(id, l, o)
		}
		if err != nil {
			return err
		}
	}
	if c.joins() {
		if err := c.join(); err != nil {
			return err
		}
		for i, out := range c.out {
			if !out {
				c.receives = append(c.receives, int32(len(c.laneConns)+i))
			}
		}
	}
	n := int32(len(c.prog))
	if c.loop.to == 0 {
		c.loop.to = n // of the loop, if there is one, or of all
	}
	first, err := c.programs.intern(append(c.prog, c.loop.marks()...))
	if err != nil {
		return err
	}
	l.first, l.end, l.loop = first, first+n, c.loop
	return c.enter(id, l)
}

// enter enters a compiled lane's connections.
func (c *compiler) enter(id int32, l *lane) error {
	l.conns = int32(len(c.laneConns))
	c.laneConns = appended(c.laneConns, c.conn...)
	return c.sequences(id, l)
}

// operation appends an operation to the program at hand.
func (c *compiler) operation(id int32, l *lane, o *schedule.Op) error {
	out := op{kind: o.Kind, conn: -1}
	if o.Peer >= 0 {
		k, err := c.local(id, l, o)
		if err != nil {
			return err
		}
		out.conn = k
	}
	out.size = c.size(l, o)
	c.prog = append(c.prog, out)
	return nil
}

// local is the lane's number of the connection that an operation uses.
func (c *compiler) local(id int32, l *lane, o *schedule.Op) (int32, error) {
	out := o.Kind == schedule.Send
	slot := 2 * c.job.rank(o.Peer)
	if !out {
		slot++
	}
	if c.stamp[slot] == id {
		return c.peers[slot], nil
	}
	k, err := c.connect(l, o.Peer, out)
	if err != nil {
		return 0, err
	}
	at := int32(len(c.conn))
	c.stamp[slot], c.peers[slot] = id, at
	c.conn, c.with, c.out = append(c.conn, k), append(c.with, o.Peer), append(c.out, out)
	return at, nil
}

// sequences notes, for each of the lane's connections, the sizes of its messages. They
// are worked out once for each distinct program.
func (c *compiler) sequences(id int32, l *lane) error {
	if l.first == l.end {
		return nil
	}
	seqs, ok := c.progSeqs[l.first]
	if !ok {
		var err error
		if seqs, err = c.newSequences(); err != nil {
			return err
		}
		c.progSeqs[l.first] = seqs
	}
	for i, k := range c.conn {
		if c.out[i] {
			c.ends[k].send = seqs[i]
		} else {
			c.ends[k].recv = seqs[i]
			c.conns[k].receiver = id
		}
	}
	return nil
}

func (c *compiler) newSequences() ([]sequence, error) {
	lists, loops := make([][]int32, len(c.conn)), make([]loop, len(c.conn))
	for i := range c.prog {
		if k := c.prog[i].conn; k >= 0 {
			lists[k] = append(lists[k], c.prog[i].size)
			if int32(i) < c.loop.from {
				loops[k].from++
			}
			if int32(i) < c.loop.to {
				loops[k].to++
			}
		}
	}
	out := make([]sequence, len(lists))
	for i, list := range lists {
		first, err := c.seqTable.intern(list)
		if err != nil {
			return nil, err
		}
		loops[i].laps = c.loop.laps
		if n := int32(len(list)); loops[i].from == loops[i].to {
			loops[i] = once(n)
		}
		out[i] = sequence{first, int32(len(list)), loops[i]}
	}
	return out, nil
}

// match checks that both ends of every connection agree.
func (c *compiler) match() error {
	for i := range c.conns {
		k, e := &c.conns[i], c.ends[i]
		if !c.equal(e.send, e.recv) {
			r := c.routes[k.route]
			what := "of other sizes"
			if e.send.total() != e.recv.total() {
				what = fmt.Sprintf("%d", e.recv.total())
			}
			return fmt.Errorf("rank %d sends %d messages to rank %d on channel %d, phase %d, which receives %s: check the schedule", r.src,
				e.send.total(), r.dst, k.channel, k.phase, what)
		}
		k.messages = e.send
	}
	if c.joins() {
		c.numberInboxes(c.receives)
	}
	c.ends, c.connOf, c.routeOf = nil, nil, nil
	return nil
}

// equal reports whether two sequences are of the same messages.
func (c *compiler) equal(a, b sequence) bool {
	if a == b {
		return true
	}
	n := a.total()
	if n != b.total() {
		return false
	}
	for x, y := newCursor(a.loop, a.n), newCursor(b.loop, b.n); n > 0; n-- {
		sent, received := c.seqs[a.first+x.next()], c.seqs[b.first+y.next()]
		if sent != received && !c.sizes[sent].equal(c.sizes[received]) {
			return false
		}
	}
	return true
}

// size is the index of an operation's size.
func (c *compiler) size(l *lane, o *schedule.Op) int32 {
	z := size{shape: c.shape[l.channel], n: int64(o.Dst.Set.Len())}
	switch o.Kind {
	case schedule.Send:
		z.n, z.fresh = int64(o.Src.Set.Len()), c.levels && o.Src.Buf != schedule.Input
		if c.counted {
			return c.countedSize(l, o, z)
		}
	case schedule.Recv, schedule.Copy:
		if c.counted {
			return c.countedSize(l, o, z)
		}
	case schedule.Reduce:
		if k := int64(len(o.Srcs)); c.profile.Sum > 0 && c.job.Schedule.Protocol == schedule.CopyEngine {
			z.summed = true
			z.n *= k + 1
		} else { // a sum of k operands reads k−1 of them once more
			z.n *= max(k-1, 1)
		}
	}
	return c.Plan.addSize(&c.sizeOf, z)
}

// countedSize is that of what an all_to_allv moves.
func (c *compiler) countedSize(l *lane, o *schedule.Op, z size) int32 {
	z.scaled, z.n = true, int64(c.job.Schedule.CountedBytes(int(c.strand(l.channel).channel), int(c.self), o, million, c.row))
	return c.Plan.addSize(&c.sizeOf, z)
}
