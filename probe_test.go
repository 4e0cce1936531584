package railyard_test

import (
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"strconv"
	"testing"

	"railyard/model/collective"
	"railyard/model/measurement"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/planner"
	"railyard/report/fit"
	"railyard/sim"
	"railyard/topologies"
)

// kernels are the hand-written all-reduces of docs/measured/h200-4/prototype.csv as
// schedules.
var kernels = map[string]struct {
	algorithm string
	protocol  schedule.Protocol
}{
	"oneshotLL": {"direct", schedule.LL}, "twoshotLL": {"two_shot", schedule.LL}, "twoshot": {"two_shot", schedule.Simple},
}

// TestProbeAlonePredictsCollectives: a profile that knows links and no collective
// predicts the all-reduces that ran on the same machine within 10 % in the mean.
func TestProbeAlonePredictsCollectives(t *testing.T) {
	var errors []float64
	for _, gpus := range []int{2, 4} {
		topo, err := topology.Load(topologies.Source, "hgx-h200-4", topology.Options{GPUs: gpus})
		if err != nil {
			t.Fatal(err)
		}
		r, err := fit.FromLinks("probe", "docs/measured/h200-4", "2026-11-21", readLinks(t, fmt.Sprintf("docs/measured/h200-4/links-%d.csv", gpus)), topo)
		if err != nil {
			t.Fatal(err)
		}
		for c, us := range fastest(t, "docs/measured/h200-4/prototype.csv") {
			k, ours := kernels[c.kernel]
			if c.gpus != gpus || !ours {
				continue
			}
			s, err := planner.Build(topo, collective.Spec{Kind: collective.AllReduce, Ranks: gpus}, k.algorithm, planner.Options{Protocol: k.protocol, Slices: 1})
			if err != nil {
				t.Fatal(err)
			}
			p, err := sim.Run(topo, s, c.size, r.Profile, sim.Options{})
			if err != nil {
				t.Fatal(err)
			}
			e := p.Time.Microseconds()/us - 1
			errors = append(errors, e)
			t.Logf("%s, %d GPUs, %v: predicted %.2f, measured %.2f us (%+.0f %%)", c.kernel, gpus, c.size, p.Time.Microseconds(), us, 100*e)
		}
	}
	if mape := measurement.MAPE(errors); mape > 0.10 || math.IsNaN(mape) || len(errors) < 30 {
		t.Errorf("MAPE %.1f %% over %d cases, want at most 10 %%", 100*mape, len(errors))
	}
}

func readLinks(t *testing.T, file string) []measurement.Link {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := measurement.ReadLinks(f, file)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// kernelCase is a case of prototype.csv.
type kernelCase struct {
	kernel string
	gpus   int
	size   units.Bytes
}

// fastest is the time of the best number of blocks of each case.
func fastest(t *testing.T, file string) map[kernelCase]float64 {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	out := map[kernelCase]float64{}
	for _, r := range rows[1:] { // kernel,gpus,bytes,blocks,threads,us,wrong
		gpus, err1 := strconv.Atoi(r[1])
		size, err2 := strconv.ParseInt(r[2], 10, 64)
		us, err3 := strconv.ParseFloat(r[5], 64)
		if err1 != nil || err2 != nil || err3 != nil {
			t.Fatalf("%s: %v", file, r)
		}
		c := kernelCase{r[0], gpus, units.Bytes(size)}
		if best, ok := out[c]; !ok || us < best {
			out[c] = us
		}
	}
	return out
}
