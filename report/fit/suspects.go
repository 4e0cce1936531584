package fit

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"railyard/model/measurement"
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
	return fmt.Sprintf("%s: messages take %.2f times as long as those of its peers; look at %s", s.What, s.Slower, s.Look)
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

// suspects names the parts that make ways slow, those that explain most first. A way is held against the median of those between the
// same tiers at the same line rate; a part, by the median of its ways, against the median of the parts of its kind, and against
// how far ways are off by themselves, by the median of their deviations. What one part explains is taken off before the
// next is sought.
func suspects(ways []Pair, size units.Bytes, t *topology.Topology, ranks []int) (out []Suspect) {
	usual, ratio, known := slowdowns(ways, size)
	parts := partsOf(ways, known, t, ranks)
	for range parts {
		noise := deviation(ways, ratio, known, size)
		kinds := map[string][]float64{}
		for i := range parts {
			p := &parts[i]
			p.Slower = measurement.Median(p.of(ratio))
			kinds[p.Look] = append(kinds[p.Look], p.Slower)
		}
		best, most, sure := -1, 0., surely(parts, known)
		for i := range parts {
			p := &parts[i]
			p.Slower /= measurement.Median(kinds[p.Look])
			if (p.Slower-1)*math.Sqrt(float64(len(p.ways)))/noise <= sure {
				continue
			}
			if gain := excess(p.of(ratio)) - excess(p.explained(usual, ratio)); gain > most {
				best, most = i, gain
			}
		}
		if best < 0 {
			break
		}
		p := &parts[best]
		out = append(out, p.Suspect)
		for k, r := range p.explained(usual, ratio) {
			ratio[p.ways[k]] = r
		}
	}
	return out
}

// of are the values of a part's ways.
func (p *part) of(values []float64) []float64 {
	out := make([]float64, len(p.ways))
	for k, w := range p.ways {
		out[k] = values[w]
	}
	return out
}

// explained is how many times as long its ways take as a slow part has them take: messages take equally long over a link of a lower
// rate, so that ways that are usually faster are more times as slow.
func (p *part) explained(usual, ratio []float64) []float64 {
	out, took := p.of(ratio), p.of(usual)
	for k := range took {
		took[k] *= out[k]
	}
	own := measurement.Median(took)
	for k, w := range p.ways {
		out[k] /= max(own/usual[w], 1)
	}
	return out
}

// excess is how far ways are from taking as long as usual, squared and summed up.
func excess(ratio []float64) (sum float64) {
	for _, r := range ratio {
		sum += (r - 1) * (r - 1)
	}
	return sum
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

// slowdowns is what ways like each usually take, in µs, and how many times as long it takes, where there are enough of them.
func slowdowns(ways []Pair, size units.Bytes) (usual, ratio []float64, known []bool) {
	type like struct {
		tier int
		line units.Rate
	}
	classes := map[like][]float64{}
	for _, w := range ways {
		k := like{w.tier, w.Line}
		classes[k] = append(classes[k], measurement.Median(w.Times[size]))
	}
	usual, ratio, known = make([]float64, len(ways)), make([]float64, len(ways)), make([]bool, len(ways))
	for i, w := range ways {
		class := classes[like{w.tier, w.Line}]
		usual[i], known[i] = measurement.Median(class), len(class) >= likes
		ratio[i] = measurement.Median(w.Times[size]) / usual[i]
	}
	return usual, ratio, known
}

// deviation is the standard deviation of ways that are like one another, without those far out; at least that of
// the rounds of one.
func deviation(ways []Pair, ratio []float64, known []bool, size units.Bytes) float64 {
	var between, within []float64
	for i, w := range ways {
		if !known[i] {
			continue
		}
		between = append(between, math.Abs(ratio[i]-1))
		m := measurement.Median(w.Times[size])
		var rounds []float64
		for _, x := range w.Times[size] {
			rounds = append(rounds, math.Abs(x/m-1))
		}
		within = append(within, measurement.Median(rounds))
	}
	return math.Max(mad*math.Max(measurement.Median(between), measurement.Median(within)), 1e-6)
}

// partsOf are the groups of each tier beyond the node, nodes, and pairs, where they have enough ways.
func partsOf(ways []Pair, known []bool, t *topology.Topology, ranks []int) (out []part) {
	add := func(what, look string, has func(w *Pair) bool) {
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
			crosses := func(w *Pair) bool { return in(w.A) != in(w.B) }
			if level == 0 {
				add(fmt.Sprintf("node %d", g), "its NIC: speed and width that were negotiated, errors, another job on the node", crosses)
				continue
			}
			add(fmt.Sprintf("%s %d", tier.Name, g), "its uplinks: how many are up, their speed, errors, other traffic", crosses)
		}
	}
	for i := range ways {
		w := &ways[i]
		add(fmt.Sprintf("nodes %d and %d", t.NodeOf(ranks[w.A]), t.NodeOf(ranks[w.B])),
			"the path between them alone: the cables that flows of this pair are hashed to",
			func(x *Pair) bool { return x == w })
	}
	return out
}
