// Package blocks says what block programs have to do on a topology: the longest chain of
// messages, flags and operations that wait for one another, and the bytes that cross the
// fullest link. Schedules leave open which messages are pulled and which pushed, which
// sources one operation looks at together and which come one after another, and which
// phases overlap; block programs have decided it.
package blocks

import (
	"cmp"
	"fmt"
	"slices"

	"railyard/model/block"
	"railyard/model/cost"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/sim"
)

// Part is work of one protocol with messages of one size.
type Part struct {
	Medium   topology.Medium
	Protocol string
	Bytes    units.Bytes
	Messages float64    // that follow one another
	Peers    float64    // further ones that an operation hears from, or whose memory it stores to
	Line     units.Time // of bytes at line rate
	Latency  units.Time // of the topology's links, of all messages
	Slower   units.Time // since data are not aligned
	Local    units.Time // of operations in one GPU's memory; below 0: what blocks hide from one another
}

// Work is what a launch has to do.
type Work []Part

// Shape is how a rank's blocks run a program: their threads, the window (see Window), and the bytes of an element.
type Shape struct {
	Threads int
	Window  units.Bytes
	Element int
}

// Of is the work of a schedule's program under some costs, which say what its longest chain is.
// Bytes take what the schedule's messages do at line rate, where phases follow one another
// that load different links. Where operations pass on what they read, phases overlap, all
// but a window of each message (see Window): then the fullest link is all that is left. Of
// loads in a row most of what the later ones wait for hides behind these bytes (see pipelined).
func Of(t *topology.Topology, s *schedule.Schedule, p *block.Program, size units.Bytes, shape Shape, costs *cost.Profile) (Work, error) {
	m, err := newMachine(t, p, shape, costs)
	if err != nil {
		return nil, err
	}
	chain, err := m.longest()
	if err != nil {
		return nil, err
	}
	apart, err := sim.Run(t, s, size, ideal, sim.Options{})
	if err != nil {
		return nil, err
	}
	parts, data, err := m.busiest()
	if err != nil {
		return nil, err
	}
	line := float64(apart.Time)
	if n := m.passedOn(); n > 0 && data < line {
		line = data + (line-data)*min(1, float64(shape.Window)/float64(n))
	}
	for i := range parts {
		longer := line / data
		if parts[i].Protocol == cost.Request { // while nothing is loaded the other way they are in nobody's way
			longer = min(1, max(0, 2-longer))
		}
		parts[i].Line = units.Time(float64(parts[i].Line) * longer)
	}
	work := append(chain.work(), parts...)
	if t := chain.hidden(); t > 0 {
		work = append(work, Part{Local: -t})
	}
	if lost, err := m.misaligned(); err != nil || lost > 0 {
		return append(work, Part{Slower: lost}), err
	}
	return work, nil
}

// Window is the bytes that a rank's blocks read before they pass any on, where each thread reads so
// many; 0: of eight accesses of 16 bytes two. A thread has all eight under way, but others write meanwhile
// (a broadcast of 1 to 16 MiB by 64 blocks on 3 and 4 H200 fits a quarter, half of it is up to 16 % too slow).
func Window(blocks, threads int, each units.Bytes) units.Bytes {
	return units.Bytes(blocks*threads) * cmp.Or(each, 2*16)
}

// each visits the operations that lanes do in every slice, with their rank.
func (m *machine) each(visit func(rank int, l *block.Lane, op *block.Op)) {
	for r, lanes := range m.p.Lanes {
		for i := range lanes {
			for j := range lanes[i].Body {
				visit(r, &lanes[i], &lanes[i].Body[j])
			}
		}
	}
}

// passedOn is the longest message that an operation reads from a peer and writes to another;
// 0 where there is none.
func (m *machine) passedOn() (n units.Bytes) {
	m.each(func(r int, l *block.Lane, op *block.Op) {
		if remote(op.Sources, r) && remote(op.Destinations, r) {
			n = max(n, bytes(l, op, 0))
		}
	})
	return n
}

func remote(list []block.Ref, rank int) bool {
	return slices.ContainsFunc(list, func(r block.Ref) bool { return r.Rank != rank })
}

// ideal costs nothing but bytes at line rate.
var ideal = &cost.Profile{Name: "ideal"}

// Slower is what the work takes longer since data are not aligned to 16 bytes.
func (w Work) Slower() (t units.Time) {
	for i := range w {
		t += w[i].Slower
	}
	return t
}

// Time is what the work takes under a profile, the launch included.
func (w Work) Time(p *cost.Profile) units.Time {
	return p.Launch + units.Time(w.time(p))
}

func (w Work) time(p *cost.Profile) (t float64) {
	for i := range w {
		t += w[i].time(p)
	}
	return t
}

func (x *Part) time(p *cost.Profile) float64 {
	if known := x.Slower + x.Local; known != 0 {
		return float64(known)
	}
	c := p.Transfer(x.Medium, x.Protocol, x.Bytes)
	return x.Messages*float64(c.Alpha) + x.Peers*float64(c.Peer) + float64(x.Line)/c.Efficiency + float64(x.Latency)
}

// machine is a program on a topology.
type machine struct {
	t        *topology.Topology
	router   *topology.Router
	p        *block.Program
	costs    *cost.Profile
	routes   map[[2]int]topology.Route
	threads  int            // of a rank's blocks
	elements int            // bytes of one
	between  map[place]bool // of packets whose taking hides behind what is put
	traffic  traffic
}

func newMachine(t *topology.Topology, p *block.Program, shape Shape, costs *cost.Profile) (*machine, error) {
	if p.Ranks > t.NumRanks() {
		return nil, fmt.Errorf("a program of %d ranks on %d", p.Ranks, t.NumRanks())
	}
	m := &machine{t: t, threads: shape.Threads, elements: shape.Element, router: topology.NewRouter(t), p: p, costs: costs,
		routes: map[[2]int]topology.Route{}}
	m.noteTraffic()
	m.note()
	return m, nil
}

func (m *machine) route(from, to int) (topology.Route, error) {
	key := [2]int{from, to}
	if r, ok := m.routes[key]; ok {
		return r, nil
	}
	r, err := m.router.Route(from, to)
	m.routes[key] = r
	return r, err
}
