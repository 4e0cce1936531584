package planner

import (
	"math"
	"slices"

	"railyard/model/collective"
	"railyard/model/schedule"
)

// buildFlows is the all-to-all over direct links by multi-commodity flow: the data of
// every pair is cut into units, and each unit travels on a path of its own, so chosen
// that the fullest link is as empty as can be found. The hops of all paths with the same
// number are a phase: a pipeline over slices.
//
// Paths by multiplicative weights: N. Garg, J. Könemann, "Faster and simpler algorithms
// for multicommodity flow and other fractional packing problems", 1998. Deviation: whole
// units, rerouted until nothing improves any more. L. Zhao et al., "Efficient all-to-all
// collective communication schedules for direct-connect topologies", 2023.
func buildFlows(r *request) (*schedule.Schedule, error) {
	if err := r.wants(collective.AllToAll); err != nil {
		return nil, err
	}
	n := r.spec.Ranks
	if n < 3 || n > maxFlowRanks {
		return nil, notApplicable("flows are for 3 to %d ranks", maxFlowRanks)
	}
	g := r.rates()
	if g == nil || g.complete() {
		return nil, notApplicable("not all ranks are joined by direct links, or all are neighbours")
	}
	return spreadFlow(g).schedule(r), nil
}

const (
	maxFlowRanks = 16
	flowUnits    = 24 // of each pair
	flowRounds   = 24
	// steepness is how much paths avoid full links: the price of a link grows with a power
	// of its load, from the first one at first to the last one in the end.
	firstSteepness, lastSteepness = 8.0, 24.0
)

// spreadFlow routes all units again and again, and keeps the best of all rounds.
func spreadFlow(g rateGraph) *flow {
	f := newFlow(g)
	best, least := slices.Clone(f.paths), f.full
	for i := range flowRounds {
		f.steepness = firstSteepness * math.Pow(lastSteepness/firstSteepness, float64(i)/(flowRounds-1))
		if f.reroute(); f.full < least {
			best, least = slices.Clone(f.paths), f.full
		}
	}
	f.paths = best
	return f
}

// rateGraph has the rates of direct links between ranks, in bytes/s; 0: none.
type rateGraph [][]float64

// rates is nil where direct links do not join all ranks.
func (r *request) rates() rateGraph {
	g := directGraph(r.t, identity(r.spec.Ranks))
	if g == nil || !g.connected() {
		return nil
	}
	out := make(rateGraph, r.spec.Ranks)
	for a := range out {
		out[a] = make([]float64, r.spec.Ranks)
		for _, l := range r.t.Out(r.t.Ranks()[a]) {
			if b := r.t.RankOf(r.t.Links()[l].To); b >= 0 {
				out[a][b] += float64(r.t.Rate(l))
			}
		}
	}
	return out
}

// complete reports whether every rank has a link to every other.
func (g rateGraph) complete() bool {
	for a := range g {
		for b, rate := range g[a] {
			if a != b && rate == 0 {
				return false
			}
		}
	}
	return true
}

// flow is the paths of all units and what they load.
type flow struct {
	g         rateGraph
	paths     [][]int32   // [(src·n + dst)·flowUnits + unit]: ranks from src to dst
	load      [][]float64 // units over the rate, by link
	full      float64     // the largest load
	steepness float64
	// working memory of shortest
	cost []float64
	from []int32
	done []bool
}

func newFlow(g rateGraph) *flow {
	n := len(g)
	f := &flow{g: g, paths: make([][]int32, n*n*flowUnits), load: make([][]float64, n), cost: make([]float64, n), from: make([]int32, n), done: make([]bool, n)}
	for a := range f.load {
		f.load[a] = make([]float64, n)
	}
	f.full, f.steepness = 1/f.fastest(), firstSteepness
	for u := range flowUnits {
		for pair := range n * n {
			if pair/n != pair%n {
				f.route(pair*flowUnits + u)
			}
		}
	}
	return f
}

func (f *flow) fastest() float64 {
	most := 0.0
	for a := range f.g {
		for _, rate := range f.g[a] {
			most = max(most, rate)
		}
	}
	return most
}

// reroute takes each unit off its path and routes it anew.
func (f *flow) reroute() {
	for i, p := range f.paths {
		if p != nil {
			f.count(p, -1)
			f.route(i)
		}
	}
	f.full = 0
	for a := range f.load {
		for _, x := range f.load[a] {
			f.full = max(f.full, x)
		}
	}
}

func (f *flow) count(path []int32, by float64) {
	for i := 1; i < len(path); i++ {
		a, b := path[i-1], path[i]
		f.load[a][b] += by / f.g[a][b]
		f.full = max(f.full, f.load[a][b])
	}
}

// route gives a unit the cheapest path at present loads.
func (f *flow) route(i int) {
	n := len(f.g)
	pair := i / flowUnits
	f.paths[i] = f.cheapest(int32(pair/n), int32(pair%n))
	f.count(f.paths[i], 1)
}

// cheapest is Dijkstra's path (1959); of equal ones that through the lowest ranks.
func (f *flow) cheapest(src, dst int32) []int32 {
	for v := range f.cost {
		f.cost[v], f.done[v] = math.Inf(1), false
	}
	f.cost[src] = 0
	for {
		v := int32(-1)
		for w, c := range f.cost {
			if !f.done[w] && !math.IsInf(c, 1) && (v < 0 || c < f.cost[v]) {
				v = int32(w)
			}
		}
		if v == dst {
			break
		}
		f.done[v] = true
		for w, rate := range f.g[v] {
			if rate == 0 || f.done[w] {
				continue
			}
			if c := f.cost[v] + f.price(v, int32(w)); c < f.cost[w] {
				f.cost[w], f.from[w] = c, v
			}
		}
	}
	path := []int32{dst}
	for v := dst; v != src; v = f.from[v] {
		path = append(path, f.from[v])
	}
	for i, j := 0, len(path)-1; i < j; i, j = i+1, j-1 {
		path[i], path[j] = path[j], path[i]
	}
	return path
}

// price of one more unit on a link.
func (f *flow) price(a, b int32) float64 {
	x := (f.load[a][b] + 1/f.g[a][b]) / f.full
	return math.Pow(x, f.steepness)/f.g[a][b] + 1e-6/f.g[a][b]
}

// schedule makes a phase of the hops with the same number. Units on their way lie in
// scratch, each in a place of its own.
func (f *flow) schedule(r *request) *schedule.Schedule {
	n := len(f.g)
	hops := 0
	for _, p := range f.paths {
		hops = max(hops, len(p)-1)
	}
	sends, recvs := f.programs(hops)
	ch := schedule.Channel{Share: 1, Slices: r.slices(), Chunks: n * flowUnits}
	for h := range hops {
		programs := make([][]schedule.Op, n)
		for v := range programs {
			programs[v] = sends[h][v]
			if h == 0 {
				own := schedule.Range(int32(v*flowUnits), flowUnits)
				programs[v] = append(programs[v], schedule.Op{Kind: schedule.Copy, Peer: -1, Src: schedule.Loc{Buf: schedule.Input, Set: own}, Dst: schedule.Loc{Buf: schedule.Output, Set: own}})
			}
			programs[v] = append(programs[v], recvs[h][v]...)
		}
		ch.Phases = append(ch.Phases, schedule.Phase{Gen: schedule.GenOps, Op: collective.AllToAll, Src: schedule.Input, Acc: schedule.Scratch, Dst: schedule.Output, Ops: programs})
	}
	return &schedule.Schedule{Channels: []schedule.Channel{ch}}
}

// programs are the sends and receives by hop and rank, in the order of units.
func (f *flow) programs(hops int) (sends, recvs [][][]schedule.Op) {
	n := len(f.g)
	sends, recvs = make([][][]schedule.Op, hops), make([][][]schedule.Op, hops)
	for h := range hops {
		sends[h], recvs[h] = make([][]schedule.Op, n), make([][]schedule.Op, n)
	}
	used := make([]int32, n*flowUnits) // places in scratch, by rank and unit: a place has its unit's size
	for i, p := range f.paths {
		if p == nil {
			continue
		}
		unit, pair := int32(i%flowUnits), i/flowUnits
		src, dst := int32(pair/n), int32(pair%n)
		at := schedule.Loc{Buf: schedule.Input, Set: schedule.One(dst*flowUnits + unit)}
		for h := 1; h < len(p); h++ {
			a, b := p[h-1], p[h]
			to := schedule.Loc{Buf: schedule.Output, Set: schedule.One(src*flowUnits + unit)}
			if h < len(p)-1 {
				place := &used[b*flowUnits+unit]
				to = schedule.Loc{Buf: schedule.Scratch, Set: schedule.One(*place*flowUnits + unit)}
				*place++
			}
			sends[h-1][a] = append(sends[h-1][a], schedule.Op{Kind: schedule.Send, Peer: b, Src: at})
			recvs[h-1][b] = append(recvs[h-1][b], schedule.Op{Kind: schedule.Recv, Peer: a, Dst: to})
			at = to
		}
	}
	return sends, recvs
}
