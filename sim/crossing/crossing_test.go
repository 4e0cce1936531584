package crossing

import (
	"strings"
	"testing"

	_ "railyard/internal/long" // accepts -long
	"railyard/model/cost"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/topologies"
)

func setup(t *testing.T) (*topology.Topology, *cost.Steps) {
	topo, err := topology.Load(topologies.Source, "dgx-h100", topology.Options{Nodes: 2})
	if err != nil {
		t.Fatal(err)
	}
	costs, err := cost.ReadSteps("../../model/cost/steps.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return topo, costs
}

func predict(t *testing.T, o Options) *Result {
	topo, costs := setup(t)
	r, err := Predict(topo, 0, 8, costs, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// playedPieces is the pipeline played piece by piece: the oracle of the formula.
func playedPieces(steps []Step, n int) float64 {
	free := make([]float64, len(steps))
	at := 0.0
	for range n {
		at = 0
		for i := range steps {
			at = max(at, free[i]) + steps[i].piece(n)
			free[i] = at
		}
	}
	return at
}

func TestPipelineIsThePlayedPipeline(t *testing.T) {
	r := predict(t, Options{Size: 64 * units.MiB, Shrink: 2, HostStaged: true, QueuePairs: 2})
	for n := 1; n < 40; n++ {
		got, want := float64(pipeline(r.Steps, n)), playedPieces(r.Steps, n)
		if got < want-1 || got > want+float64(n)+1 {
			t.Errorf("%d pieces: %v, played %v", n, got, want)
		}
	}
}

func TestWhatHelps(t *testing.T) {
	const size = 256 * units.MiB
	plain := predict(t, Options{Size: size, Shrink: 1, QueuePairs: 2})
	if len(plain.Steps) != 1 || plain.Slowest != "network" {
		t.Errorf("GPUDirect RDMA has steps %+v", plain.Steps)
	}
	staged := predict(t, Options{Size: size, Shrink: 1, HostStaged: true, QueuePairs: 2})
	if staged.Time <= plain.Time || staged.Time >= staged.Serial || len(staged.Steps) != 3 {
		t.Errorf("staged %v (serial %v), direct %v", staged.Time, staged.Serial, plain.Time)
	}
	half := predict(t, Options{Size: size, Shrink: 2, QueuePairs: 2})
	if ratio := float64(half.Time) / float64(plain.Time); ratio < 0.5 || ratio > 0.6 {
		t.Errorf("half the bytes take %.2f of the time", ratio)
	}
	small := predict(t, Options{Size: 64 * units.KiB, Shrink: 4, QueuePairs: 2})
	if direct := predict(t, Options{Size: 64 * units.KiB, Shrink: 1, QueuePairs: 2}); small.Time <= direct.Time {
		t.Errorf("converting 64 KiB pays: %v against %v", small.Time, direct.Time)
	}
	if gpu := predict(t, Options{Size: size, Shrink: 1, QueuePairs: 2, GPUInitiated: true}); gpu.Time >= plain.Time {
		t.Errorf("GPU-initiated %v, proxy %v", gpu.Time, plain.Time)
	}
	if one := predict(t, Options{Size: size, Shrink: 1, QueuePairs: 1}); one.Time <= plain.Time {
		t.Errorf("one queue pair %v, two %v", one.Time, plain.Time)
	}
}

func TestRefusals(t *testing.T) {
	topo, costs := setup(t)
	if _, err := Predict(topo, 0, 1, costs, Options{Size: 1, Shrink: 1, QueuePairs: 1}); err == nil ||
		!strings.Contains(err.Error(), "does not cross a network") {
		t.Errorf("%v", err)
	}
	if _, err := Predict(topo, 0, 8, costs, Options{Size: 1, Shrink: 0, QueuePairs: 1}); err == nil {
		t.Error("shrink 0 is taken")
	}
}

// Copies to and from host memory are no faster than the PCIe that they cross, and never faster than measured.
func TestCopiesKeepToTheirLinks(t *testing.T) {
	for name, most := range map[string]float64{"dgx1-v100": 15.75, "dgx-a100": 31.5, "dgx-h100": 55.5, "pcie3-server": 15.75,
		"gh200-quad": 55.5} {
		topo, err := topology.Load(topologies.Source, name, topology.Options{Nodes: 2})
		if err != nil {
			t.Fatal(err)
		}
		_, costs := setup(t)
		r, err := Predict(topo, 0, topo.NumRanks()/2, costs, Options{Size: units.GiB, Shrink: 1, HostStaged: true, QueuePairs: 2})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range r.Steps {
			if s.Name != "network" && (s.Rate > most*1e9 || s.Rate < 0.8*most*1e9) {
				t.Errorf("%s: %s at %.1f GB/s, its links carry %.1f", name, s.Name, s.Rate/1e9, most)
			}
		}
	}
}

// Two queue pairs fill the adapter, and 32 do no more; that this is so, and what it rests on, is said.
func TestQueuePairsBeyondTheAdapterAreSaid(t *testing.T) {
	one, two, many := predict(t, Options{Size: units.GiB, Shrink: 1, QueuePairs: 1}), predict(t, Options{Size: units.GiB, Shrink: 1,
		QueuePairs: 2}), predict(t, Options{Size: units.GiB, Shrink: 1, QueuePairs: 32})
	if one.Time <= two.Time || two.Time != many.Time {
		t.Errorf("1, 2 and 32 queue pairs: %v, %v, %v", one.Time, two.Time, many.Time)
	}
	if len(one.Notes) > 0 || len(many.Notes) != 1 || !strings.Contains(many.Notes[0], "assumption") {
		t.Errorf("notes %q and %q", one.Notes, many.Notes)
	}
}
