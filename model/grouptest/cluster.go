// Package grouptest finds faulty parts of a cluster by tests of groups of nodes: what took how much longer than expected says how likely
// each set of faults is, and which group says most when it is tested next. It is adaptive group testing with noise by Bayes' rule
// (Cuturi, Teboul, Berthet, Doucet, Vert 2020, arXiv 2004.12508; that halving the probability needs about f·log₂(n/f) tests over the
// capacity of one: Scarlett 2019, arXiv 1803.05099), with two differences: a test has a time, not a yes or no, and parts that no test
// has told apart are counted as one, so that sets of faults are enumerated, not sampled.
package grouptest

import (
	"iter"
	"slices"
)

// Cluster is what may be faulty.
type Cluster struct {
	Nodes    int
	Smallest int     // group that shows faults of its nodes: 2 at least
	Pairs    int     // over how many adapters at most two nodes show a fault of one of them; 0: over none
	Adapters int     // of each node; 0: nodes are not looked into
	Groups   []Group // whose links to the others may be faulty: leaves, pods
}

// Group are nodes that share links to all others.
type Group struct {
	Name  string
	Nodes []int // ascending
}

// Part is what may be faulty: a node or what is in it, one of its adapters, or the links of a group to all others.
type Part struct {
	Node    int // -1: a group's
	Adapter int // Inside: none of its adapters; Whole: all of the node
	Group   int // of the cluster's; -1: a node's
}

// What an adapter's number means that is none.
const (
	Inside = -1
	Whole  = -2
)

// Test is a group of nodes that communicate.
type Test struct {
	Nodes    []int // ascending
	Adapters []int // of each node that are used, ascending; nil: all
}

// parts are all of a cluster that tests can tell apart, with how likely each is faulty beside the others: nodes and groups alike, and of a
// node what is in it as much as all of its adapters (of what stopped Llama 3's training, GPUs did more often than adapters and cables:
// arXiv 2407.21783, table 5). The links of a group of one node are that node's.
func (c *Cluster) parts() (out []Part, weights []float64) {
	add := func(p Part, weight float64) { out, weights = append(out, p), append(weights, weight) }
	for n := range c.Nodes {
		if c.Adapters == 0 {
			add(Part{n, Whole, -1}, 1)
			continue
		}
		add(Part{n, Inside, -1}, 0.5)
		for a := range c.Adapters {
			add(Part{n, a, -1}, 0.5/float64(c.Adapters))
		}
	}
	for g, x := range c.Groups {
		same := func(o Group) bool { return slices.Equal(o.Nodes, x.Nodes) }
		if n := len(x.Nodes); n > 1 && n < c.Nodes && !slices.ContainsFunc(c.Groups[:g], same) {
			add(Part{-1, Whole, g}, 1)
		}
	}
	return out, weights
}

// touchedBy are the parts, by number, that make a test slow where they are faulty.
func (p *Posterior) touchedBy(t Test) iter.Seq[int] {
	in := p.in(t)
	return func(yield func(int) bool) {
		for i, part := range p.parts {
			if p.touches(part, t, in) && !yield(i) {
				return
			}
		}
	}
}

// Touches reports whether a test is slow where a part is faulty.
func (c *Cluster) Touches(p Part, t Test) bool { return c.touches(p, t, c.in(t)) }

// in says of each node whether a test uses it.
func (c *Cluster) in(t Test) []bool {
	out := make([]bool, c.Nodes)
	for _, n := range t.Nodes {
		out[n] = true
	}
	return out
}

// touches reports whether a test over some nodes is slow where a part is faulty.
func (c *Cluster) touches(p Part, t Test, in []bool) bool {
	if p.Group < 0 {
		return in[p.Node] && (p.Adapter < 0 || len(t.Nodes) > 1 && (t.Adapters == nil || slices.Contains(t.Adapters, p.Adapter)))
	}
	inside := 0
	for _, n := range c.Groups[p.Group].Nodes {
		if in[n] {
			inside++
		}
	}
	return inside > 0 && inside < len(t.Nodes)
}
