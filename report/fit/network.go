package fit

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"railyard/model/cost"
	"railyard/model/measurement"
	"railyard/model/topology"
	"railyard/model/units"
)

// Network is what messages between nodes cost, and what is slow beside its like.
type Network struct {
	Curve    cost.Curve
	Error    string // of the rows
	Suspects []Suspect
}

// Pair is what messages one way between two processes took.
type Pair struct {
	A, B  int                       // processes
	Line  units.Rate                // of the route between them
	Times map[units.Bytes][]float64 // µs, by round
	tier  int                       // of the outermost group that only one of them is in
}

// FromNetwork fits the rows net_pair of messages between processes: α is what the smallest takes, and the share of the
// line rate that a size reaches what its message takes beyond, but no more than larger ones reach; both in the middle of all
// pairs. ranks are the
// ranks of the topology where the processes run.
func FromNetwork(rows []measurement.Link, t *topology.Topology, ranks []int) (*Network, error) {
	ways, err := Pairs(rows, t, ranks)
	if err != nil {
		return nil, err
	}
	var sizes []units.Bytes
	for size := range ways[0].Times {
		sizes = append(sizes, size)
	}
	slices.Sort(sizes)
	if len(sizes) < 2 {
		return nil, fmt.Errorf("messages between nodes were measured in one size: at least two are needed")
	}
	alpha := middle(ways, func(w *Pair) float64 { return measurement.Median(w.Times[sizes[0]]) })
	n := &Network{Curve: cost.Curve{Medium: topology.Network.String(), Protocol: "any", Smooth: true}}
	for i, size := range sizes[1:] {
		share := middle(ways, func(w *Pair) float64 {
			return size.Over(w.Line).Microseconds() / math.Max(measurement.Median(w.Times[size])-alpha, 1e-3)
		})
		segment := cost.Segment{From: size, Alpha: units.Time(math.Round(alpha * float64(units.Microsecond))), Efficiency: min(share, 1)}
		if i == 0 {
			segment.From = 0
		}
		n.Curve.Segments = append(n.Curve.Segments, segment)
	}
	sustained(n.Curve.Segments)
	n.Error = n.misses(ways, sizes[1:])
	n.Suspects = suspects(ways, sizes[len(sizes)-1], t, ranks)
	return n, nil
}

// Local is what a message takes to be heard of between ranks of one process, by rows net_local; 0 where there are none.
func Local(rows []measurement.Link) units.Time {
	var all []float64
	for _, row := range rows {
		if row.Kind == measurement.NetLocal {
			all = append(all, row.Value)
		}
	}
	return units.Time(math.Round(measurement.Median(all) * float64(units.Microsecond)))
}

// sustained lets no size reach more than larger ones: what switches and shapers take at once, up to their buffers, they take
// of the first message alone, not of a collective's stream of them.
func sustained(segments []cost.Segment) {
	for i := len(segments) - 2; i >= 0; i-- {
		segments[i].Efficiency = min(segments[i].Efficiency, segments[i+1].Efficiency)
	}
}

// misses says how far the curve is off in the mean.
func (n *Network) misses(ways []Pair, sizes []units.Bytes) string {
	sum := 0.
	for _, w := range ways {
		for i, size := range sizes {
			s := &n.Curve.Segments[i]
			took := s.Alpha.Microseconds() + size.Over(w.Line).Microseconds()/s.Efficiency
			sum += math.Abs(took/measurement.Median(w.Times[size]) - 1)
		}
	}
	return fmt.Sprintf("MAPE %.1f%% of messages between nodes (%d pairs, %d sizes)", 100*sum/float64(len(ways)*len(sizes)), len(ways),
		len(sizes))
}

// Pairs gathers the rows net_pair of each pair of processes, which run the ranks of t from ranks on. A process that there is not is an
// error, so are pairs of other sizes than the first one's, and no rows.
func Pairs(rows []measurement.Link, t *topology.Topology, ranks []int) ([]Pair, error) {
	router := topology.NewRouter(t)
	index := map[[2]int]int{}
	var ways []Pair
	for _, row := range rows {
		if row.Kind != measurement.NetPair {
			continue
		}
		a, err1 := strconv.Atoi(row.Src)
		b, err2 := strconv.Atoi(row.Dst)
		if err1 != nil || err2 != nil || min(a, b) < 0 || max(a, b) >= len(ranks) {
			return nil, fmt.Errorf("net_pair from %q to %q: must be processes from 0 to %d", row.Src, row.Dst, len(ranks)-1)
		}
		i, ok := index[[2]int{a, b}]
		if !ok {
			route, err := router.Route(ranks[a], ranks[b])
			if err != nil {
				return nil, err
			}
			i = len(ways)
			index[[2]int{a, b}] = i
			ways = append(ways, Pair{A: a, B: b, tier: tierBetween(t, ranks[a], ranks[b]), Line: route.Rate,
				Times: map[units.Bytes][]float64{}})
		}
		ways[i].Times[row.Bytes] = append(ways[i].Times[row.Bytes], row.Value)
	}
	if len(ways) == 0 {
		return nil, fmt.Errorf("no rows net_pair: nothing was measured between nodes")
	}
	for _, w := range ways[1:] {
		if len(w.Times) != len(ways[0].Times) {
			return nil, fmt.Errorf("processes %d and %d were measured in %d sizes, others in %d", w.A, w.B, len(w.Times),
				len(ways[0].Times))
		}
	}
	return ways, nil
}

// tierBetween is how many tiers of locality two ranks do not share.
func tierBetween(t *topology.Topology, a, b int) (n int) {
	for _, tier := range t.Tiers() {
		if tier.Of[a] != tier.Of[b] {
			n++
		}
	}
	return n
}

// middle is the median over all pairs.
func middle(ways []Pair, of func(*Pair) float64) float64 {
	var all []float64
	for i := range ways {
		all = append(all, of(&ways[i]))
	}
	return measurement.Median(all)
}
