package sim

import (
	"fmt"
	"math"

	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/model/units"
)

// Plan is a schedule compiled for a topology and a profile; it runs at any size.
// A Plan is not safe for concurrent use.
type Plan struct {
	topo     *topology.Topology
	sched    *schedule.Schedule
	profile  *cost.Profile
	routes   []route
	conns    []conn
	lanes    []lane
	ops      []op
	msgs     []msg
	channels int
	res      []resource
	eng      *engine // working memory, reused between runs
}

// route is what all connections between two ranks share.
type route struct {
	src, dst int32
	full     topology.Route
	use      []usage // resources it loads
}

// usage is a resource that a route loads with weight bytes for each byte it moves.
type usage struct {
	res    int32
	weight float64
}

// resource stands for links that are always loaded in the same proportion.
type resource struct {
	capacity float64 // bytes/s of the link that limits, at line rate
	links    []topology.LinkID
}

// conn is a FIFO between two lanes. Its messages of one slice are msgs[first:first+per].
type conn struct {
	route    int32
	channel  int32
	phase    int32
	first    int32
	per      int32
	receiver int32 // lane
}

// msg is a message of a connection: how many chunks it moves (all_to_allv: its bytes
// are scaled by num/den instead).
type msg struct{ chunks, num int64 }

// lane is the program of a rank in a phase of a channel.
type lane struct {
	rank, channel, phase int32
	first, end           int32 // ops
	before, after        int32 // lanes of the phase before and after on this rank, −1
}

// op is an operation compiled: conn for moves; chunks for local work.
type op struct {
	kind   schedule.OpKind
	conn   int32
	chunks int64
	fan    int32 // Reduce: number of sources
}

// Compile prepares a schedule. It fails where two ranks that talk have no route.
func Compile(t *topology.Topology, s *schedule.Schedule, p *cost.Profile) (*Plan, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	if t.NumRanks() != s.Spec.Ranks {
		return nil, fmt.Errorf("the schedule is for %d ranks, %s has %d", s.Spec.Ranks, t.Name(), t.NumRanks())
	}
	plan := &Plan{topo: t, sched: s, profile: p, channels: len(s.Channels)}
	c := &compiler{Plan: plan, x: schedule.NewExpander(s), router: topology.NewRouter(t),
		routeOf: map[[2]int32]int32{}, connOf: map[connKey]int32{}}
	if err := c.lanes2ops(); err != nil {
		return nil, err
	}
	if err := c.connect(); err != nil {
		return nil, err
	}
	c.mergeLinks()
	return plan, nil
}

type connKey struct{ src, dst, channel, phase int32 }

type compiler struct {
	*Plan
	x       *schedule.Expander
	router  *topology.Router
	routeOf map[[2]int32]int32
	connOf  map[connKey]int32
	perConn [][]msg
	recvs   []int32 // receives per connection, to match sends
}

// lanes2ops expands all programs, lane by lane.
func (c *compiler) lanes2ops() error {
	var buf []schedule.Op
	for ch := range c.sched.Channels {
		phases := len(c.sched.Channels[ch].Phases)
		for r := range c.sched.Spec.Ranks {
			for ph := range phases {
				buf = c.x.AppendProgram(buf[:0], ch, ph, r)
				l := lane{rank: int32(r), channel: int32(ch), phase: int32(ph), first: int32(len(c.ops)), before: -1, after: -1}
				id := int32(len(c.lanes))
				if ph > 0 {
					l.before = id - 1
				}
				if ph+1 < phases {
					l.after = id + 1
				}
				for i := range buf {
					if err := c.addOp(id, &l, &buf[i]); err != nil {
						return err
					}
				}
				if len(c.ops) > math.MaxInt32/2 {
					return fmt.Errorf("the schedule has too many operations to simulate")
				}
				l.end = int32(len(c.ops))
				c.lanes = append(c.lanes, l)
			}
		}
	}
	return nil
}

func (c *compiler) addOp(id int32, l *lane, o *schedule.Op) error {
	out := op{kind: o.Kind, conn: -1, chunks: int64(o.Dst.Set.Len()), fan: int32(len(o.Srcs))}
	switch o.Kind {
	case schedule.Send:
		k, err := c.conn(connKey{l.rank, o.Peer, l.channel, l.phase})
		if err != nil {
			return err
		}
		out.conn, out.chunks = k, int64(o.Src.Set.Len())
		m := msg{chunks: out.chunks}
		if c.sched.Spec.Kind == collective.AllToAllV {
			m = c.scaled(int(l.rank), o)
		}
		c.perConn[k] = append(c.perConn[k], m)
	case schedule.Recv, schedule.RecvReduce:
		k, err := c.conn(connKey{o.Peer, l.rank, l.channel, l.phase})
		if err != nil {
			return err
		}
		out.conn = k
		c.conns[k].receiver = id
		c.recvs[k]++
	}
	c.ops = append(c.ops, out)
	return nil
}

// scaled sizes a message of all_to_allv in millionths of a uniform chunk.
func (c *compiler) scaled(rank int, o *schedule.Op) msg {
	return msg{num: int64(c.sched.MessageBytes(rank, o, millionth)), chunks: -1}
}

const millionth = 1e6

func (m msg) bytes(chunk units.Bytes) units.Bytes {
	if m.chunks >= 0 {
		return units.Bytes(m.chunks) * chunk
	}
	return units.Bytes(math.Ceil(float64(m.num) * float64(chunk) / millionth))
}

func (c *compiler) conn(k connKey) (int32, error) {
	if id, ok := c.connOf[k]; ok {
		return id, nil
	}
	r, err := c.route(k.src, k.dst)
	if err != nil {
		return 0, err
	}
	id := int32(len(c.conns))
	c.connOf[k] = id
	c.conns = append(c.conns, conn{route: r, channel: k.channel, phase: k.phase, receiver: -1})
	c.perConn = append(c.perConn, nil)
	c.recvs = append(c.recvs, 0)
	return id, nil
}

func (c *compiler) route(src, dst int32) (int32, error) {
	k := [2]int32{src, dst}
	if id, ok := c.routeOf[k]; ok {
		return id, nil
	}
	full, err := c.router.Route(int(src), int(dst))
	if err != nil {
		return 0, err
	}
	id := int32(len(c.routes))
	c.routeOf[k] = id
	c.routes = append(c.routes, route{src: src, dst: dst, full: full})
	return id, nil
}

// connect lays the connections' messages out and checks that both ends agree.
func (c *compiler) connect() error {
	for i := range c.conns {
		k := &c.conns[i]
		if int(c.recvs[i]) != len(c.perConn[i]) {
			r := c.routes[k.route]
			return fmt.Errorf("rank %d sends %d messages to rank %d on channel %d, which receives %d: check the schedule", r.src, len(c.perConn[i]), r.dst, k.channel, c.recvs[i])
		}
		k.first, k.per = int32(len(c.msgs)), int32(len(c.perConn[i]))
		c.msgs = append(c.msgs, c.perConn[i]...)
	}
	c.perConn = nil
	return nil
}
