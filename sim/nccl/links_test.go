package nccl

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"railyard/internal/long"
	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/topologies"
)

var everyKind = []collective.Kind{collective.AllReduce, collective.AllGather, collective.ReduceScatter, collective.Broadcast,
	collective.Reduce, collective.AllToAll, collective.SendRecv}

// On every topology, with one to four nodes and any number of GPUs of them in use (one or three nodes and one, three or all GPUs
// by default), every collective is
// predicted, and neither NCCL's own model nor a prediction by kernels is faster than what the links allow.
func TestNothingBeatsTheLinks(t *testing.T) {
	for _, name := range topologies.Names() {
		for _, nodes := range long.Or([]int{1, 3}, []int{1, 2, 3, 4}) {
			for _, gpus := range long.Or([]int{1, 3, 0}, []int{1, 2, 3, 4, 5, 7, 0}) {
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
					t.Errorf("%s, %d nodes of %d GPUs: NCCL takes %v for %v of %v by %v/%v, the links at least %v", topo.Name(),
						nodes, gpus,
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

// Ten kilometres of fibre are 50 µs a link. They act on all that crosses the network, as often as it does; links as
// shipped files have them add nothing to what kernels were fitted with.
func TestLatencyOfLinksActs(t *testing.T) {
	for _, name := range topologies.Names() {
		topo := load(t, name, topology.Options{})
		if r, err := NewRuntime(topo, shipped(t, machineOf(t, topo)), cost.GeneralNCCL(), Options{}); err == nil &&
			(math.Abs(r.rates.hopMore) > 1 || math.Abs(r.rates.acrossMore) > 1) {
			t.Errorf("%s: its links take %g and %g ps more than usual ones", name, r.rates.hopMore, r.rates.acrossMore)
		}
	}
	usual := runtime(t, load(t, "dgx-h100", topology.Options{Nodes: 4}), "h100")
	for _, x := range []units.Time{units.Microsecond, 50 * units.Microsecond} {
		far := runtime(t, load(t, "dgx-h100", topology.Options{Nodes: 4, Set: []string{"classes.ndr400.latency=" + x.String()}}), "h100")
		for _, size := range []units.Bytes{units.KiB, units.MiB, units.GiB} {
			a := Ask{Kind: collective.AllReduce, Algorithm: "Tree", Size: size}
			p, q := predict(t, usual, a), predict(t, far, a)
			want := units.Time(p.Work.NetHops) * 2 * (x - 600*units.Nanosecond) // from the NIC to the switch and on
			want = max(want, far.least(&p.Work, p.Protocol)-p.Time)             // or what the protocol's slots hold for each round trip
			if more := q.Time - p.Time; more < want*9/10 || more > want*11/10 {
				t.Errorf("%v a link: %v takes %v more, want %v", x, size, more, want)
			}
			if said := strings.Contains(q.Slowest, "links whose latencies are higher"); said != (2*(q.Latency-p.Latency) > q.Latency) {
				t.Errorf("%v a link: %v takes %v without bytes, %v on usual links, most of it for %s", x, size, q.Latency, p.Latency, q.Slowest)
			}
		}
	}
}

// No time falls as sizes grow, whatever NCCL chooses for them.
func TestTimesDoNotFall(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, name := range topologies.Names() {
		for _, o := range []topology.Options{{}, {Nodes: 3, GPUs: 1}, {Nodes: 2}, {GPUs: 2}}[:long.Or(2, 4)] {
			topo, err := topology.Load(topologies.Source, name, o)
			if err != nil || topo.NumRanks() < 2 {
				continue
			}
			r, err := NewRuntime(topo, shipped(t, machineOf(t, topo)), cost.GeneralNCCL(), Options{})
			if err != nil {
				t.Error(err)
				continue
			}
			for _, k := range everyKind {
				doesNotFall(t, r, k, random)
			}
		}
	}
}

func doesNotFall(t *testing.T, r *Runtime, k collective.Kind, random *rand.Rand) {
	t.Helper()
	last, before := Prediction{}, units.Bytes(0)
	for size := units.Bytes(1); size <= 100*units.GiB; size += 1 + units.Bytes(random.Int64N(int64(size))) {
		p := predict(t, r, Ask{Kind: k, Size: size})
		if p.Time < last.Time {
			t.Errorf("%s, %d ranks: %v of %v takes %v by %s/%s, %v takes %v by %s/%s", r.topo.Name(), r.rates.ranks, k, before, last.Time,
				last.Algorithm, last.Protocol, size, p.Time, p.Algorithm, p.Protocol)
		}
		last, before = p, size
	}
}
