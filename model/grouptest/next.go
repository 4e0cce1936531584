package grouptest

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
)

// Sure is how likely a fault has to be to be named.
const Sure = 0.99

// settled is how likely one set of faults has to be for testing to end. It is above Sure since how many faults there are and by how much
// they slow tests is assumed: where the first few tests all touch faults that slow them alike, they look like healthy ones that are all
// off by the same, and one or two tests more tell.
const settled = 0.995

// worth is the share of what is not known that a test has to be expected to say at least to be run: else no number of tests that somebody
// would run tells, as where both nodes of a leaf are as slow as one of them and the leaf's links would be.
const worth = 0.01

// minInformation is how many nats a test has to be worth at least, however little is not known.
const minInformation = 1e-4

// Next is the test that is worth most, by how much its result is expected to say of which parts are faulty. ok is false where all is known
// surely, or no test says more.
func (p *Posterior) Next() (best Test, ok bool) {
	if p.certain() {
		return Test{}, false
	}
	highest, seen := max(minInformation, worth*p.unknown()), map[string]bool{}
	for _, t := range p.candidates() {
		key := fmt.Sprint(t)
		if seen[key] {
			continue
		}
		seen[key] = true
		if bits := p.information(t); bits > highest {
			best, highest, ok = t, bits, true
		}
	}
	return best, ok
}

// unknown is how many nats are not known of which faults there are: the entropy of sets, in whatever order they slow tests.
func (p *Posterior) unknown() (nats float64) {
	answers := map[string]float64{}
	for i := range p.sets {
		answers[fmt.Sprint(slices.Sorted(slices.Values(p.sets[i].atoms)))] += p.sets[i].p
	}
	for _, key := range slices.Sorted(maps.Keys(answers)) {
		nats -= answers[key] * math.Log(answers[key])
	}
	return nats
}

// certain reports whether one set of nodes and groups is surely faulty, no other, and each node's fault is found in it. What else is
// wrong with such a node hides behind that fault and shows once it is repaired: it is looked for only where it is rather there than not.
func (p *Posterior) certain() bool {
	faulty := p.faulty()
	places, found, further := p.nodes(faulty), make([]bool, p.Nodes+len(p.Groups)), make([]float64, p.Nodes)
	places = append(places, make([]float64, len(p.Groups))...)
	for i, part := range p.parts {
		at := p.place(part)
		if part.Group >= 0 {
			places[at] = faulty[i]
		}
		if faulty[i] >= settled {
			found[at] = true
		} else if part.Node >= 0 {
			further[at] += faulty[i]
		}
	}
	for at, q := range places {
		if q > 1-settled && !found[at] || at < p.Nodes && found[at] && further[at] > 0.5 {
			return false
		}
	}
	sure, best := 0., p.places(&p.sets[0])
	for i := range p.sets {
		if slices.Equal(p.places(&p.sets[i]), best) {
			sure += p.sets[i].p
		}
	}
	return sure >= settled && !slices.ContainsFunc(best, func(at int) bool { return !found[at] })
}

// place is the node or group that a part is in, by number, nodes first.
func (p *Posterior) place(part Part) int {
	if part.Group >= 0 {
		return p.Nodes + part.Group
	}
	return part.Node
}

// places are those of the faults of a set.
func (p *Posterior) places(s *set) (out []int) {
	for _, a := range s.atoms {
		out = append(out, p.place(p.parts[p.atoms[a].first]))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// touchedShares are the shares of each atom that a test touches.
func (p *Posterior) touchedShares(t Test) []float64 {
	out := make([]float64, len(p.atoms))
	for i := range p.touchedBy(t) {
		out[p.atomOf[i]] += p.weights[i]
	}
	for a := range out {
		out[a] /= p.atoms[a].weight
	}
	return out
}

// Passes is how likely a test touches no fault.
func (p *Posterior) Passes(t Test) (sum float64) {
	touched := p.touchedShares(t)
	for _, s := range p.sets {
		pass := s.p
		for _, a := range s.atoms {
			pass *= 1 - touched[a]
		}
		sum += pass
	}
	return sum
}

// outcomes are the results that a test may have, with how likely each is: for each set, as slow as each of its faults has made tests of
// that kind, or as what is healthy is.
func (p *Posterior) outcomes(t Test) map[normal]float64 {
	touched, one := p.touchedShares(t), p.noise.Repeats*p.noise.Repeats
	out := map[normal]float64{}
	for i := range p.sets {
		s := &p.sets[i]
		rest, off := s.p, s.off[0]
		for k, a := range s.atoms {
			low, high := p.noise.MinSlowdown, p.noise.MaxSlowdown
			slow := normal{off.mean + (low+high)/2, off.variance + math.Pow(high-low, 2)/12 + one}
			if l := p.at(s, k, &t); l != nil {
				slow = normal{l.mean, one + one/l.tests}
			}
			out[slow] += rest * touched[a]
			rest *= 1 - touched[a]
		}
		out[normal{off.mean, off.variance + one}] += rest
	}
	return out
}

// information is how many nats the result of a test is expected to say of what the outcomes are of (Lindley 1956): the entropy of all of
// them less that of each.
func (p *Posterior) information(t Test) (nats float64) {
	type weighted struct {
		normal
		p float64
	}
	var list []weighted
	low, high, least := math.Inf(1), math.Inf(-1), math.Inf(1)
	for o, q := range p.outcomes(t) {
		if q < 1e-5 {
			continue
		}
		list = append(list, weighted{o, q})
		wide := 4 * math.Sqrt(o.variance)
		low, high, least = min(low, o.mean-wide), max(high, o.mean+wide), min(least, wide/8)
	}
	slices.SortFunc(list, func(a, b weighted) int {
		return cmp.Or(cmp.Compare(a.mean, b.mean), cmp.Compare(a.variance, b.variance))
	})
	for _, o := range list {
		nats -= o.p * o.entropy()
	}
	for x := low; x <= high; x += least {
		density := 0.
		for _, o := range list {
			density += o.p * o.density(x)
		}
		if density > 0 {
			nats -= density * math.Log(density) * least
		}
	}
	return nats
}

// candidates are tests that may say something. What is known to be faulty is left out of groups, as it would hide others; behind faulty
// links of a group, its nodes are tested by themselves.
func (p *Posterior) candidates() (out []Test) {
	faulty := p.faulty()
	nodes, apart := p.nodes(faulty), map[int]bool{}
	for i, part := range p.parts {
		if part.Group < 0 {
			continue
		}
		members := p.Groups[part.Group].Nodes
		if faulty[i] > (1-Sure)/2 {
			out = append(out, p.group(members, nodes)...)
		}
		if faulty[i] >= Sure {
			for _, n := range members {
				apart[n] = true
			}
			out = append(out, p.halves(members, nodes, Sure, nil)...)
		}
	}
	rest := make([]int, 0, p.Nodes)
	for n := range p.Nodes {
		if !apart[n] {
			rest = append(rest, n)
		}
	}
	return slices.Concat(out, p.halves(rest, nodes, Sure, nil), p.halves(rest, nodes, 0.5, nil), p.rails(rest, faulty, nodes),
		p.inside(rest, faulty, nodes))
}

// group are the nodes of a group that are not known to be faulty.
func (p *Posterior) group(members []int, faulty []float64) []Test {
	of := slices.DeleteFunc(slices.Clone(members), func(n int) bool { return faulty[n] >= Sure })
	if len(of) < p.Smallest {
		return nil
	}
	return []Test{{Nodes: of}}
}

// smallest is how many nodes a test over some adapters has at least; nil: over all.
func (p *Posterior) smallest(adapters []int) int {
	if n := len(adapters); n > 0 && n <= p.Pairs {
		return 2
	}
	return p.Smallest
}

// halves are groups of the most suspected nodes: one of them shows a fault about as likely as not, others are of halves, quarters and so
// on, and of the nodes left. Too few nodes are tested with the least suspected ones. Nodes more suspect than some are left out.
func (p *Posterior) halves(members []int, faulty []float64, suspect float64, adapters []int) (out []Test) {
	order, smallest := slices.DeleteFunc(slices.Clone(members), func(n int) bool { return faulty[n] >= suspect }), p.smallest(adapters)
	if len(order) < smallest {
		return nil
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(faulty[b], faulty[a]) })
	of := func(n int) Test {
		nodes := slices.Clone(order[:n])
		if lacking := min(smallest, len(order)) - n; lacking > 0 {
			nodes = append(nodes, order[len(order)-lacking:]...)
		}
		slices.Sort(nodes)
		return Test{nodes, adapters}
	}
	from, to := 1, len(order) // the first that rather shows something than not
	for from < to {
		if n := (from + to) / 2; p.Passes(of(n)) > 0.5 {
			from = n + 1
		} else {
			to = n
		}
	}
	out = []Test{of(from), of(max(from-1, 1))}
	for n := len(order); n > 0; n /= 2 {
		out = append(out, of(n))
		if others := slices.Sorted(slices.Values(order[n:])); len(others) >= smallest {
			out = append(out, Test{others, adapters})
		}
	}
	return out
}

// rails are groups over some adapters of each node, halves of the most suspected ones and what is left: where few groups are large enough
// to show a fault, what all are off by together hides it from those over all adapters, not from these beside one another. Nodes alone are
// such tests of what is in them. Before anything was tested they say no more than all adapters do.
func (p *Posterior) rails(members []int, parts, faulty []float64) (out []Test) {
	if p.Adapters < 2 || len(p.results) == 0 {
		return nil
	}
	likely, inside := make([]float64, p.Adapters), make([]float64, p.Nodes)
	for i, part := range p.parts {
		switch {
		case part.Adapter >= 0 && faulty[part.Node] < Sure:
			likely[part.Adapter] += parts[i]
		case part.Adapter == Inside:
			inside[part.Node] = parts[i]
		}
	}
	order, over := mostLikely(likely), func(adapters []int) {
		out = append(out, p.halves(members, faulty, Sure, slices.Sorted(slices.Values(adapters)))...)
	}
	for k := p.Adapters / 2; k > 0; k /= 2 {
		over(order[:k])
	}
	over(order[p.Adapters/2:])
	return append(out, Test{Nodes: mostLikely(inside)[:1]})
}

// mostLikely are indices, the likeliest first.
func mostLikely(likely []float64) []int {
	out := make([]int, len(likely))
	for i := range out {
		out[i] = i
	}
	slices.SortStableFunc(out, func(a, b int) int { return cmp.Compare(likely[b], likely[a]) })
	return out
}

// inside are tests of a node that is known to be faulty: alone, or with healthy ones over some of the adapters that are suspected.
func (p *Posterior) inside(members []int, parts, faulty []float64) (out []Test) {
	if p.Adapters == 0 || len(members) < p.Smallest {
		return nil
	}
	order := slices.SortedStableFunc(slices.Values(members), func(a, b int) int { return cmp.Compare(faulty[a], faulty[b]) })
	partners := order[:p.Smallest-1]
	for _, n := range members {
		if faulty[n] < Sure || slices.Contains(partners, n) {
			continue
		}
		likely := make([]float64, p.Adapters)
		for i, part := range p.parts {
			if part.Node == n && part.Adapter >= 0 {
				likely[part.Adapter] = parts[i]
			}
		}
		adapters := mostLikely(likely)
		both := slices.Sorted(slices.Values(append(slices.Clone(partners), n)))
		out = append(out, Test{Nodes: []int{n}})
		for k := 1; k < len(adapters); k++ {
			out = append(out, Test{Nodes: both, Adapters: slices.Sorted(slices.Values(adapters[:k]))})
		}
	}
	return out
}
