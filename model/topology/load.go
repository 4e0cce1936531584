package topology

import (
	"fmt"
	"railyard/model/symmetry"
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
	files := &includer{d, src, map[string]origin{}}
	files.include(root, 0)
	if err := set(root, o.Set); err != nil {
		return nil, err
	}
	var f file
	format.Decode(d, root, &f)
	if err := f.override(o); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	b := newBuilder(d, &f, files.used)
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
	used    map[string]origin // templates of other files
	t       *Topology
	classes map[string]int32
	models  map[string]int32
	// expanded templates by name, nil where that failed; used ones have a number
	expanded map[string]*shape
	numbered symmetry.Numbering[*shape]
	// names of nodes so far, kept where several entries could make the same one
	nodeNames map[string]bool
}

func newBuilder(d *diagnostics, f *file, used map[string]origin) *builder {
	b := &builder{diagnostics: d, f: f, used: used, expanded: map[string]*shape{}, nodeNames: map[string]bool{},
		classes: map[string]int32{}, models: map[string]int32{},
		t: &Topology{derived: new(derived), name: f.Name, description: f.Description, profile: f.Profile, rack: f.Rack,
			gdr: gdrLevel(f.GDRLevel), classes: f.Classes, models: f.Models}}
	for i, c := range f.Classes {
		b.classes[c.Name] = int32(i)
	}
	for i, m := range f.Models {
		b.models[m.Name] = int32(i)
	}
	return b
}

// build checks everything that can be checked part by part, so that all mistakes are
// reported at once; only then is the graph built, and checked as a whole.
func (b *builder) build(o Options) *Topology {
	for i := range b.f.Templates {
		t := &b.f.Templates[i]
		b.expanded[t.Name] = b.expandTemplate(*t)
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

// expandTemplate is a node type laid out, nil where there are mistakes. They are those of the file that it comes from.
func (b *builder) expandTemplate(t template) *shape {
	if t.Use != "" { // what kept it from being taken was reported
		return nil
	}
	o, used := b.used[t.Name]
	if used {
		outer := b.File
		defer func() { b.File = outer }()
		b.File, t.Name = o.file, o.name
	}
	before := b.Total()
	x := &shaper{diagnostics: b.diagnostics, t: &t, classes: b.classes, models: b.models, table: b.t.models}
	s := x.expand()
	if b.Total() > before {
		return nil
	}
	for i := range s.devices {
		if used {
			s.devices[i].at = o.at
		}
	}
	return s
}

// gdrLevel is a level that the file's schema has checked.
func gdrLevel(name string) RouteKind {
	level, _ := ParseGDRLevel(name)
	return level
}
