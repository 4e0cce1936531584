package slurm

import (
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"

	"railyard/interop/interoptest"
	"railyard/model/survey"
)

const conf = "SwitchName=s0 Nodes=dev[0-5]\nSwitchName=s1 Nodes=dev[6-11] LinkSpeed=900 # fast\nSwitchName=s2 Nodes=dev[12-15]\n" +
	"switchname=s3 switches=s[0-2]\n"

var brokenConf = []interoptest.Mistake{
	{"Nodes=dev[0-5]", "Nodes=dev[0-", "line 1: \"dev[0-\""},
	{"SwitchName=s1 Nodes=dev[6-11]", "SwitchName=s1 Nodes", "line 2: \"Nodes\" is not KEY=VALUE"},
	{"LinkSpeed=900", "Speed=900", "line 2: speed does not go with switchname"},
	{"SwitchName=s1", "RingName=s1", "line 2: a line begins with SwitchName"},
	{"switches=s[0-2]", "switches=s[0-3]", "form a ring"},
	{"SwitchName=s1", "SwitchName=s0", "switch s0 twice"},
	{"dev[6-11]", "dev[5-11]", "node dev5 is below two switches"},
	{"Nodes=dev[12-15]", "Nodes=dev[11-14]", "node dev11 is below two switches"},
	{"Nodes=dev[12-15]", "LinkSpeed=1", "line 3: s2 has neither nodes nor switches"},
	{"SwitchName=s2 Nodes=dev[12-15]", "SwitchName=s2 Switches=s3", "form a ring"},
}

const yamlText = "- topology: one\n  tree: {switches: [{switch: a, nodes: 'n[1-2]'}, {switch: b, nodes: 'n[3-4]'}, {switch: c, " +
	"children: 'a,b'}]}\n" +
	"- topology: two\n  cluster_default: true\n  block: {block_sizes: [2], blocks: [{block: x, nodes: 'n[1-2]'}, {block: y, nodes: " +
	"'n[3-4]'}]}\n"

var brokenYAML = []interoptest.Mistake{
	{"children: 'a,b'", "childs: 'a,b'", "unknown key"},
	{"block: x, nodes: 'n[1-2]'", "block: x, nodes: 'n[2-1]'", "is no range"},
	{"cluster_default: true", "cluster_default: maybe", "cluster_default"},
	{"- topology: one", "- topology:", "topology"},
	{yamlText, "- topology: x\n  flat: true\n", "neither a tree nor blocks"},
	{"block: {block_sizes: [2], blocks: [", "block: {block_sizes: [2], blocks: [{block: z}, ", "z has neither nodes"},
}

func network(r io.Reader) (*survey.Network, error) {
	l, err := Read(r)
	if err != nil {
		return nil, err
	}
	return l.Network(&survey.Network{Name: "x", Source: "a test"}, 1)
}

func TestRead(t *testing.T) {
	n, err := network(strings.NewReader(conf))
	if err != nil || len(n.Leaves) != 3 || len(n.Leaves[2]) != 4 || n.Leaves[1][5] != "dev11" || len(n.Levels) != 2 ||
		!reflect.DeepEqual(n.Levels, []survey.Level{{Group: []int{6}, Uplinks: 6}, {}}) {
		t.Errorf("%+v %v", n, err)
	}
	n, err = network(strings.NewReader(yamlText))
	if err != nil || len(n.Leaves) != 2 || n.Leaves[1][1] != "n4" || !strings.Contains(strings.Join(n.Notes, " "),
		"of 2 topologies two is taken") {
		t.Errorf("%+v %v", n, err)
	}
}

// TestOtherTopologies: rings, tori and flat ones beside the default, as in the man page of topology.yaml, are passed over; groups of any
// size are read.
func TestOtherTopologies(t *testing.T) {
	n, err := network(strings.NewReader("- topology: a\n  flat: {alpha_step_rank: true}\n- topology: b\n" +
		"  ring: {rings: [{ring: r, nodes: x}]}\n" +
		"- topology: c\n  torus3d: {toruses: [{name: p, dims: {x: 1}}]}\n- topology: d\n  cluster_default: true\n  tree:\n    switches:\n" +
		"      - {switch: top, children: 's[0-2]'}\n      - {switch: s0, nodes: n1}\n      - {switch: s1, nodes: 'n[2-4]'}\n" +
		"      - {switch: s2, nodes: 'n[5-6]'}\n"))
	if err != nil || !reflect.DeepEqual(n.Levels, []survey.Level{{Group: []int{1, 3}, Uplinks: 3}, {}}) {
		t.Fatalf("%+v %v", n, err)
	}
	interoptest.Topology(t, n)
}

// TestUnevenTrees: leaves that stand less deep than others get switches of their own, and what is deeper than a topology file loses the
// levels below the highest, with and without a switch that joins all.
func TestUnevenTrees(t *testing.T) {
	const two = "SwitchName=a Nodes=n[1-4]\nSwitchName=b Nodes=n[5-8]\nSwitchName=ab Switches=a,b\n"
	for _, c := range []struct {
		name, conf, note string
		want             []survey.Level
	}{
		{"a leaf below the root", two + "SwitchName=c Nodes=n9\nSwitchName=top Switches=ab,c\n", "of 3 leaves 1 stand less deep",
			[]survey.Level{{Group: []int{4}, Uplinks: 4}, {Group: []int{2}, Uplinks: 8}, {}}},
		{"a leaf by itself", two + "SwitchName=c Nodes=n9\n", "of 3 leaves 1 stand less deep",
			[]survey.Level{{Group: []int{4}, Uplinks: 4}, {Group: []int{2}, Uplinks: 8}, {}}},
		{"four levels", two + "SwitchName=m Switches=ab\nSwitchName=c Nodes=n[9-10]\nSwitchName=cc Switches=c\nSwitchName=mm Switches=cc\n" +
			"SwitchName=top Switches=m,mm\n", "4 levels of switches, a topology file up to 3: 1 below",
			[]survey.Level{{Group: []int{4}, Uplinks: 4}, {Group: []int{2}, Uplinks: 8}, {}}},
		{"three and several roots", two + "SwitchName=m Switches=ab\nSwitchName=c Nodes=n[9-10]\nSwitchName=cc Switches=c\n" +
			"SwitchName=mm Switches=cc\n", "4 levels of switches, a topology file up to 3: 1 below",
			[]survey.Level{{Group: []int{4}, Uplinks: 4}, {Group: []int{2}, Uplinks: 8}, {}}},
	} {
		n, err := network(strings.NewReader(c.conf))
		if err != nil || !reflect.DeepEqual(n.Levels, c.want) || !strings.Contains(strings.Join(n.Notes, "\n"), c.note) {
			t.Errorf("%s: %+v, %v, want %+v", c.name, n, err, c.want)
			continue
		}
		interoptest.Topology(t, n)
	}
	deep := "SwitchName=s0 Nodes=n1\n"
	for i := range 70 {
		deep += fmt.Sprintf("SwitchName=s%d Switches=s%d\n", i+1, i)
	}
	if _, err := network(strings.NewReader(deep)); err == nil || !strings.Contains(err.Error(), "switch s6 stands below 64 others") {
		t.Error(err)
	}
}

func TestBroken(t *testing.T) {
	read := func(r io.Reader) error { _, err := network(r); return err }
	interoptest.Mistakes(t, conf, brokenConf, read)
	interoptest.Mistakes(t, yamlText, brokenYAML, read)
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(yamlText))
	interoptest.Fuzz(f, conf, append(brokenConf, brokenYAML...), func(t *testing.T, r io.Reader) {
		if n, err := network(r); err == nil {
			interoptest.Topology(t, n)
		}
	})
}
