package planner_test

import (
	"strings"
	"testing"

	"railyard/internal/gen"
	"railyard/internal/long"
	"railyard/model/collective"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/planner"
)

// Any graph gets a plan for every collective, proven and no faster than its bound, or one line that says why not, which only
// those may get whose ranks do not all reach one another, passed on by ranks too.
func TestAnyGraphGetsAPlanOrOneLine(t *testing.T) {
	t.Parallel()
	refused := 0
	for seed := range long.Or[int64](15, 1000) {
		if topo := gen.Any(seed); topo.NumRanks() <= long.Or(8, 64) {
			refused += anyGraph(t, seed, topo)
		}
	}
	if refused == 0 {
		t.Error("all graphs are connected")
	}
}

// Hosts on the switches of a network, without nodes or adapters.
func TestHostsOnSwitches(t *testing.T) {
	t.Parallel()
	topo, err := topology.Parse("hosts.yaml", []byte(`
schema: railyard.topology/v1
name: hosts
source: test
date: 2026-11-23
classes:
  eth: {medium: network, rate: 12.5GB/s, latency: 5us, source: test, date: 2026-11-23}
devices:
  - {id: "h[0-5]", kind: thread}
  - {id: "leaf[0-1]", kind: leaf}
  - {id: spine, kind: spine}
links:
  - {from: "h[0-5]", to: "leaf[0-1]", class: eth, how: block}
  - {from: "leaf[0-1]", to: spine, class: eth, how: all}
`), nil, topology.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if anyGraph(t, 0, topo) > 0 {
		t.Error("refused")
	}
	if _, err := planner.Build(topo, collective.Spec{Kind: collective.AllGather, Ranks: 6}, "packed_trees", planner.Options{}); err != nil {
		t.Error(err)
	}
}

// anyGraph plans every collective on a graph and says how many were refused.
func anyGraph(t *testing.T, seed int64, topo *topology.Topology) (refused int) {
	t.Helper()
	n, score := topo.NumRanks(), newSimulated(t, topo, profile(t, "ideal"))
	for _, kind := range collective.All() {
		spec := collective.Spec{Kind: kind, Ranks: n}
		if kind.Rooted() {
			spec.Root = int(seed) % n
		}
		if kind == collective.AllToAllV {
			spec.Counts = counts(n)
		}
		rows, err := planner.Plan(topo, spec, []units.Bytes{units.MiB}, score, planner.PlanOptions{})
		if err != nil {
			refused++
			if allReach(topo) || strings.Contains(err.Error(), "\n") {
				t.Errorf("seed %d: %v of %d: %v", seed, kind, n, err)
			}
			continue
		}
		if err := schedule.Check(rows[0].Schedule, topo); err != nil {
			t.Errorf("seed %d: %v: %s: %v", seed, kind, planner.Name(rows[0].Schedule), err)
		}
		if share := rows[0].OfBound(); share > 1 {
			t.Errorf("seed %d: %v: %s takes %.2f %% of the bound: %s", seed, kind, planner.Name(rows[0].Schedule), 100/share,
				rows[0].Bound.Cut)
		}
	}
	return refused
}

// allReach reports whether data from every rank reach all others over routes.
func allReach(topo *topology.Topology) bool {
	router := topology.NewRouter(topo)
	for _, back := range []bool{false, true} {
		seen := map[int]bool{0: true}
		for front := []int{0}; len(front) > 0; front = front[1:] {
			for v := range topo.NumRanks() {
				from, to := front[0], v
				if back {
					from, to = to, from
				}
				if _, err := router.Route(from, to); err == nil && !seen[v] {
					seen[v], front = true, append(front, v)
				}
			}
		}
		if len(seen) < topo.NumRanks() {
			return false
		}
	}
	return true
}
