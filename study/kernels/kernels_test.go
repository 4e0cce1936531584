package kernels

import (
	"testing"

	"railyard/exec/cuda"
	_ "railyard/internal/long" // accepts -long
	"railyard/model/block"
	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/planner"
	"railyard/topologies"
)

// What copy engines have brought is summed up by kernels beside the next slice's copies: the last slice's sum is what
// they cost, a share of the whole that shrinks with the slices; what is only copied costs no more.
func TestSumsBehindCopies(t *testing.T) {
	topo, err := topology.Load(topologies.Source, "hgx-h200-4", topology.Options{})
	if err != nil {
		t.Fatal(err)
	}
	const size = units.GiB
	free := *cost.Line
	slow := free
	slow.Sum = 1e12
	for _, c := range []struct {
		kind collective.Kind
		sums float64 // bytes that a rank's kernels read and write, of what it adds up
	}{{collective.ReduceScatter, 5. / 4}, {collective.AllGather, 0}} {
		for _, n := range []int{1, 2, 4} {
			s, err := planner.Build(topo, collective.Spec{Kind: c.kind, Ranks: 4}, "direct", planner.Options{Slices: n})
			if err != nil {
				t.Fatal(err)
			}
			how := cuda.Method{Mechanism: block.Copies, Blocks: 64, Threads: 512, Streams: 1}
			s.Protocol = how.Mechanism.Protocol()
			var took [2]units.Time
			for i, p := range []*cost.Profile{&free, &slow} {
				if took[i], _, err = Predict(topo, s, how, Floats(size), p); err != nil {
					t.Fatal(err)
				}
			}
			want := units.Time(c.sums * float64(size) / 3e12 * 1e12 / float64(n))
			if got := took[1] - took[0]; got < want-want/50 || got > want+want/50 {
				t.Errorf("%v in %d slices: sums cost %v, want %v", c.kind, n, got, want)
			}
		}
	}
}
