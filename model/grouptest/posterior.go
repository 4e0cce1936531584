package grouptest

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

const (
	// most is how many faults at once are thought of.
	most = 8
	// kept is how many sets of as many faults are gone on with, and unlikely by how much less likely than the best they may be, as a
	// logarithm.
	kept, unlikely = 60, 12.
	// exchanged is of how many sets faults are exchanged.
	exchanged = 6
	// expected is how many faults a cluster is expected to have before anything is tested: who tests has a reason, and tests are to find
	// five faults as surely as one. At what rate faults come is not known, but for its mean (an exponential distribution): then each more
	// is as much less likely than the one before.
	expected = 8.
)

// Posterior is how likely each set of faults is after some tests.
type Posterior struct {
	Cluster
	noise   Noise
	steps   *steps
	results []Result
	kinds   []kind
	kindOf  []int // of each result
	by      int   // how many there are that measure
	parts   []Part
	weights []float64
	atoms   []atom // parts that no test has told apart
	atomOf  []int  // of each part
	sets    []set  // the most likely first
}

// kind tells tests apart that one fault slows differently: by what measures them, and whether they are of a node alone (-1), over so many
// adapters or over all (0).
type kind struct{ by, over int }

// atom are parts that every test touches alike.
type atom struct {
	first  int // part
	weight float64
	slow   []int // the tests that they make slow
}

// set is a set of faults, an atom each, those that slow tests most first: a test is as slow as the first that it touches.
type set struct {
	atoms  []int
	claims []int8  // by test, which of the atoms it is slow by; -1: none
	weight float64 // of the atoms
	prior  float64
	p      float64 // a logarithm until all are known

	slow []level  // by atom and kind of test
	off  []normal // what all tests are off by, by what measures them
}

// Of says what results make believe.
func Of(c Cluster, n Noise, results []Result) *Posterior {
	p := &Posterior{Cluster: c, noise: n, steps: n.steps(), results: results, kindOf: make([]int, len(results)), by: 1}
	p.parts, p.weights = c.parts()
	total := 0.
	for _, w := range p.weights {
		total += w
	}
	for i := range p.weights {
		p.weights[i] *= expected / (1 + expected) / total
	}
	for i := range results {
		k := kind{results[i].By, results[i].over()}
		if p.by = max(p.by, k.by+1); !slices.Contains(p.kinds, k) {
			p.kinds = append(p.kinds, k)
		}
		p.kindOf[i] = slices.Index(p.kinds, k)
	}
	p.divide()
	p.enumerate()
	return p
}

// divide puts the parts that all tests touch alike into an atom.
func (p *Posterior) divide() {
	p.atomOf = make([]int, len(p.parts))
	touched := make([][]int, len(p.parts))
	for t := range p.results {
		for i := range p.touchedBy(p.results[t].Test) {
			touched[i] = append(touched[i], t)
		}
	}
	index := map[string]int{}
	for i := range p.parts {
		key := fmt.Sprint(touched[i])
		at, ok := index[key]
		if !ok {
			at = len(p.atoms)
			index[key], p.atoms = at, append(p.atoms, atom{first: i, slow: touched[i]})
		}
		p.atoms[at].weight += p.weights[i]
		p.atomOf[i] = at
	}
}

// enumerate finds the likely sets: those of one more fault are made of the likeliest of one fewer.
func (p *Posterior) enumerate() {
	none := p.of(nil)
	level, best := []set{none}, none.p
	p.sets = level
	for range most {
		var next []set
		for i := range level {
			for a := range p.atoms {
				if !slices.Contains(level[i].atoms, a) {
					s := p.joined(&level[i], a)
					s.p = s.prior + p.likelihood(&s)
					next = append(next, s)
				}
			}
		}
		slices.SortStableFunc(next, func(a, b set) int { return cmp.Compare(b.p, a.p) })
		if len(next) == 0 {
			break
		}
		best = max(best, next[0].p)
		if i := slices.IndexFunc(next, func(s set) bool { return s.p < best-unlikely }); i >= 0 {
			next = next[:i]
		}
		level = next[:min(len(next), kept)]
		p.sets = append(p.sets, level...)
	}
	p.normalise(p.exchange(best))
}

// exchange goes on from the likeliest sets until these have no likelier neighbours: with another fault, or none, in the place of one, one
// more at any place, or two in each other's. What explains much with few faults may hide several that explain it better. It returns the
// logarithm of the likeliest.
func (p *Posterior) exchange(best float64) float64 {
	seen, done := map[string]bool{}, map[string]bool{}
	for i := range p.sets {
		seen[fmt.Sprint(p.sets[i].atoms)] = true
	}
	for {
		slices.SortStableFunc(p.sets, func(a, b set) int { return cmp.Compare(b.p, a.p) })
		i := slices.IndexFunc(p.sets[:min(len(p.sets), exchanged)], func(s set) bool { return !done[fmt.Sprint(s.atoms)] })
		if i < 0 {
			return best
		}
		from := p.sets[i].atoms
		done[fmt.Sprint(from)] = true
		for _, atoms := range p.neighbours(from) {
			key := fmt.Sprint(atoms)
			if seen[key] {
				continue
			}
			seen[key] = true
			if x := p.of(atoms); x.p > best-unlikely {
				p.sets, best = append(p.sets, x), max(best, x.p)
			}
		}
	}
}

// neighbours are the sets that one step leads to.
func (p *Posterior) neighbours(of []int) (out [][]int) {
	for at := range len(of) + 1 {
		for a := range p.atoms {
			switch {
			case slices.Contains(of, a):
			case len(of) < most:
				out = append(out, slices.Insert(slices.Clone(of), at, a))
				fallthrough
			default:
				if at < len(of) {
					other := slices.Clone(of)
					other[at] = a
					out = append(out, other)
				}
			}
		}
		if at == len(of) {
			break
		}
		out = append(out, slices.Delete(slices.Clone(of), at, at+1))
		for other := range at {
			x := slices.Clone(of)
			x[at], x[other] = x[other], x[at]
			out = append(out, x)
		}
	}
	return out
}

// of is the set of some faults, those that slow tests most first.
func (p *Posterior) of(atoms []int) set {
	s := p.none()
	for _, a := range atoms {
		s = p.joined(&s, a)
	}
	s.p = s.prior + p.likelihood(&s)
	return s
}

// none is the set of no fault.
func (p *Posterior) none() set {
	s := set{claims: make([]int8, len(p.results))}
	for t := range s.claims {
		s.claims[t] = -1
	}
	return s
}

// joined is a set with a further fault, which slows tests less than those that it has. It stands for all that no test tells from it: with
// any number of faults more, of the same atoms, that slow tests less than the one of each that is counted.
func (p *Posterior) joined(s *set, a int) set {
	out := set{atoms: append(slices.Clone(s.atoms), a), claims: slices.Clone(s.claims), weight: s.weight + p.atoms[a].weight}
	out.prior = s.prior + math.Log(p.atoms[a].weight/(1-out.weight))
	for _, t := range p.atoms[a].slow {
		if out.claims[t] < 0 {
			out.claims[t] = int8(len(s.atoms))
		}
	}
	return out
}

// over is that of a test's kind.
func (t *Test) over() int {
	if len(t.Nodes) == 1 {
		return -1
	}
	return len(t.Adapters)
}

// at is the level of a next test's kind that a fault of a set slows; nil where there were none.
func (p *Posterior) at(s *set, fault int, t *Test) *level {
	k := slices.Index(p.kinds, kind{0, t.over()})
	if k < 0 || s.slow[fault*len(p.kinds)+k].tests == 0 {
		return nil
	}
	return &s.slow[fault*len(p.kinds)+k]
}

// likelihood is the logarithm of how likely all results are with a set of faults.
func (p *Posterior) likelihood(s *set) (sum float64) {
	healthy := make([]level, p.by)
	s.slow, s.off = make([]level, len(s.atoms)*len(p.kinds)), make([]normal, p.by)
	for t := range p.results {
		l := &healthy[p.results[t].By]
		if c := int(s.claims[t]); c >= 0 {
			l = &s.slow[c*len(p.kinds)+p.kindOf[t]]
		}
		l.add(p.results[t].Longer)
	}
	for by := range healthy {
		off, likely := p.noise.offset(&healthy[by])
		s.off[by], sum = off, sum+likely
	}
	for by := range s.off {
		var faults [][]*level
		for a := range s.atoms {
			var kinds []*level
			for k := range p.kinds {
				if l := &s.slow[a*len(p.kinds)+k]; p.kinds[k].by == by && l.tests > 0 {
					kinds = append(kinds, l)
				}
			}
			if kinds != nil {
				faults = append(faults, kinds)
			}
		}
		if faults != nil {
			likely, off := p.slowed(faults, s.off[by])
			s.off[by], sum = off, sum+likely
		}
	}
	return sum
}

// normalise makes probabilities of logarithms, without the unlikely.
func (p *Posterior) normalise(best float64) {
	sum := 0.
	p.sets = slices.DeleteFunc(p.sets, func(s set) bool { return s.p < best-unlikely })
	for i := range p.sets {
		p.sets[i].p = math.Exp(p.sets[i].p - best)
		sum += p.sets[i].p
	}
	for i := range p.sets {
		p.sets[i].p /= sum
	}
	slices.SortStableFunc(p.sets, func(a, b set) int { return cmp.Compare(b.p, a.p) })
}

// faulty is how likely each part is.
func (p *Posterior) faulty() []float64 {
	inAtom := make([]float64, len(p.atoms))
	for _, s := range p.sets {
		for _, a := range s.atoms {
			inAtom[a] += s.p
		}
	}
	out := make([]float64, len(p.parts))
	for i := range out {
		a := p.atomOf[i]
		out[i] = inAtom[a] * p.weights[i] / p.atoms[a].weight
	}
	return out
}

// nodes is how likely something of each is faulty.
func (p *Posterior) nodes(faulty []float64) []float64 {
	out := make([]float64, p.Nodes)
	for i, part := range p.parts {
		if part.Node >= 0 {
			out[part.Node] = min(out[part.Node]+faulty[i], 1)
		}
	}
	return out
}

// Fault is a part that is faulty, and how surely.
type Fault struct {
	Part
	Probability float64
}

// Suspects are the nodes and groups that are faulty with some probability at least, the surest first; of a node the part that is more
// likely than all others of it together, else all of it.
func (p *Posterior) Suspects(atLeast float64) (out []Fault) {
	faulty := p.faulty()
	nodes := p.nodes(faulty)
	for n, q := range nodes {
		if q >= atLeast {
			out = append(out, Fault{Part{n, Whole, -1}, q})
		}
	}
	for i, part := range p.parts {
		switch q := faulty[i]; {
		case q < atLeast:
		case part.Group >= 0:
			out = append(out, Fault{part, q})
		case part.Adapter != Whole && q > nodes[part.Node]/2:
			out = slices.DeleteFunc(out, func(f Fault) bool { return f.Node == part.Node && f.Adapter == Whole })
			out = append(out, Fault{part, q})
		}
	}
	slices.SortStableFunc(out, func(a, b Fault) int { return cmp.Compare(b.Probability, a.Probability) })
	return out
}

// Healthy is how likely nothing is faulty.
func (p *Posterior) Healthy() float64 {
	i := slices.IndexFunc(p.sets, func(s set) bool { return len(s.atoms) == 0 })
	if i < 0 {
		return 0
	}
	return p.sets[i].p
}
