package study_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"time"

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

// machine is a shipped topology of some nodes, changed where its seed is not 0.
type machine struct {
	*topology.Topology
	what string
	seed uint64
	turn int // its place among all that are visited
}

// eachMachine visits the shipped topologies of one to three nodes, as they are and changed: with `seeds` seeds
// each, of which 0 changes nothing, and by turns one or the other where seeds is 1. Topologies are visited beside one another.
func eachMachine(t *testing.T, ranks int, seeds uint64, visit func(t *testing.T, m machine)) {
	ofTopology := func(t *testing.T, i int, name string) {
		for nodes := 1; nodes <= 3; nodes++ {
			for turn := range seeds {
				seed := turn
				if seeds == 1 {
					seed = uint64(i+nodes) % 2
				}
				if seed > 0 {
					seed += uint64(100*i + 10*nodes)
				}
				if topo, what, ok := changed(name, nodes, seed); ok && topo.NumRanks() <= ranks && study.HasGPUs(topo) {
					visit(t, machine{topo, what, seed, 3*i + nodes + int(turn)})
				}
			}
		}
	}
	t.Run("on", func(t *testing.T) {
		for i, name := range topologies.Names() {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				ofTopology(t, i, name)
			})
		}
	})
}

// What NCCL is predicted to take is never less than any schedule does: by cuts, by the latency of
// links, and where the graph of all transfers is small, by all cuts and paths of it.
func TestNCCLKeepsToTheLinks(t *testing.T) {
	var seen atomic.Int64
	eachMachine(t, long.Or(32, 256), long.Or[uint64](1, 8), func(t *testing.T, m machine) {
		topo := m.Topology
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
			if spec.Ranks <= long.Or(8, 64) && len(topo.Faults()) == 0 { // answers keep to it everywhere
				if x, err := planner.ExactBound(topo, spec); err == nil {
					exact = x.AlgBW
				}
			}
			for size := units.KiB; size <= 4*units.GiB; size *= long.Or[units.Bytes](8, 2) {
				p, err := r.Predict(nccl.Ask{Kind: kind, Size: size})
				if err != nil {
					break // it has no such collective
				}
				seen.Add(1)
				least := max(cuts.LowerBound(size).Time, latency)
				if exact > 0 {
					least = max(least, units.Time(float64(size)/exact*1e12*(1-1e-9)))
				}
				if low, _ := p.Band(); p.Time < least || low < max(cuts.LowerBound(size).Time, latency) || p.Time < p.Work.Least() {
					t.Errorf("%s: %v of %v by %s/%s in %v (from %v on), no schedule takes less than %v",
						m.what, kind, size, p.Algorithm, p.Protocol, p.Time, low, least)
				}
			}
		}
	})
	if n := seen.Load(); n < 1000 {
		t.Errorf("%d predictions only", n)
	}
}

// No row of an answer is below the limit that it shows, neither the plan nor NCCL. Machines as they are shipped are asked for all
// collectives at the costs of links alone and at their own; changed ones for some, by turns. What is found within a small budget of work
// is a plan as any other; in the long tier, which takes a sample, those of one node as it is shipped have the budget of railyard plan.
func TestNoRowIsBelowItsLimit(t *testing.T) {
	kinds := slices.DeleteFunc(collective.All(), func(k collective.Kind) bool {
		return k == collective.Barrier || k == collective.AllToAllV
	})
	var rows atomic.Int64
	few, fewer := long.Sample(t, 10), long.Sample(t, 80)
	eachMachine(t, long.Or(8, 64), long.Or[uint64](1, 4), func(t *testing.T, m machine) {
		sampled := few
		if m.NumRanks() > 24 {
			sampled = fewer
		}
		own, err := cost.MachineFor(m.Topology)
		if err != nil {
			t.Fatal(err)
		}
		costs := []*cost.Machine{cost.NewMachine("line").WithOwn(cost.Line), own}
		every := 1 // of so many collectives one
		switch {
		case !long.Given():
			every = 9
		case m.seed > 0:
			costs, every = costs[m.turn%2:][:1], 2
		}
		search := study.Search{Budget: planner.BudgetOf(50 * time.Millisecond)}
		if long.Given() && m.seed == 0 && m.NumNodes() == 1 {
			search.Budget = planner.DefaultBudget
		}
		for i, kind := range kinds {
			if (m.turn+i)%every != 0 {
				continue
			}
			for _, machine := range costs {
				if !sampled(fmt.Sprintf("%s, costs %s: %v", m.what, machine.Name, kind)) {
					continue
				}
				sizes := []units.Bytes{units.KiB, 3*units.MiB + 17, 4 * units.GiB}
				if long.Given() { // and two between, by chance
					rng := rand.New(rand.NewPCG(m.seed, uint64(m.turn*len(kinds)+i)))
					sizes = slices.Insert(sizes, 2, units.Bytes(float64(4*units.MiB)*math.Exp2(rng.Float64()*9)))
					sizes = slices.Insert(sizes, 1, units.Bytes(float64(2*units.KiB)*math.Exp2(rng.Float64()*10)))
				}
				a := answered(t, m.Topology, machine, kind, search, sizes...)
				if a == nil {
					continue
				}
				rows.Add(int64(len(a.Rows)))
				for _, r := range a.Rows {
					keepsToItsLimit(t, &r, fmt.Sprintf("%s, costs %s: %v", m.what, machine.Name, kind))
				}
			}
		}
	})
	if n := rows.Load(); n < 50 {
		t.Errorf("%d rows only", n)
	}
}

func keepsToItsLimit(t *testing.T, r *study.Row, what string) {
	t.Helper()
	limit := r.Limit()
	if r.Prediction.Time < limit.Time || r.NCCL.Time > 0 && (r.NCCL.Time < limit.Time || r.NCCL.Low < limit.Time) {
		t.Errorf("%s of %v: %s in %v, NCCL in %v (from %v on), below the limit of %v: %s", what, r.Size, planner.Name(r.Schedule),
			r.Prediction.Time, r.NCCL.Time, r.NCCL.Low, limit.Time, limit.Cut)
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
