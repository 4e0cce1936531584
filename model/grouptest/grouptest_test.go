package grouptest

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"railyard/internal/long"
)

// cluster has leaves of so many nodes, in turn.
func cluster(nodes, adapters int, leaves ...int) Cluster {
	c := Cluster{Nodes: nodes, Smallest: 2, Adapters: adapters}
	for from := 0; from < nodes; {
		to := min(from+leaves[len(c.Groups)%len(leaves)], nodes)
		g := Group{Name: "leaf"}
		for n := from; n < to; n++ {
			g.Nodes = append(g.Nodes, n)
		}
		c.Groups, from = append(c.Groups, g), to
	}
	return c
}

// fault is a part and by how much it slows tests, as a logarithm.
type fault struct {
	Part
	slows float64
}

// played is what was found by tests of a cluster with faults, beside some that have another machine's offset, and after how many tests.
func played(c Cluster, n Noise, faults []fault, before []Test, r *rand.Rand) (named []Part, tests int) {
	var results []Result
	run := func(t Test, by int, machine float64) {
		slow := 0.
		for _, f := range faults {
			if c.Touches(f.Part, t) {
				slow = max(slow, f.slows)
			}
		}
		results = append(results, Result{t, by, machine + slow + n.Repeats*r.NormFloat64()})
	}
	machine, other := n.Machine*r.NormFloat64(), n.Machine*r.NormFloat64()
	for _, t := range before {
		run(t, 1, other)
	}
	for {
		p := Of(c, n, results)
		t, ok := p.Next()
		if tests = len(results) - len(before); !ok || tests == 400 {
			for _, f := range p.Suspects(Sure) {
				named = append(named, f.Part)
			}
			return named, tests
		}
		run(t, 0, machine)
	}
}

// pairs are what `railyard probe` measures between so many nodes: each with those a power of two further on.
func pairs(nodes int) (out []Test) {
	for distance := 1; distance < nodes; distance *= 2 {
		for a := range nodes {
			b := (a + distance) % nodes
			out = append(out, Test{Nodes: []int{min(a, b), max(a, b)}})
		}
	}
	return out
}

// trial is a kind of clusters and of their faults.
type trial struct {
	name    string
	few     []int // sizes without -long
	sizes   []int
	most    int // faults
	cluster func(nodes int) Cluster
	part    func(c *Cluster, at int, r *rand.Rand) Part // that is faulty, of the at-th of its kind
	of      func(c *Cluster) int                        // how many there are of that kind
	before  func(nodes int) []Test                      // that were measured by something else
}

func aNode(_ *Cluster, at int, _ *rand.Rand) Part     { return Part{at, Whole, -1} }
func aLeaf(_ *Cluster, at int, _ *rand.Rand) Part     { return Part{-1, Whole, at} }
func anInside(_ *Cluster, at int, _ *rand.Rand) Part  { return Part{at, Inside, -1} }
func nodesOf(c *Cluster) int                          { return c.Nodes }
func leavesOf(c *Cluster) int                         { return len(c.Groups) }
func anAdapter(c *Cluster, at int, r *rand.Rand) Part { return Part{at, r.IntN(c.Adapters), -1} }

// either is a node's fault or, one time in four, a leaf's.
func either(c *Cluster, at int, r *rand.Rand) Part {
	if r.IntN(4) > 0 {
		return aNode(c, at, r)
	}
	return aLeaf(c, at%len(c.Groups), r)
}

func none(int) []Test { return nil }

func leaves(adapters int, sizes ...int) func(nodes int) Cluster {
	return func(nodes int) Cluster { return cluster(nodes, adapters, sizes...) }
}

// fours is a cluster whose groups of fewer than four nodes show no fault of an adapter but where they use half of them.
func fours(nodes int) Cluster {
	c := cluster(nodes, 8, 16)
	c.Smallest, c.Pairs = 4, 4
	return c
}

var trials = []trial{
	{"nodes", []int{16, 64}, []int{16, 32, 64, 128, 256, 512, 1024}, 5, leaves(0, 16), aNode, nodesOf, none},
	{"nodes, uneven leaves", []int{64}, []int{16, 64, 256, 1024}, 5, leaves(0, 3, 17, 8, 1, 30), aNode, nodesOf, none},
	{"leaf", []int{64}, []int{16, 64, 256, 1024}, 1, leaves(0, 4), aLeaf, leavesOf, none},
	{"uneven leaf", []int{64}, []int{16, 64, 256, 1024}, 1, leaves(0, 3, 9, 6, 2, 12), aLeaf, leavesOf, none},
	{"nodes and leaves", []int{64}, []int{64, 256}, 3, leaves(0, 8), either, nodesOf, none},
	{"adapter", []int{4}, []int{4, 16, 64}, 1, leaves(8, 16), anAdapter, nodesOf, none},
	{"adapter, groups of four", []int{4}, []int{4, 8, 16}, 1, fours, anAdapter, nodesOf, none},
	{"nodes, after probe", []int{16}, []int{16, 64, 256}, 5, leaves(0, 16), aNode, nodesOf, pairs},
	{"leaf, after probe", []int{64}, []int{16, 64, 256}, 1, leaves(0, 4), aLeaf, leavesOf, pairs},
	{"inside of nodes", []int{16}, []int{16}, 5, leaves(8, 16), anInside, nodesOf, none},
}

// TestFindsFaults: on clusters with 0 to 5 faults that slow a test by 14 % at least, and 5 % of noise, all are found and nothing else in
// 95 of 100 clusters, with -long of each kind, after at most twice f·log₂(n/f) tests over all kinds; of healthy ones, one in 100 at most is
// said not to be. It prints docs/gates.md's table.
func TestFindsFaults(t *testing.T) {
	own := make([]tally, len(trials))
	t.Run("kinds", func(t *testing.T) {
		for i, x := range trials {
			t.Run(x.name, func(t *testing.T) {
				t.Parallel()
				if x.try(t, &own[i], uint64(i)); long.Given() {
					own[i].judge(t, x.name)
				}
			})
		}
	})
	var all tally
	for i := range own {
		all.add(&own[i])
	}
	all.judge(t, "all kinds")
	if all.tests > 2*all.least {
		t.Errorf("%.0f tests, more than twice the %.0f of f·log₂(n/f) for nodes", all.tests, all.least)
	}
	t.Logf("%.2f times f·log₂(n/f) tests", all.tests/all.least)
}

// tally counts clusters.
type tally struct {
	all, right, healthy, alarms int
	tests, least                float64 // of clusters with faults: made, and f·log₂(n/f)
}

func (y *tally) add(o *tally) {
	y.all, y.right, y.healthy, y.alarms = y.all+o.all, y.right+o.right, y.healthy+o.healthy, y.alarms+o.alarms
	y.tests, y.least = y.tests+o.tests, y.least+o.least
}

func (y *tally) judge(t *testing.T, of string) {
	if share := float64(y.right) / float64(y.all); share < 0.95 {
		t.Errorf("%s: right in %.1f %% of %d clusters", of, 100*share, y.all)
	}
	if share := float64(y.alarms) / float64(y.healthy); share > 0.01 {
		t.Errorf("%s: %d of %d healthy clusters are said not to be", of, y.alarms, y.healthy)
	}
}

// try plays clusters that are the same whatever is tested.
func (x *trial) try(t *testing.T, y *tally, kind uint64) {
	for _, nodes := range long.Or(x.few, x.sizes) {
		for count := range x.most + 1 {
			own, used, seeds := tally{}, 0, long.Or(1, 15)
			if count == 0 {
				seeds *= 5
			}
			for draw := range seeds {
				r := rand.New(rand.NewPCG(kind<<32|uint64(nodes), uint64(count)<<32|uint64(draw)))
				used += x.once(t, &own, nodes, count, r)
			}
			least := 0.
			if count > 0 {
				least = float64(count) * math.Log2(float64(nodes)/float64(count))
				own.tests, own.least = float64(used), least*float64(seeds)
			}
			y.add(&own)
			t.Logf("| %s | %d | %d | %d of %d | %.1f | %.1f |", x.name, nodes, count, own.right, seeds, float64(used)/float64(seeds), least)
		}
	}
	t.Logf("| %s | all | 0–%d | %d of %d; %d alarms of %d | | |", x.name, x.most, y.right, y.all, y.alarms, y.healthy)
}

// once plays a cluster with so many faults, and says after how many tests it ended.
func (x *trial) once(t *testing.T, y *tally, nodes, count int, r *rand.Rand) int {
	noise := Noise{Repeats: 0.05, Machine: 0.3, MinSlowdown: math.Log(1.14), MaxSlowdown: math.Log(4)}
	c := x.cluster(nodes)
	var faults []fault
	var want []Part
	for _, at := range r.Perm(x.of(&c)) {
		if part := x.part(&c, at, r); len(want) < count && !slices.Contains(want, part) {
			want, faults = append(want, part), append(faults, fault{part, noise.MinSlowdown + r.Float64()*(math.Log(2)-noise.MinSlowdown)})
		}
	}
	named, tests := played(c, noise, faults, x.before(nodes), r)
	y.all++
	if same(named, want) {
		y.right++
	} else {
		t.Logf("%s, %d nodes: %v, named %v after %d tests", x.name, nodes, faults, named, tests)
	}
	if count == 0 {
		y.healthy++
		y.alarms += min(len(named), 1)
	}
	return tests
}

// TestFoundNodesAreDone: once it is known what is faulty in a node, no test looks for what else may hide behind it.
func TestFoundNodesAreDone(t *testing.T) {
	c, noise := cluster(16, 8, 16), Noise{Repeats: 0.01, Machine: 0.3, MinSlowdown: math.Log(1.14), MaxSlowdown: math.Log(4)}
	for _, adapter := range []int{Inside, 3} {
		part := Part{7, adapter, -1}
		named, tests := played(c, noise, []fault{{part, math.Log(1.3)}}, nil, rand.New(rand.NewPCG(1, 2)))
		if !same(named, []Part{part}) || tests > 12 {
			t.Errorf("%v: named %v after %d tests", part, named, tests)
		}
	}
}

// TestEndsWhereNothingTells: of a leaf of two nodes, both are faulty, which looks as if one of them and the leaf's links were. What else is
// faulty is found, and no tests follow that say next to nothing.
func TestEndsWhereNothingTells(t *testing.T) {
	c, noise := cluster(64, 0, 3, 17, 8, 1, 30), Noise{Repeats: 0.05, Machine: 0.3, MinSlowdown: math.Log(1.14), MaxSlowdown: math.Log(4)}
	part := func(node int) Part { return Part{node, Whole, -1} }
	faults := []fault{{part(12), 0.64}, {part(46), 0.62}, {part(63), 0.347}, {part(62), 0.334}, {part(29), 0.17}}
	for seed := range uint64(3) {
		named, tests := played(c, noise, faults, nil, rand.New(rand.NewPCG(seed, 4)))
		if !same(named, []Part{part(12), part(29), part(46)}) || tests > 60 {
			t.Errorf("named %v after %d tests", named, tests)
		}
		t.Logf("%d tests", tests)
	}
}

// TestSuspectsOfASlowPair: of two pairs of which one is slow, the nodes of that are the most suspect, each as a whole: what is in it is no
// likelier than its adapters. Once a test of a node alone is slow, it is what is in it.
func TestSuspectsOfASlowPair(t *testing.T) {
	c, noise := cluster(4, 8, 4), Noise{Repeats: 0.05, Machine: 0.3, MinSlowdown: math.Log(1.14), MaxSlowdown: math.Log(4)}
	results := []Result{{Test{Nodes: []int{0, 1}}, 0, 0.72}, {Test{Nodes: []int{2, 3}}, 0, 0.14}}
	suspects := Of(c, noise, results).Suspects(0.1)
	if len(suspects) < 2 {
		t.Fatalf("%+v", suspects)
	}
	for _, f := range suspects[:2] {
		if f.Node > 1 || f.Adapter != Whole || f.Probability < 0.4 {
			t.Errorf("%+v of %+v", f, suspects)
		}
	}
	results = append(results, Result{Test{Nodes: []int{1}}, 0, 0.7}, Result{Test{Nodes: []int{0}}, 0, 0.01}, Result{Test{Nodes: []int{2}}, 0, 0})
	if first := Of(c, noise, results).Suspects(0.1)[0]; first.Node != 1 || first.Adapter != Inside {
		t.Errorf("%+v", first)
	}
}

func same(a, b []Part) bool {
	return len(a) == len(b) && !slices.ContainsFunc(a, func(p Part) bool { return !slices.Contains(b, p) })
}
