package sim_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"railyard/internal/gen"
	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/model/trace"
	"railyard/model/units"
	"railyard/planner"
	"railyard/sim"
)

var kinds = []collective.Kind{collective.AllReduce, collective.AllGather, collective.ReduceScatter, collective.Broadcast, collective.Reduce,
	collective.AllToAll, collective.Gather, collective.Scatter, collective.SendRecv}

// eachCase visits random topologies × collectives × algorithms × sizes.
func eachCase(t *testing.T, seeds int64, visit func(topo *topology.Topology, s *schedule.Schedule, size units.Bytes)) {
	t.Helper()
	for seed := range seeds {
		rng := rand.New(rand.NewPCG(uint64(seed), 7))
		topo := gen.Topology(seed)
		for _, kind := range kinds {
			list, err := planner.Candidates(topo, collective.Spec{Kind: kind, Ranks: topo.NumRanks()}, "",
				planner.Options{Slices: 1 + rng.IntN(5)})
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range list {
				visit(topo, s, units.Bytes(1+rng.Int64N(1<<uint(4+rng.IntN(26)))))
			}
		}
	}
}

func line(t testing.TB) *cost.Profile {
	p := cost.Line
	return p
}

func TestInvariants(t *testing.T) {
	cases := 0
	eachCase(t, 40, func(topo *topology.Topology, s *schedule.Schedule, size units.Bytes) {
		cases++
		plan, err := sim.Compile(topo, s, line(t))
		if err != nil {
			t.Fatal(err)
		}
		r, err := plan.Run(size, sim.Options{})
		if err != nil {
			t.Fatalf("%s %s: %v", topo.Name(), s.Algorithm, err)
		}
		for _, l := range r.Links {
			if l.Utilisation > 1+1e-9 {
				t.Errorf("%s %s %v: %s carries %.3f of its rate", topo.Name(), s.Algorithm, size, topo.LinkName(l.Link), l.Utilisation)
			}
		}
		if b := collective.LowerBound(topo, s.Spec, size-size%units.Bytes(s.Spec.Ranks)); r.Time < b.Time {
			t.Errorf("%s %v by %s, %v: %v beats the bound %v (%s)", topo.Name(), s.Spec.Kind, s.Algorithm, size, r.Time, b.Time, b.Cut)
		}
		if low := plan.LowerEstimate(size); low > r.Time {
			t.Errorf("%s %s %v: estimate %v above %v", topo.Name(), s.Algorithm, size, low, r.Time)
		}
		split, err := plan.Split(size, r.Time)
		if err != nil || split.Launch+split.Alpha+split.Beta+split.Contention != r.Time || split.Alpha < 0 || split.Contention < 0 {
			t.Errorf("%s %s: split %+v of %v, %v", topo.Name(), s.Algorithm, split, r.Time, err)
		}
	})
	t.Logf("%d cases", cases)
}

// Doubling bytes and rates leaves times as they are, to the rounding of each event.
func TestTimeScalesWithUnits(t *testing.T) {
	ideal := cost.Ideal
	text := func(rate int) string {
		return fmt.Sprintf("schema: railyard.topology/v1\nname: s\nsource: t\ndate: 2026-11-21\nclasses: {l: {medium: nvlink, rate: "+
			"%dMB/s, latency: 0ns, source: t, date: 2026-11-21}}\n"+
			"devices: [{id: \"gpu[0-6]\", kind: gpu}, {id: sw, kind: nvswitch}]\nlinks: [{from: \"gpu[0-6]\", to: sw, class: l}]\n", rate)
	}
	load := func(rate int) *topology.Topology {
		topo, err := topology.Parse("s", []byte(text(rate)), nil, topology.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return topo
	}
	one, two := load(12_345), load(24_690)
	for _, kind := range kinds {
		list, err := planner.Candidates(one, collective.Spec{Kind: kind, Ranks: 7}, "", planner.Options{Slices: 3})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range list {
			a, err := sim.Run(one, s, 7*3*3*1000, ideal, sim.Options{})
			if err != nil {
				t.Fatal(err)
			}
			b, err := sim.Run(two, s, 2*7*3*3*1000, ideal, sim.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if d := math.Abs(float64(a.Time - b.Time)); d > float64(a.Events) {
				t.Errorf("%s %v: %v against %v", s.Algorithm, kind, a.Time, b.Time)
			}
		}
	}
}

// More bandwidth never slows a ring, whose messages never share a link.
func TestMoreBandwidthNeverSlowsARing(t *testing.T) {
	for seed := range int64(40) {
		topo := gen.Topology(seed)
		s, err := planner.Build(topo, collective.Spec{Kind: collective.AllReduce, Ranks: topo.NumRanks()}, "simple_ring", planner.Options{})
		if err != nil {
			t.Fatal(err)
		}
		faster, err := topology.Parse("f", []byte(gen.YAML(seed)), nil,
			topology.Options{Set: []string{"classes.c0.rate=500GB/s", "classes.c1.rate=500GB/s"}})
		if err != nil {
			t.Fatal(err)
		}
		a, err1 := sim.Run(topo, s, units.MiB, line(t), sim.Options{})
		b, err2 := sim.Run(faster, s, units.MiB, line(t), sim.Options{})
		if err1 != nil || err2 != nil || b.Time > a.Time {
			t.Errorf("seed %d: %v, faster links %v (%v, %v)", seed, a, b, err1, err2)
		}
	}
}

func TestSameInputSameBytes(t *testing.T) {
	topo := gen.Topology(11)
	s, err := planner.Build(topo, collective.Spec{Kind: collective.AllReduce, Ranks: topo.NumRanks()}, "direct", planner.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var out [2]bytes.Buffer
	for i := range out {
		r, err := sim.Run(topo, s, units.MiB, line(t), sim.Options{Trace: true})
		if err != nil {
			t.Fatal(err)
		}
		if err := trace.WriteChrome(&out[i], r.Trace); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(out[0].Bytes(), out[1].Bytes()) || out[0].Len() < 1000 {
		t.Error("two runs differ")
	}
}
