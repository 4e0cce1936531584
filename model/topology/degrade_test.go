package topology_test

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"railyard/internal/gen"
	"railyard/internal/long"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/topologies"
)

func load(tb testing.TB, name string, nodes int) *topology.Topology {
	tb.Helper()
	topo, err := topology.Load(topologies.Source, name, topology.Options{Nodes: nodes})
	if err != nil {
		tb.Fatal(err)
	}
	return topo
}

func degrade(tb testing.TB, topo *topology.Topology, list ...string) *topology.Topology {
	tb.Helper()
	out, err := topo.Degrade(gen.Faults(list...))
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

func TestFaultsOfOnePart(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"nic:nic0", "nic:nic0=0.5", true},
		{"nic:nic0", "nic:nic1", false},
		{"gpu:gpu0", "node:gpu0", false},
		{"link:a--b", "link:b--a", true},
		{"link:a--b=0.5", "link:b->a=0.5", true},
		{"link:a->b", "link:b->a", false},
		{"link:a->b", "link:a->b", true},
		{"link:a--b", "link:a--c", false},
		{"link:a--b", "link:a--b#1", true},
		{"link:a--b#1", "link:a--b#2", true},
		{"link:a--b#1", "link:a--b#1=0.5", false},
	} {
		fs := gen.Faults(c.a, c.b)
		if fs[0].Repeats(fs[1]) != c.want || fs[1].Repeats(fs[0]) != c.want {
			t.Errorf("%s and %s: want %v", c.a, c.b, c.want)
		}
	}
}

func TestParseFault(t *testing.T) {
	for s, want := range map[string]topology.Fault{
		"gpu:node0/gpu3":             {Part: topology.GPUPart, Name: "node0/gpu3"},
		"link:gpu0--nvswitch1#2":     {Part: topology.LinkPart, Name: "gpu0--nvswitch1", Some: 2},
		"link:gpu0->nvswitch1=0.5":   {Part: topology.LinkPart, Name: "gpu0->nvswitch1", Rate: 0.5},
		"link:a-->b":                 {Part: topology.LinkPart, Name: "a-->b"},
		"nic:nic0=0.25":              {Part: topology.NICPart, Name: "nic0", Rate: 0.25},
		"node:node3":                 {Part: topology.NodePart, Name: "node3"},
		"p2p:gpu3":                   {Part: topology.PeerPart, Name: "gpu3"},
		"switch:ib/leaf0":            {Part: topology.SwitchPart, Name: "ib/leaf0"},
		"link:n0/g0--n0/s0#18=1e-05": {Part: topology.LinkPart, Name: "n0/g0--n0/s0", Some: 18, Rate: 1e-5},
	} {
		got, err := topology.ParseFault(s)
		if err != nil || got != want || got.String() != s {
			t.Errorf("%s: %+v (%s), %v", s, got, got, err)
		}
	}
	for s, want := range map[string]string{
		"":                "what has failed",
		"gpu3":            "what has failed",
		"cpu:cpu0":        "what has failed",
		"gpu:":            "is not a name",
		"link:gpu0":       "does not name a link",
		"link:gpu0--":     "does not name a link",
		"link:a->":        "does not name a link",
		"link:a--b#0":     "number of parallel links",
		"link:a--b#x":     "number of parallel links",
		"gpu:gpu0#1":      "only of a link",
		"p2p:gpu0=0.5":    "works or does not",
		"nic:nic0=1":      "between 0 and 1",
		"nic:nic0=0":      "between 0 and 1",
		"nic:nic0=NaN":    "between 0 and 1",
		"nic:nic0=half":   "between 0 and 1",
		"link:a--b=0.5#2": "between 0 and 1",
	} {
		if _, err := topology.ParseFault(s); err == nil || !strings.Contains(err.Error(), want) ||
			!strings.Contains(err.Error(), "write link:A--B") {
			t.Errorf("%q: %v, want %q and the accepted forms", s, err, want)
		}
	}
}

// TestWithoutPeerToPeer: a GPU without PCIe peer-to-peer exchanges with others through host memory; others as before, and NVLink stays.
func TestWithoutPeerToPeer(t *testing.T) {
	healthy, err := topology.Load(topologies.Source, "a100-pcie-nvlink", topology.Options{})
	if err != nil {
		t.Fatal(err)
	}
	top, err := healthy.Degrade([]topology.Fault{{Part: topology.PeerPart, Name: "gpu0"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		a, b  int
		after bool
	}{{0, 1, false}, {0, 2, true}, {2, 0, true}, {2, 4, false}} {
		was, is := topology.NewRouter(healthy).Staged(x.a, x.b), topology.NewRouter(top).Staged(x.a, x.b)
		if was || is != x.after {
			t.Errorf("%d to %d: staged %v, then %v", x.a, x.b, was, is)
		}
	}
	if _, err := healthy.Degrade([]topology.Fault{{Part: topology.PeerPart, Name: "gpu0", Rate: 0.5}}); err == nil {
		t.Error("half of peer-to-peer")
	}
	if _, err := healthy.Degrade([]topology.Fault{{Part: topology.PeerPart, Name: "cpu0"}}); err == nil {
		t.Error("peer-to-peer of a CPU")
	}
}

func FuzzParseFault(f *testing.F) {
	for _, s := range []string{"gpu:node0/gpu3", "link:a--b#2=0.5", "link:a->b", "nic:n=1e-300", "switch:ib/leaf0", "link:a----b", "node:",
		"link:--#=", "gpu:a=0x1p-2", "link:00#\"" + strings.Repeat("\xe4", 60)} {
		f.Add(s)
	}
	small := gen.Topology(3)
	f.Fuzz(func(t *testing.T, s string) {
		fault, err := topology.ParseFault(s)
		if err != nil {
			if len(err.Error()) > 1000 {
				t.Errorf("a message of %d bytes", len(err.Error()))
			}
			return
		}
		back, err := topology.ParseFault(fault.String())
		if err != nil || back != fault {
			t.Errorf("%q is printed as %q, which reads as %+v, %v", s, fault, back, err)
		}
		if out, err := small.Degrade([]topology.Fault{fault}); (out == nil) == (err == nil) {
			t.Error("a topology or an error, not both")
		}
	})
}

const fourBoxes = `
schema: railyard.topology/v1
name: boxes
source: test
date: 2026-11-21
classes:
  nv: {medium: nvlink, rate: 25GB/s, latency: 340ns, source: test, date: 2026-11-21}
  pcie: {medium: pcie, rate: 63GB/s, latency: 500ns, source: test, date: 2026-11-21}
  net: {medium: network, rate: 400Gb/s, latency: 600ns, source: test, date: 2026-11-21}
templates:
%s
nodes:
%s
fabrics:
  - {name: ib, endpoints: nic, rails: 2, class: net, levels: [{kind: leaf, group: 2}, {kind: spine, count: 2}]}
`

func box(name, nvs, gpu0 string) string {
	return fmt.Sprintf(`  %s:
    devices:
      - {id: "gpu[0-1]", kind: gpu}
      - {id: "nvs[0-1]", kind: nvswitch}
      - {id: plx, kind: pcie_switch}
      - {id: "nic[0-1]", kind: nic, serves: "gpu[0-1]"}
    links:
      - {from: gpu0, to: "nvs[0-1]", class: nv, count: 4, how: all}
      - {from: gpu1, to: "%s", class: nv, count: %s, how: all}
      - {from: "gpu[0-1]", to: plx, class: pcie}
      - {from: "nic[0-1]", to: plx, class: pcie}
`, name, nvs, gpu0)
}

// A degraded copy is the machine that a file describing the rest describes: same content,
// same hash.
func TestDegradedIsWhatAFileDescribes(t *testing.T) {
	parse := func(templates, nodes string) *topology.Topology {
		topo, err := topology.Parse("boxes.yaml", fmt.Appendf(nil, fourBoxes, templates, nodes), nil, topology.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return topo
	}
	healthy := parse(box("box", "nvs[0-1]", "4"), "  - {template: box, count: 4}")
	hash := healthy.Hash()
	for _, c := range []struct {
		fault string
		want  *topology.Topology
	}{
		{"link:node0/gpu1--node0/nvs1", parse(box("broken", "nvs0", "4")+box("box", "nvs[0-1]", "4"),
			"  - {template: broken, count: 1, name: a}\n  - {template: box, count: 3}")},
		{"node:node3", parse(box("box", "nvs[0-1]", "4"), "  - {template: box, count: 3}")},
	} {
		got := degrade(t, healthy, c.fault)
		if got.Hash() != c.want.Hash() {
			t.Errorf("%s: not the machine that the file describes", c.fault)
		}
		if !reflect.DeepEqual(got.Tiers(), c.want.Tiers()) {
			t.Errorf("%s: tiers %+v, want %+v", c.fault, got.Tiers(), c.want.Tiers())
		}
		if got.Hash() == hash || healthy.Hash() != hash || got.Healthy() != healthy {
			t.Errorf("%s: hashes", c.fault)
		}
	}
	// Of both bundles of gpu1 in node0 and in no other node, one link each is lost.
	part := degrade(t, healthy, "link:node0/gpu1--node0/nvs0#1", "link:node0/gpu1--node0/nvs1#1")
	want := parse(box("broken", "nvs[0-1]", "3")+box("box", "nvs[0-1]", "4"),
		"  - {template: broken, count: 1, name: a}\n  - {template: box, count: 3}")
	if part.Hash() != want.Hash() {
		t.Error("a bundle that lost one of four links is not one of three")
	}
}

// The Router caches routes by shape: a node that differs must have its own.
func TestDegradedNodeHasItsOwnRoutes(t *testing.T) {
	topo := degrade(t, load(t, "dgx-h100", 3), "link:node1/gpu0--node1/nvswitch0", "link:node2/gpu1--node2/nvswitch2=0.5")
	router := topology.NewRouter(topo)
	var rates []string
	for _, pair := range [][2]int{{0, 1}, {8, 9}, {16, 17}, {1, 2}, {9, 10}, {17, 18}} {
		r, err := router.Route(pair[0], pair[1])
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range r.Hops {
			if n := topo.Devices()[topo.Links()[h.Link].From].Node; int(n) != topo.NodeOf(pair[0]) {
				t.Errorf("%v goes over %s", pair, topo.LinkName(h.Link))
			}
		}
		rates = append(rates, r.Rate.String())
	}
	// gpu0 of node1 has 13 of 18 links left. In node2, gpu1's four links to nvswitch2 have
	// half their rate: 16 links' worth is left, out and in.
	if want := []string{"450GB/s", "325GB/s", "400GB/s", "450GB/s", "450GB/s", "400GB/s"}; !slices.Equal(rates, want) {
		t.Errorf("rates %v, want %v", rates, want)
	}
}

// Between ranks behind switches, a route carries what a flow over all of them could: of
// each switch the less of what it can take in and pass on.
func TestSlowLinksOfSwitchesHoldNothingElseUp(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 9))
	for _, name := range []string{"dgx-h100", "dgx-a100", "gb200-nvl72"} {
		whole := load(t, name, 1)
		for range 20 {
			topo := degrade(t, whole, slowLinks(rng, whole)...)
			router := topology.NewRouter(topo)
			for range 20 {
				a, b := rng.IntN(topo.NumRanks()), rng.IntN(topo.NumRanks())
				if a == b {
					continue
				}
				r, err := router.Route(a, b)
				if err != nil {
					t.Fatal(err)
				}
				if want := throughSwitches(topo, topo.Ranks()[a], topo.Ranks()[b]); r.Rate > want || r.Rate < want-want/1_000_000 {
					t.Fatalf("%s, %d to %d: %v, want %v", topo.Name(), a, b, r.Rate, want)
				}
			}
		}
	}
}

// slowLinks are a few links of switches, at some rate that is left.
func slowLinks(rng *rand.Rand, t *topology.Topology) []string {
	found := map[string]bool{}
	for len(found) < 6 {
		l := t.Links()[rng.IntN(len(t.Links()))]
		if t.Devices()[l.To].Kind == topology.NVSwitch {
			found[t.DeviceName(l.From)+"--"+t.DeviceName(l.To)] = true
		}
	}
	var out []string
	for _, name := range slices.Sorted(maps.Keys(found)) {
		out = append(out, fmt.Sprintf("link:%s=0.%d", name, 1+rng.IntN(9)))
	}
	return out
}

func throughSwitches(t *topology.Topology, from, to topology.DeviceID) (sum units.Rate) {
	down := map[topology.DeviceID]units.Rate{}
	for _, l := range t.In(to) {
		down[t.Links()[l].From] += t.Rate(l)
	}
	for _, l := range t.Out(from) {
		if s := t.Links()[l].To; t.Devices()[s].Kind == topology.NVSwitch {
			sum += min(t.Rate(l), down[s])
		}
	}
	return sum
}

func TestLostGPUsAreRenumbered(t *testing.T) {
	healthy := load(t, "dgx-h100", 3)
	topo := degrade(t, healthy, "gpu:node0/gpu3", "node:node1")
	if topo.NumRanks() != 15 || topo.NumNodes() != 2 || topo.Name() != "dgx-h100 without gpu node0/gpu3, without node node1" {
		t.Errorf("%d ranks, %d nodes, %s", topo.NumRanks(), topo.NumNodes(), topo.Name())
	}
	var left []int
	for r := range topo.NumRanks() {
		left = append(left, topo.OriginalRank(r))
		a, b := topo.DeviceName(topo.Ranks()[r]), healthy.DeviceName(healthy.Ranks()[topo.OriginalRank(r)])
		if a != b || topo.RankOf(topo.Ranks()[r]) != r {
			t.Errorf("rank %d is %s, was %s", r, a, b)
		}
	}
	if want := []int{0, 1, 2, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23}; !slices.Equal(left, want) {
		t.Errorf("left %v", left)
	}
	if want := []int{3, 8, 9, 10, 11, 12, 13, 14, 15}; !slices.Equal(topo.LostRanks(), want) || healthy.LostRanks() != nil {
		t.Errorf("lost %v, healthy %v", topo.LostRanks(), healthy.LostRanks())
	}
	if _, ok := topo.Lookup("node0/gpu3"); ok {
		t.Error("the lost GPU is still there")
	}
	one := degrade(t, topo, "node:node2")
	if got := one.DeviceName(one.Ranks()[3]); got != "node0/gpu4" {
		t.Errorf("with one node left, rank 3 is called %s", got)
	}
	if one.Healthy() != healthy || len(one.Faults()) != 3 || one.OriginalRank(3) != 4 {
		t.Errorf("%v of %v", one.Faults(), one.Healthy().Name())
	}
}

func TestTrafficGoesAround(t *testing.T) {
	// A lost NIC: its GPU takes the nearest others.
	topo := degrade(t, load(t, "dgx-h100", 2), "nic:node0/nic3")
	r, err := topology.NewRouter(topo).Route(3, 11)
	if err != nil || len(r.NICs) == 0 || topo.DeviceName(r.NICs[0]) != "node0/nic2" {
		t.Errorf("%v %v", r, err)
	}
	// The same by its link to the leaf, and by the leaf, which all nodes lose.
	healthy := load(t, "superpod-h100", 64)
	leaf := ""
	nic, _ := healthy.Lookup("node0/nic3")
	for _, l := range healthy.Out(nic) {
		if d := healthy.Links()[l].To; healthy.Devices()[d].Kind == topology.Leaf {
			leaf = healthy.DeviceName(d)
		}
	}
	for _, f := range []string{"link:node0/nic3--" + leaf, "link:node0/nic3->" + leaf, "link:" + leaf + "->node0/nic3", "switch:" + leaf} {
		topo := degrade(t, healthy, f)
		router := topology.NewRouter(topo)
		for _, pair := range [][2]int{{3, 11}, {11, 3}, {3, 300}, {300, 3}} {
			if r, err := router.Route(pair[0], pair[1]); err != nil || r.Kind != topology.Net {
				t.Errorf("%s: %v: %v %v", f, pair, r.Kind, err)
			}
		}
		if !reflect.DeepEqual(topo.Tiers(), healthy.Tiers()) {
			t.Errorf("%s changes the tiers", f)
		}
	}
	// On a fabric of rails alone, both sides may have to use other NICs.
	rails, err := topology.Load(topologies.Source, "dgx-h100", topology.Options{Nodes: 3, Set: []string{"fabrics.0.levels=[{kind: leaf}]"}})
	if err != nil {
		t.Fatal(err)
	}
	topo = degrade(t, rails, "nic:node0/nic3", "nic:node1/nic5")
	if r, err := topology.NewRouter(topo).Route(5, 11); err != nil || r.Kind != topology.Net {
		t.Errorf("%v %v", r, err)
	}
}

func TestDegradeErrors(t *testing.T) {
	two := load(t, "dgx-h100", 2)
	cut := gen.Faults("link:node0/gpu0--node0/plx0")
	var nics []string
	for i := range 8 {
		nics = append(nics, fmt.Sprintf("nic:node1/nic%d", i))
	}
	for _, c := range []struct {
		topo   *topology.Topology
		faults []topology.Fault
		want   []string
	}{
		{two, gen.Faults("gpu:node0/gpu9"), []string{`gpu node0/gpu9: dgx-h100 has no "node0/gpu9": did you mean node0/gpu0`}},
		{two, gen.Faults("node:nod1"), []string{"did you mean node1?"}},
		{two, gen.Faults("nic:node0/gpu1"), []string{"it is a gpu: write gpu:node0/gpu1"}},
		{two, gen.Faults("gpu:node0/cpu0"), []string{"it is a cpu, which cannot fail alone"}},
		{two, gen.Faults("link:node0/gpu0--node0/gpu1"),
			[]string{"has no link node0/gpu0--node0/gpu1: node0/gpu0 is linked to", "node0/nvswitch0"}},
		{two, gen.Faults("link:node0/gpu0--node0/nvswitch7"), []string{"did you mean node0/nvswitch0"}},
		{two, gen.Faults("link:node0/gpu0--node0/nvswitch0#6"), []string{"only 5 parallel links, not 6"}},
		{two, gen.Faults("gpu:x", "nic:y"), []string{`no "x"`, `no "y"`}},
		{two, gen.Faults("node:node0", "node:node1"), []string{"no GPU is left"}},
		{two, gen.Faults(nics...), []string{"no route left to", "nor have 7 others", "--fail node:node1"}},
		{two, cut, []string{"node0/gpu0 has no route left to node1/gpu", "--fail gpu:node0/gpu0"}},
		{two, gen.Faults("link:node0/gpu0->node0/plx0"), []string{"node0/gpu0 has no route left to node1/gpu"}},
		{load(t, "leaf-spine-roce", 8), gen.Faults("switch:leaf0"), []string{"no route left"}},
		{load(t, "pcie5-server", 1), gen.Faults("link:gpu6--plx3"), []string{"gpu6 has no route left to gpu0", "(--fail gpu:gpu6)"}},
		{load(t, "pcie5-server", 1), gen.Faults("link:plx0--cpu0"),
			[]string{"gpu0 has no route left to gpu2 (nor have 1 others)", "(--fail gpu:gpu0 --fail gpu:gpu1)"}},
		{two, []topology.Fault{{Part: topology.GPUPart, Name: "node0/gpu0", Rate: 2}}, []string{"write link:A--B"}},
		{two, []topology.Fault{{Name: "nothing"}}, []string{"write link:A--B"}},
		{two, []topology.Fault{{Part: 9, Name: "nothing"}}, []string{"write link:A--B"}},
		{two, []topology.Fault{{Part: topology.GPUPart, Name: "node0/gpu0", Rate: math.NaN()}}, []string{"write link:A--B"}},
	} {
		_, err := c.topo.Degrade(c.faults)
		for _, want := range c.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v: %v, want %q", c.faults, err, want)
			}
		}
	}
	// Within one box the GPU still has its NVLinks; on a cube mesh, others pass data on.
	degrade(t, load(t, "dgx-h100", 1), "link:gpu0--plx0")
	degrade(t, load(t, "dgx1-v100", 1), "link:gpu0--plx0")
}

// randomFault hits a random link, NIC, GPU, switch or node.
func randomFault(rng *rand.Rand, t *topology.Topology) topology.Fault {
	for {
		f := topology.Fault{Part: topology.Part(rng.IntN(5))}
		switch f.Part {
		case topology.LinkPart:
			l := topology.LinkID(rng.IntN(len(t.Links())))
			if f.Name = t.LinkName(l); rng.IntN(3) > 0 {
				f.Name = strings.Replace(f.Name, "->", "--", 1)
			}
			if n := int(t.Links()[l].Count); n > 1 && rng.IntN(2) == 0 {
				f.Some = 1 + rng.IntN(n)
			}
		case topology.NodePart:
			f.Name = t.NodeName(rng.IntN(t.NumNodes()))
		default:
			d := topology.DeviceID(rng.IntN(len(t.Devices())))
			f.Name = t.DeviceName(d)
			switch k := t.Devices()[d].Kind; {
			case k.HoldsRank() != (f.Part == topology.GPUPart), (k == topology.NIC) != (f.Part == topology.NICPart),
				k == topology.CPU, k == topology.Memory:
				continue
			}
		}
		if rng.IntN(5) == 0 {
			f.Rate = 0.25
		}
		return f
	}
}

// TestDegradeAnything: whatever fails, there is a clear error, or a machine that is whole
// in itself, whose routes are flows that avoid what has failed.
func TestDegradeAnything(t *testing.T) {
	failed, worked := 0, 0
	check := func(topo *topology.Topology, rng *rand.Rand, rounds int) {
		devices, links, classes, tiers := slices.Clone(topo.Devices()), slices.Clone(topo.Links()), slices.Clone(topo.Classes()),
			fmt.Sprint(topo.Tiers())
		defer func() {
			if !slices.Equal(devices, topo.Devices()) || !slices.Equal(links, topo.Links()) || !slices.Equal(classes, topo.Classes()) ||
				tiers != fmt.Sprint(topo.Tiers()) {
				t.Errorf("%s has changed", topo.Name())
			}
		}()
		for range rounds {
			list := []topology.Fault{randomFault(rng, topo)}
			for rng.IntN(3) == 0 {
				list = append(list, randomFault(rng, topo))
			}
			got, err := topo.Degrade(list)
			if err != nil {
				failed++
				if m := err.Error(); !strings.Contains(m, "no route left") && !strings.Contains(m, "no GPU is left") &&
					!strings.Contains(m, "parallel links") {
					t.Errorf("%s: %v: %v", topo.Name(), list, err)
				}
				continue
			}
			worked++
			wholeAfter(t, topo, got, list)
			routesAfter(t, topo, got, list, rng)
			stepByStep(t, topo, got, list)
			again, err := topo.Degrade(list)
			if err != nil || again.Hash() != got.Hash() || got.Hash() == topo.Hash() {
				t.Errorf("%s: %v: hashes", topo.Name(), list)
			}
		}
	}
	for i, name := range topologies.Names() {
		rng := rand.New(rand.NewPCG(uint64(i), 7))
		topo := load(t, name, 0)
		check(topo, rng, long.Or(8, 25))
		if several, err := topology.Load(topologies.Source, name, topology.Options{Nodes: 3}); err == nil {
			check(several, rng, long.Or(12, 40))
		}
	}
	for seed := range long.Or[int64](20, 60) {
		check(gen.Topology(seed), rand.New(rand.NewPCG(uint64(seed), 8)), 8)
	}
	if failed == 0 || worked < 2*failed {
		t.Errorf("%d errors, %d degraded machines", failed, worked)
	}
	t.Logf("%d errors, %d degraded machines", failed, worked)
}

// wholeAfter checks numbers, names, tiers and adjacency of a degraded copy.
func wholeAfter(t *testing.T, before, got *topology.Topology, list []topology.Fault) {
	t.Helper()
	for d := range got.Devices() {
		id := topology.DeviceID(d)
		name := got.DeviceName(id)
		if back, ok := got.Lookup(name); !ok || back != id {
			t.Fatalf("%v: %s is found as device %d, not %d", list, name, back, d)
		}
		if was, ok := before.Lookup(name); !ok || before.Devices()[was].Kind != got.Devices()[d].Kind {
			t.Fatalf("%v: %s was not there before", list, name)
		}
		for _, l := range got.Out(id) {
			if got.Links()[l].From != id {
				t.Fatalf("%v: %s does not leave %s", list, got.LinkName(l), name)
			}
		}
	}
	lost := got.LostRanks()
	if len(lost)+got.NumRanks() != before.NumRanks() {
		t.Errorf("%v: %d ranks left, %d lost", list, got.NumRanks(), len(lost))
	}
	for i, tier := range got.Tiers() {
		old := slices.IndexFunc(before.Tiers(), func(x topology.Tier) bool { return x.Name == tier.Name })
		if old < 0 {
			t.Errorf("%v: a tier %s appears", list, tier.Name)
			continue
		}
		seen := map[int32]bool{}
		for r, g := range tier.Of {
			if !seen[g] && int(g) != len(seen) {
				t.Errorf("%v: tier %s is not numbered by first rank", list, tier.Name)
			}
			seen[g] = true
			if i == 0 && r > 0 && (tier.Of[r-1] == g) != (got.NodeOf(r-1) == got.NodeOf(r)) {
				t.Errorf("%v: tier node does not group by node", list)
			}
		}
		if len(seen) != tier.Groups || len(tier.Of) != got.NumRanks() {
			t.Errorf("%v: tier %s has %d groups, says %d", list, tier.Name, len(seen), tier.Groups)
		}
	}
}

// bundles are the parallel links and rates by name; what is not listed has failed.
func bundles(topo *topology.Topology) map[string][2]int64 {
	out := map[string][2]int64{}
	for l := range topo.Links() {
		id := topology.LinkID(l)
		b := out[topo.LinkName(id)]
		out[topo.LinkName(id)] = [2]int64{b[0] + int64(topo.Links()[l].Count), b[1] + int64(topo.Rate(id))}
	}
	return out
}

// routesAfter samples routes: each pair that had one has one, by a fresh Router the same
// as by one that has answered before, over no part that has failed.
func routesAfter(t *testing.T, before, got *topology.Topology, list []topology.Fault, rng *rand.Rand) {
	t.Helper()
	was, is := bundles(before), bundles(got)
	for name, b := range is {
		if b[0] > was[name][0] || b[1] > was[name][1] {
			t.Fatalf("%v: %s has grown", list, name)
		}
	}
	for _, f := range list {
		if f.Part == topology.LinkPart && !f.Slow() && f.Some == 0 {
			if _, there := is[f.Name]; there {
				t.Fatalf("%v: %s is still there", list, f.Name)
			}
		}
		if _, there := got.Lookup(f.Name); there && !f.Slow() && f.Part != topology.LinkPart && f.Part != topology.NodePart {
			t.Fatalf("%v: %s is still there", list, f.Name)
		}
	}
	router, old := topology.NewRouter(got), topology.NewRouter(before)
	for range 40 {
		a, b := rng.IntN(got.NumRanks()), rng.IntN(got.NumRanks())
		if rng.IntN(2) == 0 {
			b = min(a+1, got.NumRanks()-1)
		}
		if a == b {
			continue
		}
		r, err := router.Route(a, b)
		if err != nil {
			_, oldErr := old.Route(got.OriginalRank(a), got.OriginalRank(b))
			if oldErr == nil && !passedOn(got, a, b) {
				t.Errorf("%s: %v: %v", before.Name(), list, err)
			}
			continue
		}
		checkFlow(t, got, r, got.Ranks()[a], got.Ranks()[b])
		fresh, err := topology.NewRouter(got).Route(a, b)
		if err != nil || !reflect.DeepEqual(r, fresh) {
			t.Errorf("%s: %v: the route %d to %d comes from another node's cache", before.Name(), list, a, b)
		}
	}
}

// passedOn reports whether other ranks of the same node can pass data from a to b.
func passedOn(topo *topology.Topology, a, b int) bool {
	if topo.NodeOf(a) != topo.NodeOf(b) {
		return false
	}
	seen := map[topology.DeviceID]bool{topo.Ranks()[a]: true}
	for queue := []topology.DeviceID{topo.Ranks()[a]}; len(queue) > 0; queue = queue[1:] {
		for _, l := range topo.Out(queue[0]) {
			to := topo.Links()[l].To
			if d := topo.Devices()[to]; !seen[to] && int(d.Node) == topo.NodeOf(a) && d.Kind != topology.NIC {
				seen[to] = true
				queue = append(queue, to)
			}
		}
	}
	return seen[topo.Ranks()[b]]
}

// stepByStep: faults one after the other come to the same machine, unless what comes
// later went with what came before.
func stepByStep(t *testing.T, before, got *topology.Topology, list []topology.Fault) {
	t.Helper()
	topo := before
	for i := range list {
		next, err := topo.Degrade(list[i : i+1])
		if err != nil {
			return
		}
		topo = next
	}
	if topo.Hash() != got.Hash() || topo.Name() != got.Name() || !reflect.DeepEqual(topo.Tiers(), got.Tiers()) {
		t.Errorf("%s: %v: one after the other they make another machine", before.Name(), list)
	}
}

func large(tb testing.TB) *topology.Topology {
	tb.Helper()
	return load(tb, "superpod-h100", 2048)
}

// What is whole is shared with the machine before: 16,384 GPUs take few more allocations than 2,048,
// for each further node fewer than it has links.
func TestDegradedMachinesShareWhatIsWhole(t *testing.T) {
	small, whole := load(t, "superpod-h100", 256), large(t)
	further := float64(len(whole.Links())-len(small.Links())) / 2 // a link in each direction
	for _, fault := range []string{"link:node7/gpu0--node7/nvswitch0#1", "nic:node7/nic0", "gpu:node200/gpu7", "node:node0", "switch:leaf0",
		"switch:core0"} {
		allocations := func(topo *topology.Topology) float64 {
			return testing.AllocsPerRun(1, func() { degrade(t, topo, fault) })
		}
		if few, many := allocations(small), allocations(whole); many-few > further {
			t.Errorf("%s: %.0f allocations, of an eighth of the machine %.0f: more than the %.0f links that it has more", fault, many, few,
				further)
		}
	}
}

func BenchmarkDegrade16384GPUs(b *testing.B) {
	topo := large(b)
	list := gen.Faults("link:node7/gpu0--node7/nvswitch0#1")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := topo.Degrade(list); err != nil {
			b.Fatal(err)
		}
	}
}
