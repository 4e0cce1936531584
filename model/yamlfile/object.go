package yamlfile

import (
	"slices"
	"sort"
	"strings"

	"gopkg.in/yaml.v3"
)

// Object reads one YAML mapping strictly: each key is asked for once, Done reports
// the keys that nobody asked for.
type Object struct {
	*Diagnostics
	node  *yaml.Node
	What  string // "class nvlink4", for messages
	path  string // of what is inside, for messages
	keys  map[string]*yaml.Node
	names []string // the keys in the file's order
	asked []string

	into   any               // the record that is read
	within any               // the record of which it is a part
	before any               // of an element of a list: those before it
	bounds map[string]string // of numbers whose tags have none
}

// Pos is a place in the file, kept with what was read there.
type Pos struct{ Line, Col int }

// At is where a value stands.
func At(n *yaml.Node) Pos { return Pos{n.Line, n.Column} }

// Node is a value as it stands in a file.
type Node = yaml.Node

// Elements are those of a list, or the one value that stands in its place; false where one of them is a list or a mapping.
func Elements(n *Node) (list []*Node, plain bool) {
	if list = []*Node{n}; n.Kind == yaml.SequenceNode {
		list = n.Content
	}
	return list, !slices.ContainsFunc(list, func(x *Node) bool { return x.Kind != yaml.ScalarNode })
}

// AddAt is Add for a place.
func (d *Diagnostics) AddAt(p Pos, format string, args ...any) { d.Add(p.Line, p.Col, format, args...) }

// NewObject begins to read a mapping; what names it in messages.
func NewObject(d *Diagnostics, n *yaml.Node, what string) *Object {
	o := &Object{Diagnostics: d, node: n, What: what, path: what + ".", keys: map[string]*yaml.Node{}}
	if n.Kind != yaml.MappingNode {
		d.Add(n.Line, n.Column, "%s: expected a mapping (key: value)", what)
		return o
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := n.Content[i]
		if _, twice := o.keys[k.Value]; twice {
			d.Add(k.Line, k.Column, "%s: key %q appears twice", what, k.Value)
			continue
		}
		o.keys[k.Value] = n.Content[i+1]
		o.names = append(o.names, k.Value)
	}
	return o
}

// NewFile begins to read a file: what is inside is named by its path there.
func NewFile(d *Diagnostics, root *yaml.Node, what string) *Object {
	o := NewObject(d, root, what)
	o.path = ""
	return o
}

// Value is the raw value of a key, nil where it is absent or null.
func (o *Object) Value(key string) *yaml.Node {
	o.asked = append(o.asked, key)
	n := o.keys[key]
	if n != nil && n.Kind == yaml.ScalarNode && n.Tag == "!!null" {
		return nil
	}
	return n
}

// Where is the place of a key's value, of the mapping where there is none.
func (o *Object) Where(key string) Pos {
	if n := o.keys[key]; n != nil {
		return At(n)
	}
	return At(o.node)
}

// Here is the place of the mapping.
func (o *Object) Here() Pos { return At(o.node) }

// Has reports whether a key has a value: null is none.
func (o *Object) Has(key string) bool { return o.keys[key] != nil && o.keys[key].Tag != "!!null" }

// Allow adds keys that Done shall not report, though nobody asked for them.
func (o *Object) Allow(keys ...string) { o.asked = append(o.asked, keys...) }

// Done reports unknown keys, with what would have been known.
func (o *Object) Done() {
	known := append([]string(nil), o.asked...)
	sort.Strings(known)
	known = slices.Compact(known)
	for i := 0; o.node.Kind == yaml.MappingNode && i+1 < len(o.node.Content); i += 2 {
		k := o.node.Content[i]
		if !slices.Contains(known, k.Value) {
			o.Add(k.Line, k.Column, "%s: unknown key %q; known are %s", o.What, k.Value, strings.Join(known, ", "))
		}
	}
}

// Text reads a scalar; need makes its absence an error.
func (o *Object) Text(key string, need bool) string {
	n := o.Value(key)
	if n == nil {
		if need && o.node.Kind == yaml.MappingNode {
			o.Add(o.node.Line, o.node.Column, "%s: %q is missing", o.What, key)
		}
		return ""
	}
	if n.Kind != yaml.ScalarNode {
		o.Add(n.Line, n.Column, "%s: %s must be a single value", o.What, key)
		return ""
	}
	if need && strings.TrimSpace(n.Value) == "" {
		o.Add(n.Line, n.Column, "%s: %q is empty", o.What, key)
	}
	return n.Value
}

// List visits the elements of a sequence.
func (o *Object) List(key string, visit func(i int, n *yaml.Node)) {
	n := o.Value(key)
	if n == nil {
		return
	}
	if n.Kind != yaml.SequenceNode {
		o.Add(n.Line, n.Column, "%s: %s must be a list", o.What, key)
		return
	}
	for i, c := range n.Content {
		visit(i, c)
	}
}

// Mapping visits the entries of a mapping in the file's order.
func (o *Object) Mapping(key string, visit func(name string, n *yaml.Node)) {
	n := o.Value(key)
	if n == nil {
		return
	}
	in := NewObject(o.Diagnostics, n, o.path+key)
	for _, name := range in.names {
		visit(name, in.keys[name])
	}
}
