package fit

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"railyard/model/topology"
	"railyard/model/units"
)

// Suspect is a part of the network that is slow beside its like.
type Suspect struct {
	What   string
	Slower float64 // times as long as its like
	Look   string  // at what next
}

func (s Suspect) String() string {
	return fmt.Sprintf("%s: messages take %.2f times as long as beside; look at %s", s.What, s.Slower, s.Look)
}

const (
	// likes is how many ways at least are compared with one another: of fewer, the middle says little.
	likes = 4
	// byChance is how likely it is that anything is named where nothing is wrong.
	byChance = 1e-3
	// mad times the median of deviations is the standard deviation of what is normally distributed (Hampel 1974).
	mad = 1.4826
)

// part is something that ways have in common.
type part struct {
	Suspect
	ways []int
}

// suspects names the parts that make ways slow, the surest first. A way is held against the median of those between the
// same tiers at the same line rate; a part, by the median of its ways, against the median of the parts of its kind, and against
// how far ways are off by themselves, by the median of their deviations. What one part explains is taken off before the
// next is sought.
func suspects(ways []way, size units.Bytes, t *topology.Topology, ranks []int) (out []Suspect) {
	ratio, known := slowdowns(ways, size)
	parts := partsOf(ways, known, t, ranks)
	for range parts {
		noise := deviation(ways, ratio, known, size)
		kinds := map[string][]float64{}
		for i := range parts {
			p := &parts[i]
			var all []float64
			for _, w := range p.ways {
				all = append(all, ratio[w])
			}
			p.Slower = median(all)
			kinds[p.Look] = append(kinds[p.Look], p.Slower)
		}
		best, sure := -1, surely(parts, known)
		for i := range parts {
			p := &parts[i]
			p.Slower /= median(kinds[p.Look])
			if z := (p.Slower - 1) * math.Sqrt(float64(len(p.ways))) / noise; z > sure {
				best, sure = i, z
			}
		}
		if best < 0 {
			break
		}
		out = append(out, parts[best].Suspect)
		for _, w := range parts[best].ways {
			ratio[w] /= parts[best].Slower
		}
	}
	return out
}

// surely is how many standard errors one of so many parts is off that is named. The fewer ways there are, the less
// certain is how far they are off by themselves (Student 1908, Bonferroni 1936).
func surely(parts []part, known []bool) float64 {
	ways := 0
	for _, k := range known {
		if k {
			ways++
		}
	}
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(max(ways-1, 1))}
	return t.Quantile(1 - byChance/float64(len(parts)))
}

// slowdowns is how much longer each way takes than the middle of its like, where there are enough of them.
func slowdowns(ways []way, size units.Bytes) (ratio []float64, known []bool) {
	type like struct {
		tier int
		line units.Rate
	}
	classes := map[like][]float64{}
	for _, w := range ways {
		k := like{w.tier, w.line}
		classes[k] = append(classes[k], median(w.times[size]))
	}
	ratio, known = make([]float64, len(ways)), make([]bool, len(ways))
	for i, w := range ways {
		class := classes[like{w.tier, w.line}]
		ratio[i], known[i] = median(w.times[size])/median(class), len(class) >= likes
	}
	return ratio, known
}

// deviation is the standard deviation of ways that are like one another, without those far out; at least that of
// the rounds of one.
func deviation(ways []way, ratio []float64, known []bool, size units.Bytes) float64 {
	var between, within []float64
	for i, w := range ways {
		if !known[i] {
			continue
		}
		between = append(between, math.Abs(ratio[i]-1))
		m := median(w.times[size])
		var rounds []float64
		for _, x := range w.times[size] {
			rounds = append(rounds, math.Abs(x/m-1))
		}
		within = append(within, median(rounds))
	}
	return math.Max(mad*math.Max(median(between), median(within)), 1e-6)
}

// partsOf are the groups of each tier beyond the node, nodes, and pairs, where they have enough ways.
func partsOf(ways []way, known []bool, t *topology.Topology, ranks []int) (out []part) {
	add := func(what, look string, has func(w *way) bool) {
		p := part{Suspect: Suspect{What: what, Look: look}}
		for i := range ways {
			if known[i] && has(&ways[i]) {
				p.ways = append(p.ways, i)
			}
		}
		if len(p.ways) > 0 {
			out = append(out, p)
		}
	}
	for level, tier := range t.Tiers() {
		for g := range int32(tier.Groups) {
			if tier.Groups < likes {
				continue // what crosses one of three makes two thirds of all slow
			}
			in := func(process int) bool { return tier.Of[ranks[process]] == g }
			crosses := func(w *way) bool { return in(w.a) != in(w.b) }
			if level == 0 {
				add(fmt.Sprintf("node %d", g), "its NIC: speed and width that were negotiated, errors, another job on the node", crosses)
				continue
			}
			add(fmt.Sprintf("%s %d", tier.Name, g), "its uplinks: how many are up, their speed, errors, other traffic", crosses)
		}
	}
	for i := range ways {
		w := &ways[i]
		add(fmt.Sprintf("nodes %d and %d", t.NodeOf(ranks[w.a]), t.NodeOf(ranks[w.b])),
			"the path between them alone: the cables that flows of this pair are hashed to",
			func(x *way) bool { return x == w })
	}
	return out
}
