package step

import (
	"testing"

	"railyard/internal/long"
	"railyard/model/collective"
	"railyard/model/gpu"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/model/workload"
	"railyard/sim/nccl"
	"railyard/study"
	"railyard/topologies"
)

// A collective over all GPUs of a machine, with nothing beside it, takes what NCCL is expected to
// take for it, to the picosecond: all links are its own.
func TestAloneAStepsCollectiveIsNCCLs(t *testing.T) {
	g, err := gpu.Get("h100")
	if err != nil {
		t.Fatal(err)
	}
	kinds := []collective.Kind{collective.AllReduce, collective.AllGather, collective.ReduceScatter, collective.Broadcast,
		collective.AllToAll}
	sizes := []units.Bytes{units.KiB, 48 * units.KiB, units.MiB, 25192448, 256 * units.MiB, 4 * units.GiB}
	seen := 0
	for _, name := range topologies.Names() {
		for nodes := 1; nodes <= 2; nodes++ {
			load := func(n, gpus int) (*topology.Topology, error) {
				return topology.Load(topologies.Source, name, topology.Options{Nodes: n, GPUs: gpus})
			}
			topo, err := load(nodes, 0)
			if err != nil || topo.NumRanks() > long.Or(32, 512) || !study.HasGPUs(topo) {
				continue
			}
			runtime, err := study.NCCL(topo, nil, nccl.Options{})
			if err != nil {
				t.Logf("%s: %v", topo.Name(), err)
				continue
			}
			p, err := OnNCCL(topo, g, nil, load)
			if err != nil {
				t.Fatal(err)
			}
			all := newFamily(workload.Data, []dim{{1, topo.NumRanks()}}, nil)
			for _, kind := range kinds {
				at, err := p.place(&all, patternOf(kind))
				if err != nil {
					t.Fatal(err)
				}
				if at.Share != (Share{1, 1}) {
					t.Errorf("%d × %s, %v: alone it has a share of %v", nodes, name, kind, at.Share)
				}
				for _, size := range sizes {
					want, refused := runtime.Predict(nccl.Ask{Kind: kind, Size: size})
					got, err := p.Collective(&all, kind, size)
					if seen++; got.Time != want.Time || (err == nil) != (refused == nil) {
						t.Errorf("%d × %s, %v of %v: %v in a step (%v), %v expected of NCCL (%v)",
							nodes, name, kind, size, got.Time, err, want.Time, refused)
					}
				}
			}
		}
	}
	if seen < 500 {
		t.Errorf("%d collectives only", seen)
	}
}
