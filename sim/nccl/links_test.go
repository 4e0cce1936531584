package nccl

import (
	"strings"
	"testing"

	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/topologies"
)

var everyKind = []collective.Kind{collective.AllReduce, collective.AllGather, collective.ReduceScatter, collective.Broadcast,
	collective.Reduce, collective.AllToAll, collective.SendRecv}

// On every topology, with one to four nodes and any number of GPUs of them in use, every collective is
// predicted, and neither NCCL's own model nor a prediction by kernels is faster than what the links allow.
func TestNothingBeatsTheLinks(t *testing.T) {
	for _, name := range topologies.Names() {
		for nodes := 1; nodes <= 4; nodes++ {
			for _, gpus := range []int{1, 2, 3, 4, 7, 0} {
				topo, err := topology.Load(topologies.Source, name, topology.Options{Nodes: nodes, GPUs: gpus})
				if err != nil { // files without a network, and nodes of fewer GPUs
					if !strings.Contains(err.Error(), "describes no fabric") && !strings.Contains(err.Error(), "node has only") {
						t.Error(err)
					}
					continue
				}
				if topo.NumRanks() > 1 {
					beatsNoLink(t, topo, nodes, gpus)
				}
			}
		}
	}
}

func beatsNoLink(t *testing.T, topo *topology.Topology, nodes, gpus int) {
	t.Helper()
	r, err := NewRuntime(topo, shipped(t, machineOf(t, topo)), cost.GeneralNCCL(), Options{})
	if err != nil {
		t.Errorf("%s, %d nodes of %d GPUs: %v", topo.Name(), nodes, gpus, err)
		return
	}
	for _, k := range everyKind {
		for _, size := range []units.Bytes{units.KiB, units.MiB, 4 * units.GiB} {
			least := collective.LowerBound(topo, collective.Spec{Kind: k, Ranks: topo.NumRanks()}, size).Time
			p, err := r.Predict(Ask{Kind: k, Size: size})
			switch {
			case err != nil:
				t.Errorf("%s, %d nodes of %d GPUs: %v", topo.Name(), nodes, gpus, err)
			case least <= 0 || p.Time < least:
				t.Errorf("%s, %d nodes of %d GPUs: %v of %v takes %v by %s/%s, the links at least %v", topo.Name(), nodes, gpus, k, size,
					p.Time, p.Algorithm, p.Protocol, least)
			}
			if r.model == nil {
				continue
			}
			all, _ := r.model.Candidates(k, size) // none: without a cost model
			for _, e := range all {
				if e.Time < least {
					t.Errorf("%s, %d nodes of %d GPUs: NCCL takes %v for %v of %v by %v/%v, the links at least %v", topo.Name(), nodes, gpus,
						e.Time, k, size, e.Algo, e.Proto, least)
				}
			}
		}
	}
}

// Racks are joined by the NICs of all their trays, however many of them are in use.
func TestRacksAreJoinedByTheirNICs(t *testing.T) {
	for _, c := range []struct {
		trays, racks int
		network      float64 // GB/s out of the rack that has least
	}{{18, 1, 0}, {19, 2, 200}, {36, 2, 3600}, {72, 4, 3600}} {
		topo := load(t, "gb200-nvl72", topology.Options{Nodes: c.trays})
		r := runtime(t, topo, "gb200")
		if r.rates.nodes != c.racks || r.rates.network != c.network*1e9 {
			t.Errorf("%d trays: %d racks, %.0f GB/s out of each, want %d and %.0f", c.trays, r.rates.nodes, r.rates.network/1e9, c.racks,
				c.network)
		}
	}
}
