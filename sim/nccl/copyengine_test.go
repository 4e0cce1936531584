package nccl

import (
	"encoding/csv"
	"math"
	"os"
	"strconv"
	"testing"

	"railyard/model/collective"
	"railyard/model/topology"
	"railyard/model/units"
)

// Collectives by copy engines take what single copies and their local rate say, within a
// factor of 1.15: nothing is fitted on these rows but the local rate, on the largest of
// 2 GPUs.
func TestCopyEnginesMatchMeasurements(t *testing.T) {
	f, err := os.Open("testdata/h200-copy-engines.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.Comment = '#'
	rows, err := r.ReadAll()
	if err != nil || len(rows) < 40 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	kinds := map[string]collective.Kind{"all_gather": collective.AllGather, "alltoall": collective.AllToAll}
	sum, n := 0.0, 0.0
	for _, row := range rows[1:] {
		gpus, _ := strconv.Atoi(row[1])
		size, _ := strconv.ParseInt(row[2], 10, 64)
		us, _ := strconv.ParseFloat(row[3], 64)
		rt := runtime(t, load(t, "hgx-h200-4", topology.Options{GPUs: gpus}), "h200")
		p, err := rt.Predict(Ask{Kind: kinds[row[0]], Algorithm: "CE", Size: units.Bytes(size)})
		if err != nil {
			t.Fatal(err)
		}
		off := math.Abs(math.Log(p.Time.Microseconds() / us))
		sum, n = sum+off, n+1
		if off > math.Log(1.5) {
			t.Errorf("%v: %v predicted", row, p.Time)
		}
	}
	if got := math.Exp(sum / n); got > 1.15 {
		t.Errorf("factor %.3f over %.0f rows", got, n)
	}
}

func TestCopyEnginesReduceNothing(t *testing.T) {
	for _, c := range []struct {
		nodes int
		kind  collective.Kind
	}{{1, collective.AllReduce}, {2, collective.AllGather}} {
		r := runtime(t, load(t, "dgx-h100", topology.Options{Nodes: c.nodes}), "h100")
		if _, err := r.Predict(Ask{Kind: c.kind, Algorithm: "CE", Size: units.MiB}); err == nil {
			t.Errorf("%v on %d nodes is predicted", c.kind, c.nodes)
		}
	}
}
