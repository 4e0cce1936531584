package study

import (
	"reflect"
	"testing"

	"railyard/internal/gen"
)

// On the whole machine, ranks that are lost send nothing.
func TestCountsOfLostRanks(t *testing.T) {
	topo, err := Site{Name: "dgx1-v100", GPUs: 3, Faults: gen.Faults("gpu:gpu1")}.Load()
	if err != nil {
		t.Fatal(err)
	}
	c := Collective{Root: 1, Counts: [][]int64{{1, 2}, {3, 4}}}
	if got := c.onWhole(topo); got.Root != 2 || !reflect.DeepEqual(got.Counts, [][]int64{{1, 0, 2}, {0, 0, 0}, {3, 0, 4}}) {
		t.Errorf("%+v", got)
	}
}
