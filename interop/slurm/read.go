package slurm

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"railyard/internal/lazy"
	"railyard/interop/foreign"
	"railyard/interop/foreign/hostlist"
	"railyard/model/survey"
	"railyard/model/yamlfile"
)

// Layout is what a file of Slurm's says of a network: a tree of switches, else blocks of nodes.
type Layout struct {
	Switches, Blocks []survey.Switch
	Notes            []string
}

var (
	confLine = lazy.Regexp(`(?im)^\s*(SwitchName|BlockName|BlockSizes)\s*=`)
	yamlLine = lazy.Regexp(`(?m)^\s*-?\s*topology\s*:`)
)

// Begins reports whether a text is topology.conf or topology.yaml.
func Begins(data []byte) bool { return confLine().Match(data) || yamlLine().Match(data) }

// Read reads topology.conf (tree and block) or topology.yaml, of which it takes the topology that is the default, else the first.
func Read(r io.Reader) (*Layout, error) {
	data, err := foreign.Read(r, yamlfile.MaxFile>>20)
	if err != nil {
		return nil, err
	}
	if confLine().Match(data) {
		return readConf(string(data))
	}
	return readYAML(data)
}

// Network is the network of a layout: blocks are taken for leaves.
func (l *Layout) Network(n *survey.Network, adapters int) (*survey.Network, error) {
	switches := l.Switches
	if len(switches) == 0 {
		switches = l.Blocks
		n.Notes = append(n.Notes, "blocks are taken for leaf switches: whether NVLink or a switch joins their nodes is not said")
	}
	n.Notes = append(n.Notes, l.Notes...)
	return survey.TreeNetwork(n, switches, adapters)
}

func readConf(text string) (*Layout, error) {
	l := &Layout{}
	var m foreign.Mistakes
	for i, line := range strings.Split(text, "\n") {
		line, _, _ = strings.Cut(line, "#")
		if fields := strings.Fields(line); len(fields) > 0 {
			if err := l.line(fields); err != nil {
				m.Add(i+1, "%w", err)
			}
		}
	}
	return l, m.Err()
}

// line takes a line of topology.conf; keys are not case-sensitive.
func (l *Layout) line(fields []string) error {
	values := map[string]string{}
	for _, f := range fields {
		key, value, ok := strings.Cut(f, "=")
		if !ok || value == "" {
			return fmt.Errorf("%q is not KEY=VALUE", f)
		}
		key = strings.ToLower(key)
		if _, twice := values[key]; twice {
			return fmt.Errorf("%s twice", key)
		}
		values[key] = value
	}
	first, _, _ := strings.Cut(strings.ToLower(fields[0]), "=")
	known := map[string][]string{"switchname": {"switches", "nodes", "linkspeed"}, "blockname": {"nodes"}, "blocksizes": {}}[first]
	if known == nil {
		return fmt.Errorf("a line begins with SwitchName, BlockName or BlockSizes, not with %q (topology/ring is not read)", fields[0])
	}
	for key := range values {
		if key != first && !strings.Contains(" "+strings.Join(known, " ")+" ", " "+key+" ") {
			return fmt.Errorf("%s does not go with %s", key, first)
		}
	}
	if first == "blocksizes" {
		return nil
	}
	s, err := switchIn(values[first], values["nodes"], values["switches"])
	if err != nil {
		return err
	}
	if first == "blockname" {
		l.Blocks = append(l.Blocks, s)
	} else {
		l.Switches = append(l.Switches, s)
	}
	return nil
}

// switchIn is a switch with what hangs on it.
func switchIn(name, nodes, switches string) (s survey.Switch, err error) {
	s.Name = name
	if s.Nodes, err = hostlist.Read(nodes); err != nil {
		return s, err
	}
	if s.Switches, err = hostlist.Read(switches); err == nil && len(s.Nodes)+len(s.Switches) == 0 {
		err = fmt.Errorf("%s has neither nodes nor switches", name)
	}
	return s, err
}

// yamlTopology is an element of topology.yaml.
type yamlTopology struct {
	Name    string     `file:"topology,need"`
	Default bool       `file:"cluster_default"`
	Tree    *yamlTree  `file:"tree,optional"`
	Block   *yamlBlock `file:"block,optional"`
	// These say nothing of switches.
	Flat    yamlfile.Ignored `file:"flat"`
	Ring    yamlfile.Ignored `file:"ring"`
	Torus3D yamlfile.Ignored `file:"torus3d"`
}

type yamlTree struct {
	Switches []yamlSwitch `file:"switches,some,each=switch"`
}

type yamlSwitch struct {
	Name     string `file:"switch,need"`
	Children string `file:"children"`
	Nodes    string `file:"nodes"`
	yamlfile.Place
}

type yamlBlock struct {
	Sizes  []int        `file:"block_sizes,lo=1"`
	Blocks []yamlBlocks `file:"blocks,some,each=block"`
}

type yamlBlocks struct {
	Name  string `file:"block,need"`
	Nodes string `file:"nodes"`
	yamlfile.Place
}

func readYAML(data []byte) (*Layout, error) {
	d := &yamlfile.Diagnostics{}
	root := yamlfile.Format{Noun: "topology.yaml", Repeat: "hostlists"}.Parse(d, data)
	if root == nil {
		return nil, d.Err()
	}
	if root.Tag != "!!seq" || len(root.Content) == 0 {
		return nil, errors.New("line 1: topology.yaml is a list of topologies, one at least")
	}
	var list []yamlTopology
	for _, n := range root.Content {
		var x yamlTopology
		yamlfile.NewObject(d, n, "topology").Read(&x)
		list = append(list, x)
	}
	if err := d.Err(); err != nil {
		return nil, err
	}
	use := 0
	for i := len(list) - 1; i >= 0; i-- {
		if list[i].Default {
			use = i
		}
	}
	l := &Layout{}
	if len(list) > 1 {
		l.Notes = append(l.Notes, fmt.Sprintf("of %d topologies %s is taken", len(list), list[use].Name))
	}
	x := list[use]
	add := func(to *[]survey.Switch, p yamlfile.Place, name, nodes, switches string) {
		s, err := switchIn(name, nodes, switches)
		if err != nil {
			d.AddAt(p.Pos, "%v", err)
		}
		*to = append(*to, s)
	}
	switch {
	case x.Tree != nil:
		for _, s := range x.Tree.Switches {
			add(&l.Switches, s.Place, s.Name, s.Nodes, s.Children)
		}
	case x.Block != nil:
		for _, b := range x.Block.Blocks {
			add(&l.Blocks, b.Place, b.Name, b.Nodes, "")
		}
	default:
		return nil, fmt.Errorf("topology %s is neither a tree nor blocks: it says nothing of a network", x.Name)
	}
	return l, d.Err()
}
