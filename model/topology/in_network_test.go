package topology_test

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"railyard/model/topology"
	"railyard/topologies"
)

func others(n, rank int) []int32 {
	var out []int32
	for r := range int32(n) {
		if int(r) != rank {
			out = append(out, r)
		}
	}
	return out
}

// On the links out of its source, and into each receiver and the source itself, a multicast is there once, and
// never more than once on any other; a reduction is the same backwards.
func TestTeamsLoadLinksOnce(t *testing.T) {
	for _, c := range []struct {
		name string
		lost []string
	}{
		{"dgx-h100", nil}, {"gb200-nvl72", nil}, {"nvlink-network-256", nil},
		{"dgx-h100", []string{"link:gpu0--nvswitch1=0.3", "link:gpu4--nvswitch2", "link:gpu5--nvswitch3#1"}},
		{"dgx-h100", []string{"link:gpu4->nvswitch0=0.7"}},
		{"gb200-nvl72", []string{"link:tray3/gpu1--nvlink/nvswitch7=0.5"}},
	} {
		name, topo := c.name, degrade(t, load(t, c.name, 0), c.lost...)
		r, n := topology.NewRouter(topo), topo.NumRanks()
		down, err := r.TeamRoutes(topology.Team{Rank: int32(n / 2), Peers: others(n, n/2)})
		if err != nil {
			t.Fatal(err)
		}
		up, err := r.TeamRoutes(topology.Team{Rank: int32(n / 2), Peers: others(n, n/2), Sums: true})
		if err != nil {
			t.Fatal(err)
		}
		for what, routes := range map[string][]topology.Route{"multicast": down, "reduction": up} {
			out, in := make([]float64, len(topo.Devices())), make([]float64, len(topo.Devices()))
			for _, route := range routes {
				for _, h := range route.Hops {
					l := topo.Links()[h.Link]
					out[l.From] += float64(h.Num) / float64(h.Den)
					in[l.To] += float64(h.Num) / float64(h.Den)
				}
			}
			for rank, d := range topo.Ranks() {
				sent, got := out[d], in[d]
				if what == "reduction" {
					sent, got = got, sent
				}
				wantSent, wantGot := 0.0, 1.0
				if rank == n/2 {
					wantSent = 1
				}
				if math.Abs(sent-wantSent) > 1e-6 || math.Abs(got-wantGot) > 1e-6 {
					t.Fatalf("%s, %s: rank %d sends %v and gets %v of the data", name, what, rank, sent, got)
				}
			}
		}
	}
}

// Of a team with fewer peers no link that leads to them or away carries more than of the whole one, unless these are aligned; the team
// carries it all, however many there are.
func TestFewerPeersLoadNoMore(t *testing.T) {
	for _, c := range []struct {
		name    string
		aligned bool
	}{{"nvlink-network-256", false}, {"gb200-nvl72", true}} {
		topo := load(t, c.name, 0)
		r, n := topology.NewRouter(topo), topo.NumRanks()
		near := 8 // ranks of the first nodes
		for _, sums := range []bool{false, true} {
			on := func(peers []int32) map[topology.LinkID]float64 {
				routes, err := r.TeamRoutes(topology.Team{Rank: int32(n - 1), Peers: peers, Sums: sums})
				if err != nil {
					t.Fatal(err)
				}
				loads := map[topology.LinkID]float64{}
				for _, route := range routes {
					for _, h := range route.Hops {
						loads[h.Link] += float64(h.Num) / float64(h.Den)
					}
				}
				return loads
			}
			all, some := on(others(n, n-1)), on(others(n, n-1)[:near])
			for link, load := range some {
				if l := topo.Links()[link]; topo.NodeOf(0) == int(topo.Devices()[l.From].Node) && load > all[link]*(1+1e-6) && !c.aligned {
					t.Errorf("%s: of eight peers %s carries %v, of all %v", c.name, topo.LinkName(link), load, all[link])
				}
			}
		}
	}
}

// A device that only forwards cannot make copies, nor can a rank send twice at once.
func TestTeamsNeedCapableSwitches(t *testing.T) {
	for _, c := range []struct {
		name string
		set  []string
		why  string
	}{
		{"dgx-a100", nil, "nvswitch0 does not multicast"},
		{"dgx1-v100", nil, "gpu0 does not multicast"},
		{"dgx-h100", []string{"models.nvswitch3.multicast=false"}, "nvswitch0 does not multicast"},
		{"pcie4-server", nil, "does not multicast"},
	} {
		topo, err := topology.Load(topologies.Source, c.name, topology.Options{Set: c.set})
		if err != nil {
			t.Fatal(err)
		}
		r, n := topology.NewRouter(topo), topo.NumRanks()
		if _, err := r.TeamRoutes(topology.Team{Rank: 0, Peers: others(n, 0)}); err == nil || !strings.Contains(err.Error(), c.why) {
			t.Errorf("%s: %v", c.name, err)
		}
		// that one still combines
		if _, err := r.TeamRoutes(topology.Team{Rank: 0, Peers: others(n, 0), Sums: true}); (err == nil) != (c.set != nil) {
			t.Errorf("%s: reduction: %v", c.name, err)
		}
		if _, err := r.TeamRoutes(topology.Team{Rank: 0, Peers: []int32{1}}); err != nil {
			t.Errorf("%s: to one receiver, which is a message: %v", c.name, err)
		}
	}
}

func TestWithoutInNetwork(t *testing.T) {
	topo, err := topology.Load(topologies.Source, "dgx-h100", topology.Options{})
	if err != nil {
		t.Fatal(err)
	}
	off := topo.WithoutInNetwork()
	if m, r := off.InNetwork(nil); m || r {
		t.Error("switches still work")
	}
	if m, r := topo.InNetwork(nil); !m || !r {
		t.Error("the whole machine has changed")
	}
	if off.Hash() != topo.Hash() || off.Name() == topo.Name() || off.WithoutInNetwork() != off {
		t.Errorf("%q %s", off.Name(), off.Hash())
	}
}

// What a router keeps does not change what it says, whoever changes what they were given.
func TestKeptPathsAreFound(t *testing.T) {
	topo := load(t, "gb200-nvl72", 0)
	kept := topology.NewRouter(topo)
	for range 2 {
		for dst := 1; dst < topo.NumRanks(); dst += 7 {
			got, err := kept.Route(0, dst)
			if err != nil {
				t.Fatal(err)
			}
			want, err := topology.NewRouter(topo).Route(0, dst)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("to %d: %s", dst, diff)
			}
			for i := range got.Hops {
				got.Hops[i] = topology.Hop{}
			}
		}
	}
}
