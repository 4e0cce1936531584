package sim

import (
	"math"

	"railyard/model/symmetry"
	"railyard/model/units"
)

// Folding plays what is alike only once. Lanes, connections and resources are coloured
// by what they are; then, until nothing changes, by the colours of what decides when they
// do something: a lane by those of the connections on which it receives and of the phase
// before it, a connection by the lane that sends on it (and when, see usesOf) and its
// resources, a resource by the multiset of its connections. Who receives makes no
// difference, since nobody waits for a receiver. The result is the coarsest partition of
// that kind. All members of a class do the same at the same time, because what decides it,
// the programs, the prices and the max-min fair rates, depends on colours alone; so a plan
// of one representative a class, in which a transfer loads a resource as often as its
// class does there, and a message goes to as many inboxes as classes receive it, takes
// exactly as long.
//
// M. Grohe, K. Kersting, M. Mladenov, E. Selman, "Dimension reduction via colour
// refinement", ESA 2014. Complexity: O(size × rounds).

// maxRounds bounds the refinement. Where colours have to travel further (a chain), there
// is little to fold.
const maxRounds = 64

// fold returns the plan of the representatives, or nil where that is hardly smaller.
// Ranks that start at different times (see Options.Delays) are not alike.
func fold(p *Plan, delays []units.Time) *Plan {
	f := newFolder(p, delays)
	if !f.refine() {
		return nil
	}
	return f.quotient()
}

// folder refines colours.
type folder struct {
	p      *Plan
	sender []int32             // by connection: lane
	groups [][]int32           // lanes that begin together, where operations follow one another
	place  []int32             // by connection: its number among the lane's
	uses   map[int32][]connUse // by first operation of a program
	colour colours
	next   colours
}

// colours of everything. Equal colours mean equal hashes of all that was looked at.
type colours struct{ lane, conn, res []uint64 }

func newColours(p *Plan) colours {
	return colours{make([]uint64, len(p.lanes)), make([]uint64, len(p.conns)), make([]uint64, len(p.res))}
}

func newFolder(p *Plan, delays []units.Time) *folder {
	f := &folder{p: p, sender: make([]int32, len(p.conns)), place: make([]int32, len(p.conns)), uses: map[int32][]connUse{},
		colour: newColours(p), next: newColours(p)}
	for i := range p.res {
		kind := uint64(1)
		if side := p.res[i].node; side != nil && side.carrier { // of which a message takes more than its bytes
			kind = 8
		} else if side != nil {
			kind = 7
		}
		f.colour.res[i] = symmetry.Mix(symmetry.Mix(kind, uint64(fixedRate(p.res[i].capacity))), uint64(fixedRate(p.res[i].congestedRate)))
	}
	for i := range p.conns {
		k := &p.conns[i]
		f.colour.conn[i] = symmetry.Mix(symmetry.Mix(2, uint64(p.routes[k.route].class)), k.messages.colour())
	}
	for i := range p.lanes {
		l := &p.lanes[i]
		s := p.strand(l.channel)
		f.colour.lane[i] = symmetry.Mix(symmetry.Mix(3+uint64(s.job)<<8, uint64(l.first)<<32|uint64(uint32(l.end))), uint64(s.slices))
		if delays != nil && l.before < 0 {
			f.colour.lane[i] = symmetry.Mix(f.colour.lane[i], uint64(delays[l.rank]))
		}
		uses := f.usesOf(l, len(p.connsOf(i)))
		for j, c := range p.connsOf(i) {
			if uses[j].sends {
				f.sender[c], f.place[c] = int32(i), int32(j)
				f.colour.conn[c] = symmetry.Mix(f.colour.conn[c], uses[j].when)
			}
		}
	}
	f.groups = p.groups()
	return f
}

// colour tells sequences apart.
func (s *sequence) colour() uint64 {
	l := &s.loop
	return symmetry.Mix(uint64(s.first)<<32|uint64(uint32(s.n)), symmetry.Mix(uint64(l.from)<<32|uint64(uint32(l.to)), uint64(l.laps)))
}

// connsOf are the connections of a lane, in the order of its program.
func (p *Plan) connsOf(lane int) []int32 {
	first, end := p.lanes[lane].conns, int32(len(p.laneConns))
	if lane+1 < len(p.lanes) {
		end = p.lanes[lane+1].conns
	}
	return p.laneConns[first:end]
}

// refine runs rounds until no class splits; false where there is nothing to fold.
func (f *folder) refine() bool {
	classes := f.classes()
	for range maxRounds {
		f.round()
		f.colour, f.next = f.next, f.colour
		n := f.classes()
		if n == classes {
			return true
		}
		if classes = n; 2*classes > len(f.p.lanes)+len(f.p.conns) {
			return false
		}
	}
	return false
}

// classes counts the colours of lanes, connections and resources.
func (f *folder) classes() int {
	of := func(colours []uint64) int { return len(symmetry.Number(colours).First) }
	return of(f.colour.lane) + of(f.colour.conn) + of(f.colour.res)
}

// round gives everything a new colour.
func (f *folder) round() {
	p, old, out := f.p, &f.colour, &f.next
	copy(out.res, old.res)
	for i := range p.conns {
		k := &p.conns[i]
		h := symmetry.Mix(old.conn[i], old.lane[f.sender[i]])
		around := uint64(0)
		for _, u := range p.routes[k.route].use {
			load := symmetry.Mix(uint64(u.count), math.Float64bits(u.weight))
			around += symmetry.Mix(old.res[u.res], load)
			out.res[u.res] += symmetry.Mix(old.conn[i], load)
		}
		out.conn[i] = symmetry.Mix(h, around)
	}
	for i := range out.res {
		out.res[i] = symmetry.Mix(out.res[i], 5)
	}
	for i := range p.lanes {
		l := &p.lanes[i]
		h := symmetry.Mix(old.lane[i], 6)
		conns, received := p.connsOf(i), uint64(0)
		for j, u := range f.usesOf(l, len(conns)) {
			if !u.sends {
				received += symmetry.Mix(old.conn[conns[j]], u.when)
			}
		}
		if h = symmetry.Mix(h, received); l.before >= 0 {
			h = symmetry.Mix(h, old.lane[l.before])
		}
		out.lane[i] = h
	}
	f.together()
}

// together has lanes differ whose ranks do, where these begin operations when they have ended others.
func (f *folder) together() {
	for _, lanes := range f.groups {
		sum := uint64(0)
		for _, l := range lanes {
			sum += symmetry.Mix(f.colour.lane[l], 8)
		}
		for _, l := range lanes {
			f.next.lane[l] = symmetry.Mix(f.next.lane[l], sum)
		}
	}
}
