// Package topograph reads the models of Topograph (https://github.com/NVIDIA/topograph, docs/modeling.md): a tree of switches, and
// blocks of nodes at its leaves.
package topograph

import (
	"io"

	"railyard/interop/foreign"
	"railyard/interop/foreign/hostlist"
	"railyard/model/survey"
	"railyard/model/yamlfile"

	"railyard/internal/lazy"
)

// model is a file.
type model struct {
	switches []modelSwitch
	blocks   []modelBlock
}

type modelSwitch struct {
	name  string
	below []string
}

type modelBlock struct {
	at, domain string
	nodes      []string
	pos        yamlfile.Pos
}

// domain says which nodes share NVSwitches.
const domain = "accelerator.topology.test/domain"

var begins = lazy.Regexp(`(?m)^(switches|blocks):\s*$`)

// Begins reports whether a text is a model.
func Begins(data []byte) bool { return begins().Match(data) }

// Model is a tree of switches.
type Model struct {
	Switches []survey.Switch
	Notes    []string
}

// Read reads a model.
func Read(r io.Reader) (*Model, error) {
	data, err := foreign.Read(r, yamlfile.MaxFile>>20)
	if err != nil {
		return nil, err
	}
	d := &yamlfile.Diagnostics{}
	root := yamlfile.Format{Noun: "model", Repeat: "ranges of nodes"}.Parse(d, data)
	if root == nil {
		return nil, d.Err()
	}
	x := readModel(yamlfile.NewFile(d, root, "model"))
	if err := d.Err(); err != nil {
		return nil, err
	}
	m := x.tree(d)
	return m, d.Err()
}

func readModel(o *yamlfile.Object) *model {
	x := &model{}
	defer o.Done()
	if o.Value("switches") != nil {
		o.Mapping("switches", func(name string, n *yamlfile.Node) {
			if n.Tag == "!!null" { // a leaf of which nothing is said
				return
			}
			s := yamlfile.NewObject(o.Diagnostics, n, "switch "+name)
			if as := s.Text("name", false); as != "" && as != name {
				s.AddAt(s.Where("name"), "switch %s calls itself %s", name, as)
			}
			s.Allow("labels", "annotations")
			x.switches = append(x.switches, modelSwitch{name, texts(s, "switches")})
			s.Done()
		})
	}
	o.List("blocks", func(_ int, n *yamlfile.Node) {
		b := yamlfile.NewObject(o.Diagnostics, n, "block")
		block := modelBlock{at: b.Text("switch", true), nodes: texts(b, "nodes"), pos: b.Here()}
		b.Allow("labels")
		if b.Value("annotations") != nil {
			b.Mapping("annotations", func(name string, n *yamlfile.Node) {
				if name == domain {
					block.domain = n.Value
				}
			})
		}
		b.Done()
		x.blocks = append(x.blocks, block)
	})
	return x
}

// texts are the elements of a list.
func texts(o *yamlfile.Object, key string) (out []string) {
	o.List(key, func(_ int, n *yamlfile.Node) {
		if n.Value == "" {
			o.AddAt(yamlfile.At(n), "%s: %s must be a list of names", o.What, key)
		}
		out = append(out, n.Value)
	})
	return out
}

// tree makes switches of those that are named and of those that only others name.
func (x *model) tree(d *yamlfile.Diagnostics) *Model {
	m := &Model{}
	at := map[string]int{}
	find := func(name string) *survey.Switch {
		i, ok := at[name]
		if !ok {
			i = len(m.Switches)
			at[name], m.Switches = i, append(m.Switches, survey.Switch{Name: name})
		}
		return &m.Switches[i]
	}
	for _, s := range x.switches {
		for _, c := range s.below {
			find(c)
		}
		find(s.name).Switches = s.below
	}
	domains := false
	for _, b := range x.blocks {
		for _, list := range b.nodes {
			names, err := hostlist.Read(list)
			if err != nil {
				d.AddAt(b.pos, "block of %s: %v", b.at, err)
			}
			s := find(b.at)
			s.Nodes = append(s.Nodes, names...)
		}
		domains = domains || b.domain != ""
	}
	if domains {
		m.Notes = append(m.Notes, "which nodes share NVSwitches ("+domain+
			") is not drawn: name a type with -t whose file joins its nodes so")
	}
	return m
}

// Network is the network of a model.
func (m *Model) Network(n *survey.Network, adapters int) (*survey.Network, error) {
	n.Notes = append(n.Notes, m.Notes...)
	return survey.TreeNetwork(n, m.Switches, adapters)
}
