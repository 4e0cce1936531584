package pack

import (
	"slices"

	"railyard/model/collective"
	"railyard/model/topology"
)

// arcs are what hops of trees, and flows, go along: between ranks and, behind these, scale-up switches, alike ones as one vertex.
// An arc is a link, or a transfer between ranks over what routes alone decide on (PCIe, networks). A hop is a path of arcs from
// rank to rank over switches, of which there may be several: planes of switches, direct links beside them.
type arcs struct {
	ranks     int
	resources int
	list      []arc
	out, in   [][]int32             // arcs by vertex
	switches  [][]topology.DeviceID // by vertex behind the ranks
	down, up  bool                  // what goes on arcs: data that spread from a root, data that are summed up at one
}

// arc is one of arcs, and what it takes of what they share.
type arc struct {
	from, to int32
	takes    []taken
}

// time is for how long a unit keeps the busiest of what an arc takes.
func (a *arc) time() (most float64) {
	for _, t := range a.takes {
		most = max(most, t.time)
	}
	return most
}

func (a *arcs) add(from, to int32, takes []taken) {
	for _, t := range takes {
		a.resources = max(a.resources, int(t.resource)+1)
	}
	for int32(len(a.out)) <= max(from, to) {
		a.out, a.in = append(a.out, nil), append(a.in, nil)
	}
	a.out[from], a.in[to] = append(a.out[from], int32(len(a.list))), append(a.in[to], int32(len(a.list)))
	a.list = append(a.list, arc{from, to, takes})
}

func newArcs(ranks int) *arcs {
	return &arcs{ranks: ranks, out: make([][]int32, ranks), in: make([][]int32, ranks), down: true}
}

// arcs are those of a search's graph that trees may take.
func (s *search) arcs() *arcs { return s.arcsAnd(s.far()) }

// arcsAnd are links, and transfers over what routes alone decide on.
func (s *search) arcsAnd(far []transfer) *arcs {
	a := newArcs(s.g.Ranks)
	links := s.g.Edges
	if s.g.t != nil {
		up := ScaleUp(s.g.t)
		links, a.switches = up.Edges, up.Switches
	}
	for i, e := range links {
		a.add(e.From, e.To, []taken{{int32(i), 1 / float64(e.Cap)}})
	}
	first := int32(a.resources)
	for i, takes := range s.condense(far) {
		for j := range takes {
			takes[j].resource += first
		}
		a.add(far[i].u, far[i].v, takes)
	}
	return a
}

// back are the arcs as what goes the other way takes them.
func (a *arcs) back() *arcs {
	out := newArcs(a.ranks)
	out.switches, out.down, out.up = a.switches, a.up, a.down
	for _, x := range a.list {
		out.add(x.to, x.from, x.takes)
	}
	return out
}

// both are arcs that take what goes both ways, where there are both.
func (a *arcs) both() *arcs {
	out := newArcs(a.ranks)
	out.switches, out.up = a.switches, true
	for _, x := range a.list {
		for _, i := range a.out[x.to] {
			if y := &a.list[i]; y.to == x.from {
				out.add(x.from, x.to, slices.Concat(x.takes, y.takes))
				break
			}
		}
	}
	return out
}

// longest is how long a byte takes of what it takes the longest of.
func (a *arcs) longest() (seconds float64) {
	for i := range a.list {
		seconds = max(seconds, a.list[i].time())
	}
	return seconds
}

// Arcs are what data may go along from rank to rank: the arcs of a topology's graph, for whoever looks for ways along them.
type Arcs struct {
	Ranks, Vertices int // switches are vertices behind the ranks
	Resources       int
	List            []Arc
	Links           int // the first so many of the list are scale-up links, the others transfers from rank to rank as routes have them
	Switches        [][]topology.DeviceID
}

// Arc is a way between two vertices, and what it takes.
type Arc struct {
	From, To int32
	Takes    []Take
}

// Take is for how long a resource works for a byte, in seconds.
type Take struct {
	Resource int32
	Time     float64
}

// ArcsOf are those of a topology.
func ArcsOf(t *topology.Topology) (*Arcs, error) {
	type key struct{}
	return topology.OnceOr(t, key{}, func() (*Arcs, error) {
		g, err := FromTopology(t)
		if err != nil {
			return nil, err
		}
		s := newSearch(g, collective.AllToAll, 0, Options{}, Result{})
		if err := s.transfers(); err != nil {
			return nil, err
		}
		a := s.arcs()
		out := &Arcs{Ranks: a.ranks, Vertices: len(a.out), Resources: a.resources, Links: len(ScaleUp(t).Edges), Switches: a.switches}
		for _, x := range a.list {
			arc := Arc{From: x.from, To: x.to}
			for _, t := range x.takes {
				arc.Takes = append(arc.Takes, Take{t.resource, t.time})
			}
			out.List = append(out.List, arc)
		}
		return out, nil
	})
}

// Joined reports whether every rank reaches every other along them.
func (a *Arcs) Joined() bool {
	g := &Graph{Ranks: a.Ranks, Vertices: a.Vertices}
	for _, x := range a.List {
		g.Edges = append(g.Edges, Edge{x.From, x.To, 1})
	}
	return g.Joined()
}

// over are the switches of a hop, in order.
func (a *arcs) over(hop []int32) (out [][]topology.DeviceID) {
	for _, i := range hop[:len(hop)-1] {
		out = append(out, a.switches[int(a.list[i].to)-a.ranks])
	}
	return out
}
