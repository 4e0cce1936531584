package planner_test

import (
	"fmt"
	"testing"

	"railyard/model/collective"
	"railyard/model/topology"
	"railyard/planner"
)

// node is one of GPUs: classes are a name, a medium and GB/s, rest its devices and links.
func node(t *testing.T, classes [][3]string, rest string) *topology.Topology {
	t.Helper()
	text := "schema: railyard.topology/v1\nname: drawn\nsource: an example\ndate: 2026-11-30\nclasses:\n"
	for _, c := range classes {
		text += fmt.Sprintf("  %s: {medium: %s, rate: %sGB/s, latency: 500ns, source: an example, date: 2026-11-30}\n", c[0], c[1], c[2])
	}
	topo, err := topology.Parse("drawn.yaml", []byte(text+rest), nil, topology.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return topo
}

// Where only links and PCIe together join all ranks, data go on over whatever has room: eight GPUs on PCIe with bridges between
// neighbours came to 34 % of the bound of all_to_all without that, send_recv on Summit to 78.
func TestFlowsOverLinksAndHosts(t *testing.T) {
	bridged := node(t, [][3]string{{"nv", "nvlink", "14"}, {"bus", "pcie", "25"}, {"between", "socket", "20"}}, `devices:
  - {id: "gpu[0-7]", kind: gpu}
  - {id: "plx[0-3]", kind: pcie_switch}
  - {id: "cpu[0-1]", kind: cpu}
links:
  - {from: "gpu[0-7]", to: "plx[0-3]", how: block, class: bus}
  - {from: "plx[0-3]", to: "cpu[0-1]", how: block, class: bus}
  - {from: cpu0, to: cpu1, class: between}
  - {from: "gpu[1,3,5,7]", to: "gpu[2,4,6,0]", how: each, class: nv, count: 4}
`)
	summit := degraded(t, "summit-node", 1)
	for _, c := range []struct {
		topo *topology.Topology
		kind collective.Kind
	}{{bridged, collective.AllToAll}, {summit, collective.SendRecv}, {summit, collective.Gather}, {summit, collective.Scatter}} {
		row := bestOf(t, c.topo, collective.Spec{Kind: c.kind, Ranks: c.topo.NumRanks()}, "ideal", "")
		if share := row.OfBound(); share < 0.97 || share > 1 {
			t.Errorf("%s, %v: %.1f %% of the bound", c.topo.Name(), c.kind, 100*share)
		}
	}
}

// Direct links of PCIe are links like others: an all_reduce over some and NVLinks came to 75 % of the bound without.
func TestDirectLinksOfAnyMedium(t *testing.T) {
	t.Parallel()
	topo := node(t, [][3]string{{"a", "nvlink", "25"}, {"b", "pcie", "16"}}, `devices:
  - {id: "gpu[0-6]", kind: gpu}
links:
  - {mesh: "gpu[0-2]", class: a}
  - {mesh: "gpu[3-6]", class: a}
  - {from: "gpu[0-2]", to: "gpu[3-5]", how: each, class: b}
`)
	for _, kind := range []collective.Kind{collective.AllGather, collective.ReduceScatter, collective.AllReduce, collective.Broadcast} {
		row := bestOf(t, topo, collective.Spec{Kind: kind, Ranks: topo.NumRanks()}, "ideal", "")
		if share := row.OfBound(); share < 0.98 || share > 1 {
			t.Errorf("%v: %.1f %% of the bound by %s", kind, 100*share, planner.Name(row.Schedule))
		}
	}
}

// Direct links beside a bus do not take its place: GPUs on a PCIe switch that have more links to their neighbours are no slower for these,
// and come near the bound of both.
func TestDirectLinksBesideABus(t *testing.T) {
	t.Parallel()
	classes, devices := [][3]string{{"bus", "pcie", "25"}, {"link", "pcie", "12"}}, `devices:
  - {id: "gpu[0-5]", kind: gpu}
  - {id: plx, kind: pcie_switch}
links:
  - {from: "gpu[0-5]", to: plx, how: all, class: bus}
`
	bare := node(t, classes, devices)
	linked := node(t, classes, devices+`  - {from: "gpu[0-5]", to: "gpu[1,2,3,4,5,0]", how: each, class: link}
`)
	for _, kind := range []collective.Kind{collective.AllGather, collective.ReduceScatter, collective.AllReduce, collective.Broadcast,
		collective.AllToAll} {
		spec := collective.Spec{Kind: kind, Ranks: 6}
		alone, both := bestOf(t, bare, spec, "ideal", ""), bestOf(t, linked, spec, "ideal", "")
		if share := both.OfBound(); both.Prediction.Time > alone.Prediction.Time || share < 0.97 || share > 1 {
			t.Errorf("%v: %v with links, %v without, %.1f %% of the bound", kind, both.Prediction.Time, alone.Prediction.Time, 100*share)
		}
	}
}
