package planner_test

import (
	"fmt"
	"testing"

	"railyard/internal/long"
	"railyard/model/collective"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/planner"
)

// grid is a mesh or torus of GPUs with direct links only.
func grid(t *testing.T, dims string, n int, wrap bool) *topology.Topology {
	t.Helper()
	text := fmt.Sprintf(`
schema: railyard.topology/v1
name: "grid %s %t"
source: test
date: 2026-11-21
classes:
  ici: {medium: nvlink, rate: 50GB/s, latency: 500ns, source: test, date: 2026-11-21}
devices:
  - {id: "gpu[0-%d]", kind: gpu}
links:
  - {grid: "gpu[0-%d]", dims: [%s], wrap: %t, class: ici}
`, dims, wrap, n-1, n-1, dims, wrap)
	topo, err := topology.Parse("grid.yaml", []byte(text), nil, topology.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return topo
}

// On meshes most ranks reach one another only through others.
func TestEveryAlgorithmOnMeshes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		dims string
		n    int
		wrap bool
	}{{"3", 3, false}, {"5", 5, true}, {"2, 3", 6, false}, {"3, 3", 9, false}, {"4, 4", 16, true}, {"2, 2, 3", 12, false},
		{"5, 5", 25, false}} {
		if c.n > long.Or(12, 25) {
			continue
		}
		seen := conform(t, grid(t, c.dims, c.n, c.wrap))
		if seen == 0 {
			t.Errorf("no schedule for %s", c.dims)
		}
	}
}

// Nodes of unequal size have no hierarchy, but every collective has a schedule.
func TestEveryAlgorithmOnUnequalNodes(t *testing.T) {
	t.Parallel()
	topo, err := topology.Parse("uneven.yaml", []byte(`
schema: railyard.topology/v1
name: uneven
source: test
date: 2026-11-21
classes:
  nvlink: {medium: nvlink, rate: 25GB/s, latency: 350ns, source: test, date: 2026-11-21}
  pcie: {medium: pcie, rate: 63GB/s, latency: 500ns, source: test, date: 2026-11-21}
  ndr: {medium: network, rate: 400Gb/s, latency: 600ns, source: test, date: 2026-11-21}
templates:
  large:
    devices: [{id: "gpu[0-5]", kind: gpu}, {id: sw, kind: nvswitch}, {id: "nic[0-5]", kind: nic, serves: "gpu[0-5]"}]
    links: [{from: "gpu[0-5]", to: sw, class: nvlink}, {from: "gpu[0-5]", to: "nic[0-5]", class: pcie, how: each}]
  small:
    devices: [{id: "gpu[0-2]", kind: gpu}, {id: sw, kind: nvswitch}, {id: "nic[0-2]", kind: nic, serves: "gpu[0-2]"}]
    links: [{from: "gpu[0-2]", to: sw, class: nvlink}, {from: "gpu[0-2]", to: "nic[0-2]", class: pcie, how: each}]
nodes: [{template: large, count: 2, name: large}, {template: small, count: 1, name: small}]
fabrics:
  - {name: ib, endpoints: nic, class: ndr, levels: [{kind: leaf}]}
`), nil, topology.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if conform(t, topo) == 0 {
		t.Error("no schedule")
	}
}

// Messages of high trees are put in an order that keeps links busy from the first piece to
// the last.
func TestAllReducesOnMeshesComeNearTheBound(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		dims   string
		n      int
		pieces int
		share  float64
	}{{"5, 7", 35, 64, 0.92}, {"5, 7", 35, 1024, 0.99}, {"8, 8", 64, 64, 0.96}, {"3, 4, 5", 60, 64, 0.95}, {"16, 16", 256, 256, 0.985}} {
		if c.n > long.Or(64, 256) {
			continue
		}
		topo := grid(t, c.dims, c.n, false)
		spec := collective.Spec{Kind: collective.AllReduce, Ranks: c.n}
		rows, err := planner.Plan(topo, spec, []units.Bytes{units.GiB}, newSimulated(t, topo, profile(t, "ideal")),
			planner.PlanOptions{Algorithm: "packed_trees", Build: planner.Options{Slices: c.pieces}})
		if err != nil {
			t.Fatal(err)
		}
		if share := rows[0].OfBound(); share < c.share || share > 1 {
			t.Errorf("mesh %s in %d pieces: %.2f %% of the bound", c.dims, c.pieces, 100*share)
		}
	}
}
