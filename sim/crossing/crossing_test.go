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

func setup(t *testing.T) (*topology.Topology, cost.Steps) {
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
