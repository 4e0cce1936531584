package grouptest

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"railyard/internal/long"
)

// cluster has leaves of so many nodes.
func cluster(nodes, leaf, adapters int) Cluster {
	c := Cluster{Nodes: nodes, Smallest: 2, Adapters: adapters}
	for n := 0; n < nodes; n++ {
		if n%leaf == 0 {
			c.Groups = append(c.Groups, Group{Name: "leaf"})
		}
		g := &c.Groups[len(c.Groups)-1]
		g.Nodes = append(g.Nodes, n)
	}
	return c
}

// fault is a part and by how much it slows tests, as a logarithm.
type fault struct {
	Part
	slows float64
}

// played is what was found by tests of a cluster with faults, and after how many tests.
func played(c Cluster, n Noise, faults []fault, r *rand.Rand, budget int) (named []Part, tests int) {
	machine := n.Machine * r.NormFloat64()
	var results []Result
	for {
		p := Of(c, n, results)
		t, ok := p.Next()
		if !ok || len(results) == budget {
			for _, f := range p.Suspects(Sure) {
				named = append(named, f.Part)
			}
			return named, len(results)
		}
		slow, in := 0., make([]bool, c.Nodes)
		for _, n := range t.Nodes {
			in[n] = true
		}
		for _, f := range faults {
			if c.touches(f.Part, t, in) {
				slow = max(slow, f.slows)
			}
		}
		results = append(results, Result{t, machine + slow + n.Repeats*r.NormFloat64()})
	}
}

// TestFindsFaults: on clusters of 16 to 1,024 nodes with 0 to 5 faults that slow a test by 14 % at least, and 5 % of noise, all are found
// and
// nothing else in 95 of 100 clusters; of healthy ones, one in 100 at most is said not to be.
func TestFindsFaults(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 3))
	noise := Noise{Repeats: 0.05, Machine: 0.3, Least: math.Log(1.14), Most: math.Log(4)}
	right, all, alarms, healthy := 0, 0, 0, 0
	for _, nodes := range long.Or([]int{16, 64}, []int{16, 32, 64, 128, 256, 512, 1024}) {
		for count := range 6 {
			used, bound := 0., 0.
			seeds := long.Or(2, 15)
			if count == 0 {
				seeds *= 5
			}
			for range seeds {
				c := cluster(nodes, 16, 0)
				var faults []fault
				var want []Part
				for _, at := range r.Perm(nodes)[:count] {
					part := Part{at, Whole, -1}
					want, faults = append(want, part), append(faults, fault{part, noise.Least + r.Float64()*(math.Log(2)-noise.Least)})
				}
				named, tests := played(c, noise, faults, r, 400)
				used += float64(tests) / float64(seeds)
				ok := same(named, want)
				if count == 0 {
					healthy++
					if len(named) > 0 {
						alarms++
					}
				}
				all++
				if ok {
					right++
				} else {
					t.Logf("%d nodes: %v, named %v after %d tests", nodes, faults, named, tests)
				}
			}
			if count > 0 {
				bound = float64(count) * math.Log2(float64(nodes)/float64(count))
			}
			t.Logf("%d nodes, %d faults: %.1f tests, f·log₂(n/f) is %.1f", nodes, count, used, bound)
		}
	}
	if share := float64(right) / float64(all); share < 0.95 {
		t.Errorf("right in %.1f %% of %d clusters", 100*share, all)
	}
	if share := float64(alarms) / float64(healthy); share > 0.01 {
		t.Errorf("%d of %d healthy clusters are said not to be", alarms, healthy)
	}
}

func same(a, b []Part) bool {
	return len(a) == len(b) && !slices.ContainsFunc(a, func(p Part) bool { return !slices.Contains(b, p) })
}
