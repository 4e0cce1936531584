// Package topograph reads the models of Topograph (https://github.com/NVIDIA/topograph, docs/modeling.md): a tree of switches, and
// blocks of nodes at its leaves.
package topograph

import (
	"fmt"
	"io"
	"regexp"

	"railyard/interop/foreign"
	"railyard/interop/foreign/hostlist"
	"railyard/model/survey"
	"railyard/model/yamlfile"
)

// model is a file.
type model struct {
	Switches []modelSwitch `file:"switches,key,each=switch"`
	Blocks   []modelBlock  `file:"blocks,some,each=block"`
}

type modelSwitch struct {
	Name        string            `file:",key"`
	As          string            `file:"name"`
	Labels      map[string]string `file:"labels"`
	Annotations map[string]string `file:"annotations"`
	Switches    []string          `file:"switches"`
	yamlfile.Place
}

type modelBlock struct {
	Switch      string            `file:"switch,need"`
	Nodes       []string          `file:"nodes"`
	Labels      map[string]string `file:"labels"`
	Annotations map[string]string `file:"annotations"`
	yamlfile.Place
}

// domain says which nodes share NVSwitches.
const domain = "accelerator.topology.test/domain"

var begins = regexp.MustCompile(`(?m)^(switches|blocks):\s*$`)

// Begins reports whether a text is a model.
func Begins(data []byte) bool { return begins.Match(data) }

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
	var x model
	yamlfile.NewFile(d, root, "model").Read(&x)
	if err := d.Err(); err != nil {
		return nil, err
	}
	m := x.tree(d)
	return m, d.Err()
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
	for _, s := range x.Switches {
		if s.As != "" && s.As != s.Name {
			d.AddAt(s.Pos, "switch %s calls itself %s", s.Name, s.As)
		}
		for _, c := range s.Switches {
			find(c)
		}
		find(s.Name).Switches = s.Switches
	}
	domains := false
	for _, b := range x.Blocks {
		for _, list := range b.Nodes {
			names, err := hostlist.Read(list)
			if err != nil {
				d.AddAt(b.Pos, "block of %s: %v", b.Switch, err)
			}
			s := find(b.Switch)
			s.Nodes = append(s.Nodes, names...)
		}
		domains = domains || b.Annotations[domain] != ""
	}
	if domains {
		m.Notes = append(m.Notes, fmt.Sprintf("which nodes share NVSwitches (%s) is not drawn: a node type of several nodes has its own fabric", domain))
	}
	return m
}

// Network is the network of a model.
func (m *Model) Network(n *survey.Network, adapters int) (*survey.Network, error) {
	n.Notes = append(n.Notes, m.Notes...)
	return survey.TreeNetwork(n, m.Switches, adapters)
}
