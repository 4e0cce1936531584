package ncclgraph

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"railyard/internal/golden"
	_ "railyard/internal/long" // accepts -long
	"railyard/interop/interoptest"
	"railyard/model/collective"
	"railyard/model/schedule"
	"railyard/model/topology"
)

func built(t testing.TB, algo string, kind collective.Kind, nodes, gpus int) *schedule.Schedule {
	return interoptest.On(t, "dgx-h100", topology.Options{Nodes: nodes, GPUs: gpus}, algo, kind)
}

func machine(nodes, gpus int) Machine {
	m := Machine{SpeedIntra: 20, SpeedInter: 24, TypeIntra: "NVL", TypeInter: "PXN"}
	for r := range nodes * gpus {
		m.Node, m.Dev = append(m.Node, r/gpus), append(m.Dev, int64(r%gpus))
	}
	if nodes > 1 {
		m.NIC = func(dev int64) int64 { return dev }
	}
	return m
}

func TestSamples(t *testing.T) {
	for _, x := range []struct {
		algo        string
		kind        collective.Kind
		nodes, gpus int
	}{
		{"ring", collective.AllReduce, 1, 4}, {"ring", collective.AllReduce, 1, 8}, {"ring", collective.AllGather, 1, 4},
		{"ring", collective.AllGather, 1, 8},
		{"double_binary_tree", collective.AllReduce, 1, 4}, {"double_binary_tree", collective.AllReduce, 1, 8},
		{"simple_ring", collective.AllReduce, 2, 8},
	} {
		m := machine(x.nodes, x.gpus)
		m.One, m.This = x.nodes > 1, 1
		g, _, err := Export(built(t, x.algo, x.kind, x.nodes, x.gpus), m)
		if err != nil {
			t.Fatal(err)
		}
		var b, again bytes.Buffer
		if err := g.Write(&b); err != nil {
			t.Fatal(err)
		}
		golden.Equal(t, fmt.Sprintf("%s-%v-%dx%d.xml", x.algo, x.kind, x.nodes, x.gpus), b.Bytes())
		back, err := Read(bytes.NewReader(b.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		if err := back.Write(&again); err != nil || !bytes.Equal(b.Bytes(), again.Bytes()) {
			t.Errorf("%s: comes back as\n%s%v", x.algo, again.Bytes(), err)
		}
	}
}

func TestWhatNCCLCannotSay(t *testing.T) {
	_, notes, err := Export(built(t, "double_binary_tree", collective.AllReduce, 1, 8), machine(1, 8))
	if err != nil || len(notes) != 1 {
		t.Errorf("%v %v", notes, err)
	}
	if _, _, err := Export(built(t, "direct", collective.AllReduce, 1, 8), machine(1, 8)); err == nil ||
		!strings.Contains(err.Error(), "neither a ring nor a tree") {
		t.Error(err)
	}
	two := built(t, "simple_ring", collective.AllReduce, 2, 8)
	if _, _, err := Export(two, machine(2, 8)); err == nil || !strings.Contains(err.Error(), "--node") {
		t.Error(err)
	}
	for r := range two.Channels[0].Phases[0].Groups.List[0].Ranks {
		two.Channels[0].Phases[0].Groups.List[0].Ranks[r] = int32(r)
	}
	g, _, err := Export(two, machine(2, 8))
	if err != nil || g.Graphs[0].Channels[0].GPUs[3] != (GPU{3, -1}) {
		t.Errorf("%+v %v", g, err)
	}
}

// TestChannels: a graph has as many channels as NCCL's own search finds, or the next multiple of the plan's, which take turns; together
// they have its rate, however many the plan has.
func TestChannels(t *testing.T) {
	for _, x := range []struct{ plan, found, want int }{{1, 12, 12}, {1, 1, 1}, {5, 12, 15}, {3, 32, 30}, {14, 12, 14}, {2, 12, 12}} {
		s := built(t, "simple_ring", collective.AllReduce, 1, 8)
		one := s.Channels[0]
		s.Channels = nil
		for range x.plan {
			s.Channels = append(s.Channels, one)
		}
		m := machine(1, 8)
		m.Channels = x.found
		g, _, err := Export(s, m)
		if err != nil {
			t.Fatal(err)
		}
		got := g.Graphs[0]
		rate, want := got.SpeedIntra*float64(len(got.Channels)), m.SpeedIntra*float64(min(x.found, x.want))
		if len(got.Channels) != x.want || math.Abs(rate-want) > 1e-9*want {
			t.Errorf("%+v: %d channels, %g GB/s in all instead of %g", x, len(got.Channels), rate, want)
		}
	}
}

const valid = `<graphs version="1">
 <graph id="0" pattern="4" crossnic="0" nchannels="2" speedintra="20" speedinter="20" typeintra="NVL" typeinter="PXN" samechannels="0">
  <channel>
   <net dev="0x0"/>
   <gpu dev="0x1" rank="0"/>
   <gpu dev="0" rank="1"/>
   <net dev="0x1"/>
  </channel>
  <channel><net dev="0"/><gpu dev="0"/><gpu dev="1"/><net dev="0"/></channel>
 </graph>
</graphs>
`

var broken = []interoptest.Mistake{
	{`version="1"`, `version="2"`, "version 2: NCCL reads 1"},
	{`<graphs version="1">`, `<graphs>`, "attribute version is missing"},
	{`id="0"`, `id="7"`, "line 2: graph id 7"},
	{`pattern="4"`, `pattern="3"`, "pattern 3 does not belong"},
	{`crossnic="0"`, `crossnic="5"`, "crossnic 5"},
	{`nchannels="2"`, `nchannels="3"`, "nchannels=3, but it has 2"},
	{`speedintra="20"`, `speedintra="NaN"`, "out of range"},
	{`speedintra="20"`, `speedintra="fast"`, "not a number"},
	{`typeintra="NVL"`, `typeintra="C2C"`, `path "C2C": NCCL reads`},
	{`dev="0x1" rank="0"`, `dev="0xz"`, "not a hexadecimal number"},
	{`rank="0"`, `rank="-3"`, "out of range"},
	{`dev="0x1" rank="0"`, `dev="0x0" rank="0"`, "line 3: graph 0 channel 0: no GPU, or one twice"},
	{`<gpu dev="0"/><gpu dev="1"/>`, `<gpu dev="0"/><gpu dev="2"/>`, "line 9: graph 0 channel 1: visits other GPUs"},
	{`   <net dev="0x1"/>`, ``, "1 nets"},
	{`   <net dev="0x0"/>`, ``, "none is at the beginning"},
	{`   <net dev="0x1"/>`, `   <net dev="0x1"/><gpu dev="5"/>`, "after the last net"},
	{`<channel>`, `<chan>`, "unexpected element chan"},
	{`</graphs>`, ``, "line 12"},
	{`   <net dev="0x1"/>`, strings.Repeat(`<gpu dev="0x9"/>`, 640), "643 GPUs and nets: NCCL reads 640"},
	{`<graphs`, `<?xml version="1.0"?><graphs`, "the parser knows no <? ?>"},
	{`<graphs version="1">`, "<graphs\nversion=\"1\">", "attributes on one line"},
	{`<graphs version="1">`, `<graphs version= "1">`, "right behind its ="},
	{`  <channel>`, "\t<channel>", "only spaces and line ends"},
	{`typeintra="NVL"`, `typeintra="` + strings.Repeat("N", 255) + `"`, "reads 254 at most"},
	{`version="1"`, `version="1" version="1"`, "attribute version twice"},
	{`version="1"`, `version='1'`, ""},
	{`</graph>`, `</graph><graph id="0" pattern="4" crossnic="0" nchannels="0" speedintra="20" speedinter="20" typeintra="NVL" typeinter="PXN" samechannels="0"></graph>`, "graph 0 twice"},
}

func TestBrokenGraphs(t *testing.T) {
	interoptest.Mistakes(t, valid, append(broken, interoptest.Mistake{valid, valid + "\n", ""}), func(r io.Reader) error {
		_, err := Read(r)
		return err
	})
}

// ranks are those that a graph's first channel visits, 0 where it has none.
func (g *Graph) ranks() int {
	if len(g.Channels) == 0 {
		return 0
	}
	return len(g.Channels[0].GPUs)
}

func FuzzParseGraph(f *testing.F) {
	interoptest.Fuzz(f, valid, broken, func(t *testing.T, r io.Reader) {
		g, err := Read(r)
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := g.Write(&b); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(&b); err != nil {
			t.Errorf("what was read is not readable when written: %v", err)
		}
		node := make([]int, min(g.Graphs[0].ranks(), 64))
		for _, tree := range []bool{false, true} {
			if s, err := g.Import(collective.AllReduce, tree, 1, node); err == nil && schedule.Check(s, nil) != nil {
				t.Error("what was imported computes something else")
			}
		}
	})
}
