package study

import (
	"reflect"
	"testing"

	"railyard/internal/gen"
	"railyard/model/collective"
)

// On the whole machine, ranks that are lost send nothing.
func TestCountsOfLostRanks(t *testing.T) {
	topo, err := Site{Name: "dgx1-v100", GPUs: 3, Faults: gen.Faults("gpu:gpu1")}.Load()
	if err != nil {
		t.Fatal(err)
	}
	c := Collective{Kind: collective.Scatter, Root: 1, Counts: [][]int64{{1, 2}, {3, 4}}}
	if got := c.onWhole(topo); got.Root != 2 || !reflect.DeepEqual(got.Counts, [][]int64{{1, 0, 2}, {0, 0, 0}, {3, 0, 4}}) {
		t.Errorf("%+v", got)
	}
}

// Where the first rank is lost, only what has a root has another one on the whole machine.
func TestRootsOfLostRanks(t *testing.T) {
	topo, err := Site{Name: "dgx1-v100", Faults: gen.Faults("gpu:gpu0")}.Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range collective.All() {
		spec, err := Collective{Kind: k}.onWhole(topo).Over(topo.Healthy().NumRanks())
		if err != nil {
			t.Errorf("%v: %v", k, err)
		}
		if root := spec.Root == 1; root != k.Rooted() {
			t.Errorf("%v: root %d", k, spec.Root)
		}
	}
}
