package planner

import (
	"math"
	"slices"

	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/schedule"
	"railyard/model/symmetry"
	"railyard/model/topology"
	"railyard/model/units"
)

// Bounds gives times that schedules cannot beat, from their structure alone, without
// compiling them: what most candidates are ruled out by. It looks at one node's programs: the
// messages of a connection follow one another, and what
// enters and leaves the node and its devices has to fit through their links.
//
// Bounds is not safe for concurrent use.
type Bounds struct {
	Streams int // up to so many slices are on their way side by side; 0: 1

	t       *topology.Topology
	profile *cost.Profile
	router  *topology.Router
	routes  map[[2]int32]*routeCost
	view    int // whose programs are looked at; −1: those of the root's node, of the weakest where there is no root
	routed  int // to how many ranks of other nodes each

	outlines map[string][]*outline // by algorithm
	of       map[*schedule.Schedule]*outline
	cuts     symmetry.Numbering[cutKey] // those that were met
}

// NewBounds prepares bounds for a topology and a profile.
func NewBounds(t *topology.Topology, p *cost.Profile) *Bounds {
	return &Bounds{t: t, profile: p, router: topology.NewRouter(t), view: -1, routed: maxRouted, routes: map[[2]int32]*routeCost{},
		outlines: map[string][]*outline{}, of: map[*schedule.Schedule]*outline{}}
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
	o := b.outline(s)
	x := &sizedBound{b: b, s: s, costs: map[message]cost.Transfer{}}
	for c := range s.Channels {
		x.chunk = append(x.chunk, s.ChunkBytes(c, size))
	}
	t := 0.0
	for i := range o.conns {
		t = max(t, x.conn(&o.conns[i]))
	}
	for i := range o.loads {
		t = max(t, o.loads[i].time(x))
	}
	launch := b.profile.Launch
	if b.profile.Transfer(topology.Network, string(s.Protocol), 0).Row {
		launch = 0 // of one operation while messages of another move
	}
	return launch + units.Time(min(t*slack, float64(units.MaxTime/4)))
}

// outline is what of schedules that differ in slices and protocols alone bounds their times, whatever the size.
type outline struct {
	of    *schedule.Schedule
	conns []connBound
	loads []linkLoad
}

// outline is that of a schedule, worked out once for all that differ in slices and protocols alone.
func (b *Bounds) outline(s *schedule.Schedule) *outline {
	o, ok := b.of[s]
	if !ok {
		o = b.sameOutline(s)
		b.of[s] = o
	}
	return o
}

func (b *Bounds) sameOutline(s *schedule.Schedule) *outline {
	known := b.outlines[s.Algorithm]
	if i := slices.IndexFunc(known, func(o *outline) bool { return o.of.SameButSlices(s) }); i >= 0 {
		return known[i]
	}
	o := b.newOutline(s)
	b.outlines[s.Algorithm] = append(known, o)
	return o
}

func (b *Bounds) newOutline(s *schedule.Schedule) *outline {
	o, n := &outline{of: s}, newNodeView(b, s)
	if s.Spec.Kind == collective.AllToAllV {
		return o // messages differ in size
	}
	for c := range s.Channels {
		for k := range s.Channels[c].Phases {
			o.conns = append(o.conns, n.phase(c, k)...)
		}
	}
	o.loads = n.loads()
	return o
}
