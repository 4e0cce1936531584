package study_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"railyard/internal/long"
	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/planner"
	"railyard/sim/nccl"
	"railyard/study"
	"railyard/topologies"
)

// changed is a shipped topology with some of its constants changed and some of its parts failed or
// slowed; ok is false where so little is left that it does not hang together.
func changed(name string, nodes int, seed uint64) (t *topology.Topology, what string, ok bool) {
	plain, err := study.Site{Name: name, Nodes: nodes}.Load()
	if err != nil || nodes > 1 && plain.NumNodes() != nodes {
		return nil, "", false
	}
	if seed == 0 {
		return plain, fmt.Sprintf("%d × %s", nodes, name), true
	}
	rng := rand.New(rand.NewPCG(seed, uint64(nodes)))
	site := study.Site{Name: name, Nodes: nodes}
	class := plain.Classes()[rng.IntN(len(plain.Classes()))]
	switch rng.IntN(3) {
	case 0:
		site.Set = []string{fmt.Sprintf("classes.%s.latency=%dns", class.Name, 10+rng.IntN(50_000))}
	case 1:
		site.Set = []string{fmt.Sprintf("classes.%s.rate=%dMB/s", class.Name, 500+rng.IntN(100_000))}
	}
	for range rng.IntN(3) {
		l := plain.Links()[rng.IntN(len(plain.Links()))]
		text := fmt.Sprintf("link:%s--%s", plain.DeviceName(l.From), plain.DeviceName(l.To))
		if rng.IntN(2) == 0 {
			text += fmt.Sprintf("=0.%d", 1+rng.IntN(9))
		}
		f, err := topology.ParseFault(text)
		if err != nil {
			return nil, "", false
		}
		site.Faults = append(site.Faults, f)
	}
	t, err = site.Load()
	return t, fmt.Sprintf("%d × %s, seed %d: set %v, fail %v", nodes, name, seed, site.Set, site.Faults), err == nil
}

// eachMachine visits the shipped topologies of one to three nodes, as they are and changed: with `seeds` seeds
// each, of which 0 changes nothing, and by turns one or the other where seeds is 1.
func eachMachine(ranks int, seeds uint64, visit func(t *topology.Topology, what string)) {
	for i, name := range topologies.Names() {
		for nodes := 1; nodes <= 3; nodes++ {
			for seed := range seeds {
				if seeds == 1 {
					seed = uint64(i+nodes) % 2
				}
				if seed > 0 {
					seed += uint64(100*i + 10*nodes)
				}
				if t, what, ok := changed(name, nodes, seed); ok && t.NumRanks() <= ranks && study.HasGPUs(t) {
					visit(t, what)
				}
			}
		}
	}
}

// What NCCL is predicted to take is never less than any schedule does: by cuts, by the latency of
// links, and where the graph of all transfers is small, by all cuts and paths of it.
func TestNCCLKeepsToTheLinks(t *testing.T) {
	seen := 0
	eachMachine(256, long.Or[uint64](1, 8), func(topo *topology.Topology, what string) {
		r, err := study.NCCL(topo, nil, nccl.Options{})
		if err != nil {
			return // NCCL does not run there
		}
		for _, kind := range collective.All() {
			if kind == collective.Barrier || kind == collective.AllToAllV {
				continue
			}
			spec := collective.Spec{Kind: kind, Ranks: topo.NumRanks()}
			cuts, latency, exact := collective.NewCuts(topo, spec), collective.LatencyBound(topo, spec, (*topology.Class).Full).Time, 0.0
			if spec.Ranks <= long.Or(16, 64) && len(topo.Faults()) == 0 { // answers keep to it everywhere
				if x, err := planner.ExactBound(topo, spec); err == nil {
					exact = x.AlgBW
				}
			}
			for size := units.KiB; size <= 4*units.GiB; size *= long.Or[units.Bytes](8, 2) {
				p, err := r.Predict(nccl.Ask{Kind: kind, Size: size})
				if err != nil {
					break // it has no such collective
				}
				seen++
				least := max(cuts.LowerBound(size).Time, latency)
				if exact > 0 {
					least = max(least, units.Time(float64(size)/exact*1e12*(1-1e-9)))
				}
				if low, _ := p.Band(); p.Time < least || low < max(cuts.LowerBound(size).Time, latency) || p.Time < p.Work.Least() {
					t.Errorf("%s: %v of %v by %s/%s in %v (from %v on), no schedule takes less than %v",
						what, kind, size, p.Algorithm, p.Protocol, p.Time, low, least)
				}
			}
		}
	})
	if seen < 1000 {
		t.Errorf("%d predictions only", seen)
	}
}

// No row of an answer is below the limit that it shows, neither the plan nor NCCL.
func TestNoRowIsBelowItsLimit(t *testing.T) {
	kinds := []collective.Kind{collective.AllReduce, collective.AllGather, collective.AllToAll, collective.Broadcast, collective.SendRecv}
	machines, rows := 0, 0
	eachMachine(long.Or(8, 24), long.Or[uint64](1, 4), func(topo *topology.Topology, what string) {
		machines++
		for i, kind := range kinds {
			if !long.Given() && machines%len(kinds) != i {
				continue
			}
			own, err := cost.MachineFor(topo)
			if err != nil {
				t.Fatal(err)
			}
			for _, costs := range []*cost.Machine{cost.NewMachine("line").WithOwn(cost.Line), own} {
				a := answered(t, topo, costs, kind, units.KiB, 3*units.MiB+17, 4*units.GiB)
				if a == nil {
					continue
				}
				for _, r := range a.Rows {
					rows++
					limit := r.Limit()
					if r.Prediction.Time < limit.Time || r.NCCL.Time > 0 && (r.NCCL.Time < limit.Time || r.NCCL.Low < limit.Time) {
						t.Errorf("%s, costs %s: %v of %v: %s in %v, NCCL in %v (from %v on), below the limit of %v: %s",
							what, costs.Name, kind, r.Size, planner.Name(r.Schedule), r.Prediction.Time, r.NCCL.Time, r.NCCL.Low,
							limit.Time, limit.Cut)
					}
				}
			}
		}
	})
	if rows < 50 {
		t.Errorf("%d rows only", rows)
	}
}

// Fibres between nodes that are longer than usual, 50 µs a link, two from NIC to NIC: NCCL, railyard's plan and the
// limit all take that much longer at least, whatever the sizes.
func TestLongFibres(t *testing.T) {
	const link = 50 * units.Microsecond
	for _, name := range []string{"dgx-a100", "dgx-h100", "leaf-spine-roce"} {
		usual := study.Site{Name: name, Nodes: 2}
		far := usual
		topo, err := usual.Load()
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range topo.Classes() {
			if c.Medium == topology.Network {
				far.Set = append(far.Set, fmt.Sprintf("classes.%s.latency=%v", c.Name, c.Latency+link))
			}
		}
		sizes := []units.Bytes{units.KiB, units.MiB}
		a := ask(t, usual, collective.AllReduce, study.Search{}, study.Detail{Baseline: true}, sizes...)
		b := ask(t, far, collective.AllReduce, study.Search{}, study.Detail{Baseline: true}, sizes...)
		for i, near := range a.Rows {
			far := b.Rows[i]
			if more := far.Prediction.Time - near.Prediction.Time; more < 2*link {
				t.Errorf("%s: %v by %s takes %v more", name, near.Size, planner.Name(far.Schedule), more)
			}
			if more := far.NCCL.Time - near.NCCL.Time; more < 2*link {
				t.Errorf("%s: %v by NCCL takes %v more", name, near.Size, more)
			}
			if far.Latency.Time < 2*link {
				t.Errorf("%s: no schedule takes less than %v", name, far.Latency.Time)
			}
		}
	}
}
