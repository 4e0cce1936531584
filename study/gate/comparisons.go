package gate

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"

	"railyard/model/topology"
	"railyard/model/units"
	"railyard/report"
	"railyard/study"
)

// like are runs that take the same on a healthy machine. What a prediction is off by they have in common, so that they are held against
// one another: a fault that touches one of them needs to slow it by more than repeats differ, no more.
type like struct {
	words string
	parts []*topology.Topology // on which the first and last of them are
	comparison
	took units.Time // each; 0: they do not take the same
}

// Part is the topology of some nodes alone, over some adapters of each; nil: all of them.
func Part(t *topology.Topology, nodes, adapters []int) (*topology.Topology, error) {
	var faults []topology.Fault
	for n := range t.NumNodes() {
		if nodes != nil && !slices.Contains(nodes, n) {
			faults = append(faults, topology.Fault{Part: topology.NodePart, Name: t.NodeName(n)})
		}
	}
	at := map[int]int{} // adapters of each node so far
	for dev, x := range t.Devices() {
		if x.Kind != topology.NIC {
			continue
		}
		node := int(x.Node)
		if (nodes == nil || slices.Contains(nodes, node)) && adapters != nil && !slices.Contains(adapters, at[node]) {
			faults = append(faults, topology.Fault{Part: topology.NICPart, Name: t.DeviceName(topology.DeviceID(dev))})
		}
		at[node]++
	}
	return t.Degrade(faults)
}

// comparable are the runs to compare with one another, those of fewest first: shares of all nodes' adapters, two nodes at a time, each node
// alone.
func (g *gate) comparable() (out []like, err error) {
	t := g.Topology
	n := t.NumNodes()
	add := func(words string, runs int, parts ...[2][]int) {
		x := like{words: words, comparison: comparison{runs: runs}}
		for _, p := range parts {
			part, failed := Part(t, p[0], p[1])
			if failed != nil {
				err = errors.Join(err, failed)
				return
			}
			x.parts = append(x.parts, part)
		}
		out = append(out, x)
	}
	if n < 2 || slices.ContainsFunc(seq(0, n), func(i int) bool { return t.NodeTemplate(i) != t.NodeTemplate(0) }) {
		return nil, nil
	}
	a := adapters(t)
	for parts := 2; parts <= a && a%parts == 0; parts *= 2 {
		each := a / parts
		add(fmt.Sprintf("all nodes over adapters %s, then the others", units.Ranges(seq(0, each), ",")), parts,
			[2][]int{nil, seq(0, each)}, [2][]int{nil, seq(a-each, a)})
	}
	if n%2 == 0 && n > 2 {
		add("two nodes at a time", n/2, [2][]int{seq(0, 2), nil}, [2][]int{seq(n-2, n), nil})
	}
	if t.NumRanks() > n {
		add("each node alone", n, [2][]int{seq(0, 1), nil}, [2][]int{seq(n-1, n), nil})
	}
	slices.SortStableFunc(out, func(x, y like) int { return x.runs - y.runs })
	return out, err
}

// adapters are how many each node has; 0 where nodes differ.
func adapters(t *topology.Topology) int {
	count := make([]int, t.NumNodes())
	for _, x := range t.Devices() {
		if x.Kind == topology.NIC {
			count[x.Node]++
		}
	}
	if slices.Min(count) != slices.Max(count) {
		return 0
	}
	return count[0]
}

func seq(from, to int) (out []int) {
	for i := from; i < to; i++ {
		out = append(out, i)
	}
	return out
}

// timesEach are how often each of some runs is done, where fewer do not find a fault: as often as it takes to say of own runs how far
// they spread. The median of each counts.
var timesEach = []int{1, MinRuns}

// compare says of each fault by which runs beside one another, of the largest size, it is found: of the fewest that find it, or of those
// that come nearest to it.
func (g *gate) compare(faults []Fault) error {
	size := slices.Max(g.Sizes)
	list, err := g.comparable()
	if err != nil {
		return err
	}
	tail := g.beliefs[g.at(size)].repeated()
	var spreads []*spread
	for _, times := range timesEach {
		spreads = append(spreads, newSpread(tail, times))
	}
	for i := range list {
		x := &list[i]
		times, err := g.takes(size, x.parts...)
		if err != nil {
			return err
		}
		if math.Abs(math.Log(float64(times[1])/float64(times[0]))) <= math.Log(minSlowdown) {
			x.took = times[0]
		}
	}
	var all []like // each once, then those that are run again
	for _, s := range spreads {
		for _, x := range list {
			if x.took > 0 {
				x.comparison = s.beside(x.runs, g.FalseAlarms)
			}
			all = append(all, x)
		}
	}
	for i := range faults {
		s := &faults[i]
		best := report.GateBeside{Kind: s.Kind, Fault: s.What, SizeBytes: int64(size)}
		if s.topology == nil {
			slower, err := g.slower(*s)
			if err != nil {
				return err
			}
			for k := 0; k < len(spreads) && !best.Detected; k++ {
				placed := like{words: "ranks as placed, and in the network's order", comparison: spreads[k].beside(2, g.FalseAlarms)}
				placed.tell(slower[g.at(size)], &best)
			}
		}
		slowed := make([]float64, len(list))
		for k := 0; k < len(all) && s.topology != nil && !best.Detected; k++ {
			at := k % len(list)
			if slowed[at] == 0 {
				if slowed[at], err = g.slowed(&list[at], s.fault, size); err != nil {
					return err
				}
			}
			all[k].tell(slowed[at], &best)
		}
		if best.Runs > 0 {
			g.doc.Beside = append(g.doc.Beside, best)
		}
	}
	return nil
}

// slowed is how many times as long the first of some runs takes with a fault; 1 where it is not touched, or does not run.
func (g *gate) slowed(x *like, f topology.Fault, size units.Bytes) (float64, error) {
	part, err := x.parts[0].Degrade([]topology.Fault{f})
	if err != nil || x.took == 0 {
		return 1, nil
	}
	times, err := g.takes(size, part)
	if err != nil {
		return 0, err
	}
	return float64(times[0]) / float64(x.took), nil
}

// tell takes these runs for the best where they find a fault that makes one of them so many times slower more often.
func (x *like) tell(slower float64, best *report.GateBeside) {
	if slower < minSlowdown {
		return
	}
	if found := x.beyond(x.limit - math.Log(slower)); found > best.Detection {
		best.Of, best.Runs, best.Times, best.Slower, best.Share = x.words, x.runs, x.times, slower, math.Exp(-x.limit)
		best.Detection, best.Detected, best.With = found, found >= sure, nil
		if share := math.Ceil(1000*x.alarms(math.Log(slower))) / 1000; !best.Detected && share <= mostAlarms {
			best.With = &share
		}
	}
}

// mostAlarms is the largest share of false alarms that is worth naming.
const mostAlarms = 0.05

// takes are the times of one size on some topologies.
func (g *gate) takes(size units.Bytes, on ...*topology.Topology) (out []units.Time, err error) {
	for _, t := range on {
		a := g.Asked.Asked
		a.Topology, a.Sizes = t, []units.Bytes{size}
		q, err := study.New(a)
		if err != nil {
			return nil, err
		}
		rows, err := q.Expect()
		if err != nil {
			return nil, err
		}
		out = append(out, rows[0].Time)
	}
	return out, nil
}

// spread is how far medians of some repeats of one machine are apart.
type spread struct {
	tail  distuv.StudentsT // of each repeat
	times int              // how many repeats there are, an odd number
	at    []float64        // the middles of parts of equal shares
}

// steps are how many parts a distribution is cut into.
const steps = 2000

func newSpread(tail distuv.StudentsT, times int) *spread {
	s := &spread{tail: tail, times: times}
	for i := range steps {
		s.at = append(s.at, tail.Quantile(mathext.InvRegIncBeta(s.half(), s.half(), (float64(i)+0.5)/steps)))
	}
	return s
}

// half is how many repeats are not above their median.
func (s *spread) half() float64 { return float64(s.times+1) / 2 }

// cdf is how likely a median of repeats is below: as many of them as one half at least (David and Nagaraja, Order Statistics, 2003, 2.1).
func (s *spread) cdf(x float64) float64 { return mathext.RegIncBeta(s.half(), s.half(), s.tail.CDF(x)) }

// comparison is of runs that take the same but for what repeats differ: each is held against the median of the others, of an even number
// the faster one. The limit is what no run of a healthy machine exceeds but for a share of false alarms of all runs together (Bonferroni
// 1936).
type comparison struct {
	*spread
	runs  int
	limit float64
}

// beside is a comparison of so many runs.
func (s *spread) beside(runs int, falseAlarms float64) comparison {
	c := comparison{spread: s, runs: runs, limit: 1}
	low, each := 0., falseAlarms/float64(runs)
	for c.beyond(c.limit) > each {
		c.limit *= 2
	}
	for range 30 {
		if middle := (low + c.limit) / 2; c.beyond(middle) > each {
			low = middle
		} else {
			c.limit = middle
		}
	}
	return c
}

// alarms are the share of false alarms with which what makes a run longer by a logarithm is found for sure.
func (c *comparison) alarms(longer float64) float64 {
	low, high := 0., longer
	for range 30 {
		if middle := (low + high) / 2; c.beyond(middle-longer) > sure {
			low = middle
		} else {
			high = middle
		}
	}
	return float64(c.runs) * c.beyond(low)
}

// beyond is how likely one run takes longer than the median of the others by more than a logarithm.
func (c *comparison) beyond(limit float64) (sum float64) {
	others := c.runs - 1
	middle := float64((others + 1) / 2)
	for _, x := range c.at {
		sum += mathext.RegIncBeta(middle, float64(others)+1-middle, c.cdf(x-limit)) / steps
	}
	return sum
}
