package planner

import (
	"math"

	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/model/units"
)

// Bounds gives times that schedules cannot beat, from their structure alone, without
// compiling them: what most candidates are ruled out by. It looks at
//
//   - the longest chain of messages that the generators make, each at the least latency
//     that there is between two ranks, or between two nodes where it must cross;
//   - one node's programs: the messages of a connection follow one another, and what
//     enters and leaves the node and its devices has to fit through their links.
//
// Bounds is not safe for concurrent use.
type Bounds struct {
	t       *topology.Topology
	profile *cost.Profile
	router  *topology.Router
	routes  map[[2]int32]*routeCost
	node    int     // the widest node, in ranks: ranks that far apart are on different ones
	view    int     // whose programs are looked at; −1: those of the root's node
	routed  int     // to how many ranks of other nodes each
	step    float64 // ps: the least latency of a message
	across  float64 // ps: the same between nodes

	crossings map[[2]int]float64             // by node and direction: bytes/s
	outlines  map[*schedule.Channel]*outline // by first channel, which protocols share
}

// NewBounds prepares bounds for a topology and a profile.
func NewBounds(t *topology.Topology, p *cost.Profile) *Bounds {
	b := &Bounds{t: t, profile: p, router: topology.NewRouter(t), view: -1, routed: maxRouted, routes: map[[2]int32]*routeCost{},
		crossings: map[[2]int]float64{}, outlines: map[*schedule.Channel]*outline{}}
	perNode := make([]int, t.NumNodes())
	for r := range t.NumRanks() {
		n := t.NodeOf(r)
		perNode[n]++
		b.node = max(b.node, perNode[n])
	}
	least := leastAlpha(p)
	b.step, b.across = least, least
	if p.Latencies {
		b.step += float64(nearest(t, func(r int) int32 { return int32(r) }))
		b.across += float64(nearest(t, func(r int) int32 { return int32(t.NodeOf(r)) }))
	}
	return b
}

// leastAlpha is the smallest α of a profile.
func leastAlpha(p *cost.Profile) float64 {
	least := math.Inf(1)
	for m := topology.NVLink; m <= topology.Network; m++ {
		for _, proto := range []schedule.Protocol{schedule.Simple, schedule.LL, schedule.LL128} {
			if !p.Covers(m, string(proto)) {
				return 0
			}
		}
	}
	for _, c := range p.Curves {
		if c.Protocol == cost.Flag || c.Protocol == cost.RelaxedFlag {
			continue // no schedule sends them by themselves
		}
		for _, s := range c.Segments {
			least = min(least, float64(s.Alpha))
		}
	}
	return least
}

// slack is what bounds give away for the rounding of floating-point sums.
const slack = 1 - 1e-9

// Time is a time that a schedule cannot beat at a size.
func (b *Bounds) Time(s *schedule.Schedule, size units.Bytes) units.Time {
	o, ok := b.outlines[&s.Channels[0]]
	if !ok {
		o = b.outline(s)
		b.outlines[&s.Channels[0]] = o
	}
	x := &sizedBound{b: b, s: s}
	for c := range s.Channels {
		x.chunk = append(x.chunk, s.ChunkBytes(c, size))
	}
	t := 0.0
	for i := range o.chains {
		t = max(t, o.chains[i].time(x))
	}
	for i := range o.loads {
		t = max(t, o.loads[i].time(x))
	}
	return b.profile.Launch + units.Time(min(t*slack, float64(units.MaxTime/4)))
}

// outline is what of a schedule bounds its time, whatever the size.
type outline struct {
	chains []chain
	loads  []linkLoad
}

func (b *Bounds) outline(s *schedule.Schedule) *outline {
	o := &outline{}
	n := newNodeView(b, s)
	for c := range s.Channels {
		ch := chain{phases: b.chain(&s.Channels[c], s.Spec.Ranks)}
		for k := range ch.phases {
			if s.Spec.Kind != collective.AllToAllV { // whose messages differ in size
				ch.phases[k].conns = n.phase(c, k)
			}
			ch.phases[k].slices = float64(s.Channels[c].Slices)
		}
		o.chains = append(o.chains, ch)
	}
	o.loads = n.loads()
	return o
}

// chain is the phases of a channel.
type chain struct{ phases []phaseBound }

// phaseBound is what is known of a phase: begin is when its first message can move,
// after how long after the end of the phase the collective can end, in ps; conns are
// connections in it.
type phaseBound struct {
	begin, end, after float64
	slices            float64
	conns             []connBound
}

// time is the largest of the bounds of the phases.
func (c *chain) time(x *sizedBound) float64 {
	t := 0.0
	for i := range c.phases {
		p := &c.phases[i]
		t = max(t, p.end+p.after)
		for j := range p.conns {
			t = max(t, p.begin+p.slices*x.conn(&p.conns[j])+p.after)
		}
	}
	return t
}

// chain follows the first slice through the phases. all is a time before which no rank
// ends the phase before, root one before which the root of the phase before does not.
func (b *Bounds) chain(ch *schedule.Channel, ranks int) []phaseBound {
	out := make([]phaseBound, len(ch.Phases))
	after := make([]float64, len(ch.Phases))
	all, root := 0.0, 0.0
	for k := range ch.Phases {
		ph := &ch.Phases[k]
		g := b.groups(ph, ranks)
		if k > 0 && !sameRoot(&ch.Phases[k-1], ph) {
			root = all
		}
		p := &out[k]
		p.begin = all
		switch {
		case !g.regular:
			p.end = all
		case ph.Op == collective.Broadcast || ph.Op == collective.Scatter:
			all = max(all, root)
			p.begin, p.end = all, all+b.depth(ph, g)
		case ph.Op == collective.Reduce || ph.Op == collective.Gather:
			root = max(root, all+b.depth(ph, g))
			p.end = root
		default:
			all += b.steps(ph, g)
			p.end = max(all, root)
			if ph.Gen == schedule.GenTree { // barrier: and down again
				p.end += b.depth(ph, g)
			}
			after[k] = b.hop(g, 1)
		}
	}
	for k := len(out) - 2; k >= 0; k-- {
		out[k].after = out[k+1].after + after[k+1]
	}
	return out
}

// sameRoot reports whether two phases have the same groups and root.
func sameRoot(a, b *schedule.Phase) bool {
	if a.Root != b.Root || a.Groups.Grid != b.Groups.Grid || len(a.Groups.List) != len(b.Groups.List) {
		return false
	}
	return len(a.Groups.List) == 0 || &a.Groups.List[0] == &b.Groups.List[0]
}
