package topology_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gonum.org/v1/gonum/graph/path"
	"gonum.org/v1/gonum/graph/simple"

	"railyard/internal/gen"
	"railyard/model/topology"
	"railyard/topologies"
)

var expected = regexp.MustCompile(`# ERROR (.+)$`)

// TestInvalidFiles: every file in topologies/invalid carries, beside each bad line, the
// error that it must get; all of them and no others.
func TestInvalidFiles(t *testing.T) {
	files, err := filepath.Glob("../../topologies/invalid/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		_, err = topology.Parse(filepath.Base(name), data, topologies.Source, topology.Options{})
		got, ok := err.(topology.Errors)
		if !ok {
			t.Errorf("%s: %v, want Errors", name, err)
			continue
		}
		matched := make([]bool, len(got))
		for i, line := range strings.Split(string(data), "\n") {
			m := expected.FindStringSubmatch(line)
			if m == nil {
				continue
			}
			found := false
			for j, e := range got {
				if e.Line == i+1 && !matched[j] && regexp.MustCompile(m[1]).MatchString(e.Msg) {
					matched[j], found = true, true
					break
				}
			}
			if !found {
				t.Errorf("%s:%d: no error matches %q; got:\n%v", name, i+1, m[1], err)
			}
		}
		for j, e := range got {
			if !matched[j] {
				t.Errorf("%s: unexpected: %v", name, e)
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, name := range topologies.Names() {
		_, data, err := topologies.Source(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	for seed := range int64(8) {
		f.Add([]byte(gen.YAML(seed)))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		topo, err := topology.Parse("fuzz", data, topologies.Source, topology.Options{})
		if (topo == nil) == (err == nil) {
			t.Fatal("a topology or an error, not both")
		}
	})
}

// Routes on random topologies: only links that exist, what flows into a device flows
// out of it, the rate is that of the tightest link, and no shorter way exists.
func TestRoutesAreFlows(t *testing.T) {
	for seed := range int64(120) {
		topo := gen.Topology(seed)
		router := topology.NewRouter(topo)
		for a := range topo.NumRanks() {
			for b := range topo.NumRanks() {
				if a == b {
					continue
				}
				r, err := router.Route(a, b)
				if err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				checkFlow(t, topo, r, topo.Ranks()[a], topo.Ranks()[b])
			}
		}
	}
}

func checkFlow(t *testing.T, topo *topology.Topology, r topology.Route, src, dst topology.DeviceID) {
	t.Helper()
	net := map[topology.DeviceID]float64{}
	tightest := math.Inf(1)
	for _, h := range r.Hops {
		l := topo.Links()[h.Link]
		share := float64(h.Num) / float64(h.Den)
		net[l.From] -= share
		net[l.To] += share
		rate := topo.Rate(h.Link)
		if h.Lane > 0 {
			rate = topo.Class(h.Link).Rate
		}
		tightest = min(tightest, float64(rate)/share)
		if l.From != src && topo.Devices()[l.From].Kind.HoldsRank() {
			t.Fatalf("%s: a route passes through %s", topo.Name(), topo.DeviceName(l.From))
		}
	}
	for d, v := range net {
		want := 0.0
		switch d {
		case src:
			want = -1
		case dst:
			want = 1
		}
		if math.Abs(v-want) > 1e-9 {
			t.Fatalf("%s: %s keeps %v of a transfer", topo.Name(), topo.DeviceName(d), v)
		}
	}
	if math.Abs(float64(r.Rate)-tightest) > 1 {
		t.Fatalf("%s: rate %v, tightest link %v", topo.Name(), r.Rate, tightest)
	}
}

// TestShortestAgainstGonum: where a pair is joined over switches only, the number of
// hops is the shortest path's.
func TestShortestAgainstGonum(t *testing.T) {
	for seed := range int64(60) {
		topo := gen.Topology(seed)
		g := simple.NewDirectedGraph()
		for i := range topo.Devices() {
			g.AddNode(simple.Node(i))
		}
		src := topo.Ranks()[0]
		for _, l := range topo.Links() {
			k := topo.Devices()[l.From].Kind
			if l.From == src || !k.HoldsRank() {
				g.SetEdge(simple.Edge{F: simple.Node(l.From), T: simple.Node(l.To)})
			}
		}
		all := path.DijkstraFrom(simple.Node(src), g)
		router := topology.NewRouter(topo)
		for b := 1; b < topo.NumRanks(); b++ {
			r, err := router.Route(0, b)
			if err != nil {
				t.Fatal(err)
			}
			depth := map[topology.DeviceID]int{src: 0}
			for _, h := range r.Hops {
				l := topo.Links()[h.Link]
				depth[l.To] = depth[l.From] + 1
			}
			if want := int(all.WeightTo(int64(topo.Ranks()[b]))); depth[topo.Ranks()[b]] != want {
				t.Errorf("seed %d: rank 0 to %d in %d hops, shortest %d", seed, b, depth[topo.Ranks()[b]], want)
			}
		}
	}
}

func TestHashSeesWhatMatters(t *testing.T) {
	base := gen.YAML(3)
	load := func(text string) string {
		topo, err := topology.Parse("x", []byte(text), nil, topology.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return topo.Hash()
	}
	if load(base) != load(strings.Replace(base, "name: random3", "name: other", 1)) {
		t.Error("the name changes the hash")
	}
	if load(base) == load(strings.Replace(base, "MB/s", "GB/s", 1)) {
		t.Error("a rate does not change the hash")
	}
}

func BenchmarkLoadAndValidate(b *testing.B) {
	for _, nodes := range []int{2048, 16384} {
		b.Run(fmt.Sprintf("%dGPUs", 8*nodes), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				// 144-port switches: three levels of them reach 131,072 GPUs.
				o := topology.Options{Nodes: nodes,
					Set: []string{"models.leaf-switch.ports=144", "models.spine-switch.ports=144", "models.core-switch.ports=144",
						"templates.dgx-h100.use=dgx-h100-bare", "fabrics.0.levels.0.group=72", "fabrics.0.levels.1.group=8"}}
				if _, err := topology.Load(bare, "superpod-h100", o); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// bare offers the DGX H100 without its own switch models, which the benchmark replaces.
func bare(name string) (string, []byte, error) {
	if name != "dgx-h100-bare" {
		return topologies.Source(name)
	}
	_, data, err := topologies.Source("dgx-h100")
	lines := strings.Split(string(data), "\n")
	var out []string
	for _, l := range lines {
		if strings.HasPrefix(l, "fabrics:") {
			break
		}
		if !strings.Contains(l, "-switch: {kind") {
			out = append(out, l)
		}
	}
	return "dgx-h100-bare", []byte(strings.Join(out, "\n")), err
}
