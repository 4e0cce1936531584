package planner

import (
	"slices"

	"railyard/internal/heap"
	"railyard/model/collective"
	"railyard/model/schedule"
	"railyard/model/topology"
)

// buildFlows moves data between pairs of ranks over direct links and planes of switches by multi-commodity flow:
// the data of every pair, equal or by counts, is cut into units, and each unit travels on a
// path of its own, so chosen that the fullest link is as empty as can be found; then on as few paths as load links
// so (see inFewPaths). Units of a
// pair on one path make one message. The hops of all paths with the same number are a phase:
// a pipeline over slices.
//
// Paths by multiplicative weights: N. Garg, J. Könemann, "Faster and simpler algorithms
// for multicommodity flow and other fractional packing problems", 1998. Deviation: whole
// units, rerouted until nothing improves any more. L. Zhao et al., "Efficient all-to-all
// collective communication schedules for direct-connect topologies", 2023.
func buildFlows(r *request) (*schedule.Schedule, error) {
	g, err := r.flowGraph()
	if kind := r.spec.Kind; err != nil && r.t.NumBoxes() > 1 && (kind == collective.SendRecv || slices.Contains(exchanges, kind)) {
		return r.flowsOverRails()
	}
	if err != nil {
		return nil, err
	}
	return r.sendFlow(inFewPaths, r.fewOver(g)), nil
}

// fewOver is a flow on few paths.
func (r *request) fewOver(g *flowGraph) *flow {
	return onceFlow(r, inFewPaths, func() *flow { return r.spreadOver(g).inFewPaths() })
}

// spreadOver routes all data over links.
func (r *request) spreadOver(g *flowGraph) *flow {
	return onceFlow(r, spread, func() *flow {
		return spreadFlow(g, demands(r.spec))
	})
}

// flowStage is how far a flow is made.
type flowStage uint8

const (
	spread flowStage = iota
	inFewPaths
	inShortPaths
)

// onceFlow makes flows of equal shares, and what follows from them, once for each topology.
func onceFlow[T any](r *request, stage flowStage, make func() T) T {
	if r.spec.Counts != nil {
		return make()
	}
	type key struct {
		kind  collective.Kind
		root  int
		stage flowStage
	}
	return topology.Once(r.t, key{r.spec.Kind, r.spec.Root, stage}, make)
}

// demands is what each rank sends each other, the largest being 1.
func demands(s collective.Spec) [][]float64 {
	out := make([][]float64, s.Ranks)
	for src := range out {
		out[src] = make([]float64, s.Ranks)
	}
	eachDemand(s, func(src, dst int, size float64) { out[src][dst] = size })
	return out
}

// eachDemand visits the pairs of ranks that have data for one another.
func eachDemand(s collective.Spec, visit func(src, dst int, size float64)) {
	most := int64(1)
	for src, row := range s.Counts {
		for dst, c := range row {
			if src != dst {
				most = max(most, c)
			}
		}
	}
	for src := range s.Ranks {
		first, last := 0, s.Ranks-1
		if s.Kind == collective.SendRecv {
			first, last = (src+1)%s.Ranks, (src+1)%s.Ranks
		}
		for dst := first; dst <= last; dst++ {
			switch {
			case src == dst || !carries(s, src, dst):
			case s.Counts == nil:
				visit(src, dst, 1)
			case s.Counts[src][dst] > 0:
				visit(src, dst, float64(s.Counts[src][dst])/float64(most))
			}
		}
	}
}

const (
	allUnits   = 24 * 16 * 16 // about as many as there are of all pairs
	flowRounds = 24
	// steepness is how much paths avoid full links: the price of a link grows with a power
	// of its load, from the first one at first to the last one in the end.
	firstSteepness, lastSteepness = 8, 24
)

// pairUnits is into how many units the data of a pair are cut: fewer where there are more pairs
// to fill the links with, those of ranks with themselves counted.
func pairUnits(demand [][]float64) int {
	pairs := len(demand)
	for _, row := range demand {
		for _, d := range row {
			if d > 0 {
				pairs++
			}
		}
	}
	return max(2, allUnits/pairs)
}

// spreadFlow routes all units again and again, and keeps the best of all rounds.
func spreadFlow(g *flowGraph, demand [][]float64) *flow {
	f := newFlow(g, demand)
	best, least := slices.Clone(f.paths), f.full
	for i := range flowRounds {
		f.steepness = firstSteepness + (lastSteepness-firstSteepness)*i/(flowRounds-1)
		if f.reroute(); f.full < least {
			best, least = slices.Clone(f.paths), f.full
		}
	}
	if f.g.mixes() {
		enough, found := least*(1-mixingLoss), false
		f.mixed = true
		for range flowRounds / 4 {
			if f.reroute(); f.full < min(enough, least) {
				best, least, found = slices.Clone(f.paths), f.full, true
			}
		}
		f.mixed = found
	}
	f.paths = best
	return f
}

// mixingLoss is how much less full links have to be for connections to take links and switches at once.
const mixingLoss = 0.05

// sort numbers the units of each pair so that those on the same path follow one another.
func (f *flow) sort() {
	for pair := range f.g.Vertices * f.g.Vertices {
		slices.SortStableFunc(f.paths[pair*f.units:(pair+1)*f.units], slices.Compare[[]int32])
	}
}

// flow is the paths of all units and what they load.
type flow struct {
	g         *flowGraph
	units     int         // of each pair
	demand    [][]float64 // by source and destination: the size of a unit
	paths     [][]int32   // [(src·n + dst)·units + unit]: vertices from src to dst
	load      []float64   // by resource: for how long units take it
	full      float64     // the largest load
	steepness int
	mixed     bool // connections may take their direct link and switches at once
	// working memory of cheapest
	of    float64    // the load that prices are relative to, of a round
	know  []fullness // by resource: its price at its present load, found last
	cost  []float64  // by vertex
	least []float64  // by vertex: what the cheapest way there cost when it was found
	from  []int32
	front *heap.Heap[reached]
}

// fullness is the price of a second of a resource that a unit takes for a time.
type fullness struct{ taken, price float64 }

// newFlow gives all units a first path.
func newFlow(g *flowGraph, demand [][]float64) *flow {
	n, units := g.Vertices, pairUnits(demand)
	f := &flow{g: g, units: units, demand: demand, paths: make([][]int32, n*n*units), load: make([]float64, g.Resources),
		know: make([]fullness, g.Resources), cost: make([]float64, n), least: make([]float64, n), from: make([]int32, n)}
	f.front = heap.New(reached.before)
	f.full, f.steepness = 1, firstSteepness
	f.of = f.full
	for u := range units {
		for src, row := range demand {
			for dst, d := range row {
				if d > 0 {
					f.route((src*n+dst)*units + u)
				}
			}
		}
	}
	return f
}

// copied is a flow that may be changed, though others have this one: with paths, and memory to find loads and paths in, of its own.
func (f *flow) copied() *flow {
	own := *f
	own.paths, own.cost, own.least, own.from = slices.Clone(f.paths), slices.Clone(f.cost), slices.Clone(f.least), slices.Clone(f.from)
	own.load, own.know, own.front = slices.Clone(f.load), slices.Clone(f.know), heap.New(reached.before)
	return &own
}

// reroute takes each unit off its path and routes it anew.
func (f *flow) reroute() {
	f.of = f.full
	clear(f.know)
	for src := range f.demand {
		f.rerouteFrom(src)
	}
	f.full = slices.Max(f.load)
}

func (f *flow) count(path []int32, by float64) {
	for i := 1; i < len(path); i++ {
		for _, t := range f.g.takes(path[i-1], path[i]) {
			f.load[t.Resource] += by * t.Time
			f.know[t.Resource] = fullness{}
			f.full = max(f.full, f.load[t.Resource])
		}
	}
}

// size is that of a unit.
func (f *flow) size(i int) float64 {
	pair := i / f.units
	return f.demand[pair/f.g.Vertices][pair%f.g.Vertices]
}

// route gives a unit the cheapest path at present loads.
func (f *flow) route(i int) {
	n := f.g.Vertices
	pair := i / f.units
	f.paths[i] = f.cheapest(int32(pair/n), int32(pair%n), f.size(i))
	f.count(f.paths[i], f.size(i))
}
