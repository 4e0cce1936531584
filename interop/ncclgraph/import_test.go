package ncclgraph

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"railyard/interop/interoptest"
	"railyard/model/collective"
	"railyard/model/schedule"
)

// TestImport: what comes back of a file computes its collective, also in slices, and becomes the same file again.
func TestImport(t *testing.T) {
	for _, x := range []struct {
		algo        string
		kind        collective.Kind
		nodes, gpus int
	}{
		{"ring", collective.AllReduce, 1, 8}, {"ring", collective.AllGather, 1, 4}, {"ring", collective.ReduceScatter, 1, 4},
		{"ring", collective.Broadcast, 1, 4}, {"ring", collective.Reduce, 1, 4}, {"double_binary_tree", collective.AllReduce, 1, 8},
	} {
		m := machine(x.nodes, x.gpus)
		tree := x.algo != "ring"
		g, _, err := Export(built(t, x.algo, collective.AllReduce, x.nodes, x.gpus), m)
		if err != nil {
			t.Fatal(err)
		}
		for _, pieces := range []int{1, 3} {
			s, err := g.Import(x.kind, tree, pieces, m.Node)
			if err != nil {
				t.Fatal(err)
			}
			if err := schedule.Check(s, nil); err != nil {
				t.Errorf("%s %v: %v", x.algo, x.kind, err)
			}
			interoptest.Uneven(t, s)
			if back, _, err := Export(s, m); err != nil || !x.kind.Rooted() && written(t, back) != written(t, g) {
				t.Errorf("%s %v comes back as\n%s%v", x.algo, x.kind, written(t, back), err)
			}
		}
	}
}

func written(t *testing.T, g *Graphs) string {
	t.Helper()
	var b bytes.Buffer
	if err := g.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// dumped is as NCCL writes it: ranks of the communicator in a node, a ring and a tree.
const dumped = `<graphs version="1">
  <graph id="0" pattern="4" crossnic="2" nchannels="2" speedintra="20" speedinter="12" latencyinter="0" typeintra="NVL" typeinter="PIX" samechannels="0">
    <channel>
      <net dev="0x0"/>
      <gpu dev="0x0" rank="3"/>
      <gpu dev="0x2" rank="5"/>
      <gpu dev="0x1" rank="4"/>
      <net dev="0x0"/>
    </channel>
    <channel>
      <net dev="0x1"/>
      <gpu dev="0x1" rank="4"/>
      <gpu dev="0x0" rank="3"/>
      <gpu dev="0x2" rank="5"/>
      <net dev="0x1"/>
    </channel>
  </graph>
  <graph id="1" pattern="3" crossnic="0" nchannels="1" speedintra="20" speedinter="12" latencyinter="0" typeintra="NVL" typeinter="PIX" samechannels="1">
    <channel>
      <gpu dev="0x2" rank="5"/>
      <gpu dev="0x0" rank="3"/>
      <gpu dev="0x1" rank="4"/>
    </channel>
  </graph>
</graphs>
`

// TestNodes: a dump of one node says what all do; with crossnic 2 odd nodes have the neighbouring channel's order.
func TestNodes(t *testing.T) {
	g, err := Read(strings.NewReader(dumped))
	if err != nil {
		t.Fatal(err)
	}
	s, err := g.Import(collective.AllReduce, false, 1, []int{0, 0, 0, 1, 1, 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := schedule.Check(s, nil); err != nil {
		t.Error(err)
	}
	for c, want := range [][]int32{{0, 2, 1, 4, 3, 5}, {1, 0, 2, 3, 5, 4}} {
		if got := s.Channels[c].Phases[0].Groups.List[0].Ranks; !slices.Equal(got, want) {
			t.Errorf("channel %d: %v instead of %v", c, got, want)
		}
	}
	if s, err = g.Import(collective.AllReduce, true, 1, []int{0, 0, 0}); err != nil || schedule.Check(s, nil) != nil {
		t.Error(err)
	}
	want := "ring: 2 channels in 2 orders, each 20 GB/s inside a node (NVL), 12 GB/s between nodes (PIX)"
	if got := g.Summary(); len(got) != 2 || got[0] != want {
		t.Errorf("%q instead of %q", got, want)
	}
	for _, x := range []struct {
		kind collective.Kind
		tree bool
		node []int
		want string
	}{
		{collective.AllToAll, false, []int{0, 0, 0}, "NCCL has no ring for all_to_all"},
		{collective.AllGather, true, []int{0, 0, 0}, "NCCL has no tree for all_gather"},
		{collective.AllReduce, true, []int{0, 0, 0, 1, 1, 1}, "NCCL joins them by trees that the file does not hold"},
		{collective.AllReduce, false, []int{0, 0, 0, 1, 1}, "channels visit 3 GPUs, node 1 of the topology has 2"},
	} {
		if _, err := g.Import(x.kind, x.tree, 1, x.node); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%v instead of %q", err, x.want)
		}
	}
	if _, err := (&Graphs{}).Import(collective.AllReduce, false, 1, []int{0, 0}); err == nil {
		t.Error("no graph, and no error")
	}
}
