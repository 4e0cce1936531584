package topology

import (
	"errors"
	"fmt"
)

// Options choose the part of a topology that is used, and change values of its file.
type Options struct {
	Nodes int      // number of nodes; 0: as the file says
	GPUs  int      // ranks used on each node, the first ones; 0: all
	Set   []string // "path.to.key=value", applied to the file before it is read
}

// Source finds a topology file by catalogue name or path. It must not return more
// than MaxFile+1 bytes; a larger file is refused here.
type Source func(name string) (file string, data []byte, err error)

// Load reads the named topology. Mistakes in the file come back as Errors.
func Load(src Source, name string, o Options) (*Topology, error) {
	file, data, err := src(name)
	if err != nil {
		return nil, err
	}
	return Parse(file, data, src, o)
}

// Parse reads a topology from its text; src resolves `use:` and may be nil.
func Parse(name string, data []byte, src Source, o Options) (*Topology, error) {
	d := &diagnostics{File: name}
	root := format.Parse(d, data)
	if root == nil {
		return nil, d.Err()
	}
	if err := set(root, src, o.Set); err != nil {
		return nil, err
	}
	var f file
	format.Decode(d, root, &f)
	if err := f.override(o); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	b := newBuilder(d, &f, src)
	t := b.build(o)
	if err := d.Err(); err != nil {
		return nil, err
	}
	return t, nil
}

// override applies Options.Nodes.
func (f *file) override(o Options) error {
	if o.GPUs < 0 {
		return fmt.Errorf("--gpus %d: must be at least 1", o.GPUs)
	}
	if o.Nodes == 0 {
		return nil
	}
	if len(f.Nodes) != 1 {
		return fmt.Errorf("--nodes %d: the file has %d kinds of node: set nodes.I.count with --set instead", o.Nodes, len(f.Nodes))
	}
	if o.Nodes < 0 || o.Nodes > maxCount {
		return fmt.Errorf("--nodes %d: must be from 1 to %d", o.Nodes, maxCount)
	}
	if o.Nodes > 1 && len(f.Fabrics) == 0 {
		return fmt.Errorf("--nodes %d: %s describes no fabric that could join nodes", o.Nodes, f.Name)
	}
	f.Nodes[0].Count = o.Nodes
	return nil
}

// builder turns a decoded file into a graph.
type builder struct {
	*diagnostics
	f       *file
	src     Source
	t       *Topology
	classes map[string]int32
	models  map[string]int32
	// expanded templates by name, nil where that failed; used ones have a number
	expanded map[string]*shape
	numbered map[*shape]int32
	// names of nodes so far, kept where several entries could make the same one
	nodeNames map[string]bool
	depth     int
}

const maxUseDepth = 8

func newBuilder(d *diagnostics, f *file, src Source) *builder {
	b := &builder{diagnostics: d, f: f, src: src, expanded: map[string]*shape{}, nodeNames: map[string]bool{}, numbered: map[*shape]int32{},
		classes: map[string]int32{}, models: map[string]int32{},
		t: &Topology{derived: new(derived), name: f.Name, description: f.Description, profile: f.Profile, rack: f.Rack}}
	b.addConstants(f, f.Pos)
	return b
}

// addConstants adds a file's classes and models to the topology's tables. Files that
// are used together may define the same name only with the same content.
func (b *builder) addConstants(f *file, p pos) (classes, models map[string]int32) {
	clash := func(what, name string) {
		b.AddAt(p, "%s %s is defined differently in %s and in the file it uses: rename one", what, name, f.Name)
	}
	for _, c := range f.Classes {
		if !define(&b.t.classes, b.classes, c.Name, c) {
			clash("class", c.Name)
		}
	}
	for _, m := range f.Models {
		if !define(&b.t.models, b.models, m.Name, m) {
			clash("model", m.Name)
		}
	}
	return b.classes, b.models
}

// define adds what has no number yet; false where the name stands for something else.
func define[T comparable](list *[]T, number map[string]int32, name string, x T) bool {
	i, ok := number[name]
	if !ok {
		number[name] = int32(len(*list))
		*list = append(*list, x)
	}
	return !ok || (*list)[i] == x
}

// build checks everything that can be checked part by part, so that all mistakes are
// reported at once; only then is the graph built, and checked as a whole.
func (b *builder) build(o Options) *Topology {
	for i := range b.f.Templates {
		t := &b.f.Templates[i]
		b.expanded[t.Name] = b.expandTemplate(b.f, t)
	}
	b.checkNodes(o)
	b.checkFabrics()
	if b.Total() > 0 {
		return nil
	}
	for _, n := range b.f.Nodes {
		b.addNodes(n, o)
	}
	b.t.lone = len(b.t.nodes) == 1
	for i := range b.f.Fabrics {
		if b.Total() == 0 {
			b.addFabric(&b.f.Fabrics[i])
		}
	}
	if b.Total() > 0 {
		return nil
	}
	b.t.finish()
	b.validate()
	if b.Total() > 0 {
		return nil
	}
	return b.t
}

// finish works out what follows from devices and links.
func (t *Topology) finish() {
	t.graph = newGraph(len(t.devices), t.links)
	t.finishTiers()
	t.hash = t.computeHash()
}

func (b *builder) expandTemplate(f *file, t *template) *shape {
	if t.Use != "" {
		return b.useTemplate(t)
	}
	before := b.Total()
	classes, models := b.addConstants(f, t.Pos)
	x := &shaper{diagnostics: b.diagnostics, t: t, classes: classes, models: models, table: b.t.models}
	s := x.expand()
	if b.Total() > before {
		return nil
	}
	return s
}

// useTemplate takes the single node type of another file.
func (b *builder) useTemplate(t *template) *shape {
	if b.src == nil {
		b.AddAt(t.Pos, "template %s: uses %q, but there is nowhere to look it up", t.Name, t.Use)
		return nil
	}
	if b.depth++; b.depth > maxUseDepth {
		b.AddAt(t.Pos, "template %s: files use one another more than %d deep", t.Name, maxUseDepth)
		return nil
	}
	defer func() { b.depth-- }()
	name, data, err := b.src(t.Use)
	if err != nil {
		b.AddAt(t.Pos, "template %s: use: %v", t.Name, err)
		return nil
	}
	inner := &diagnostics{File: name}
	f := new(file)
	if root := format.Parse(inner, data); root != nil {
		format.Decode(inner, root, f)
	}
	if err := inner.Err(); err != nil {
		var list Errors
		errors.As(err, &list)
		b.Append(list)
		return nil
	}
	if len(f.Templates) != 1 {
		b.AddAt(t.Pos, "template %s: %s has %d templates; only a file with one can be used", t.Name, t.Use, len(f.Templates))
		return nil
	}
	outer := b.diagnostics.File
	b.diagnostics.File = name
	defer func() { b.diagnostics.File = outer }()
	s := b.expandTemplate(f, &f.Templates[0])
	if b.t.profile == "" && s != nil && len(b.f.Nodes) == 1 {
		b.t.profile = f.Profile
	}
	return s
}
