package topology

import (
	"gopkg.in/yaml.v3"

	"railyard/model/units"
)

// Schema is the version of the file format; docs/topology-format.md describes it.
const Schema = "railyard.topology/v1"

// Bounds of a topology, so that a typing mistake ends in a message and not in swap.
const (
	maxDevices = 4 << 20
	maxLinks   = 32 << 20
	maxCount   = 1 << 20
	// One template is laid out with names, so it may hold less than all nodes together.
	maxTemplateDevices = 1 << 20
	maxTemplateLinks   = 4 << 20
	maxRate            = units.Rate(1e15) // 1 PB/s
	maxLatency         = units.Second
)

// Model is a kind of device with its constants.
type Model struct {
	Name                 string
	Kind                 Kind
	Ports                int // scale-up and network links it can take; 0 is unlimited
	Reduction, Multicast bool
	Memory               units.Bytes
	Source, Date         string
}

// file is a topology file as written.
type file struct {
	name, description, profile string
	pos                        pos
	classes                    []Class
	models                     []Model
	templates                  []template
	nodes                      []nodeSpec
	fabrics                    []fabricSpec
}

type template struct {
	name    string
	pos     pos
	use     string
	devices []deviceSpec
	links   []linkSpec
}

type deviceSpec struct {
	pos    pos
	ids    string
	kind   Kind
	model  string
	p2p    bool
	serves string
	odd    bool // a mistake of form was reported already
}

// linkSpec is one rule; exactly one of from/to, mesh, matrix and grid is set.
type linkSpec struct {
	pos                pos
	from, to, how      string
	mesh, matrix, grid string
	rows               [][]int
	dims               []int
	wrap, duplex       bool
	class              string
	count              int
	odd                bool // a mistake of form was reported already
}

type nodeSpec struct {
	pos            pos
	template, name string
	count          int
}

type fabricSpec struct {
	pos             pos
	name, endpoints string
	rails           int
	class           string
	links           []int
	levels          []levelSpec
	odd             bool // a mistake of form was reported already
}

type levelSpec struct {
	pos              pos
	kind             Kind
	model            string
	group, stride    int // 0: not given
	planes, count    int
	uplinks          int
	oversubscription float64
	uplink           string
	railScope        bool
	odd              bool // a mistake of form was reported already
}

// decode reads the whole file, reporting every mistake of form.
func decode(d *diagnostics, root *yaml.Node) *file {
	o := newObject(d, root, "topology")
	f := &file{pos: at(root)}
	if s := o.text("schema", true); s != "" && s != Schema {
		d.addAt(at(o.keys["schema"]), "schema %q is not known to this version: it reads %s", s, Schema)
	}
	f.name, f.description, f.profile = o.text("name", true), o.text("description", false), o.text("profile", false)
	o.provenance()
	o.mapping("classes", func(name string, n *yaml.Node) { f.classes = append(f.classes, decodeClass(d, name, n)) })
	o.mapping("models", func(name string, n *yaml.Node) { f.models = append(f.models, decodeModel(d, name, n)) })
	o.mapping("templates", func(name string, n *yaml.Node) { f.templates = append(f.templates, decodeTemplate(d, name, n)) })
	if o.keys["devices"] != nil || o.keys["links"] != nil {
		top := template{name: f.name, pos: at(root)}
		decodeParts(o, &top)
		for _, t := range f.templates {
			if t.name == top.name {
				d.addAt(t.pos, "template %s: the devices and links at the top level already are the template of that name: rename one", t.name)
			}
		}
		f.templates = append(f.templates, top)
	} else {
		o.asked = append(o.asked, "devices", "links")
	}
	o.list("nodes", func(_ int, n *yaml.Node) { f.nodes = append(f.nodes, decodeNodes(d, n)) })
	o.list("fabrics", func(_ int, n *yaml.Node) { f.fabrics = append(f.fabrics, decodeFabric(d, n)) })
	o.done()
	if len(f.nodes) == 0 && len(f.templates) == 1 {
		f.nodes = []nodeSpec{{pos: f.templates[0].pos, template: f.templates[0].name, name: "node", count: 1}}
	} else if len(f.nodes) == 0 {
		d.addAt(f.pos, "topology: there are %d templates and no \"nodes\": say which are used and how many", len(f.templates))
	}
	return f
}

func decodeClass(d *diagnostics, name string, n *yaml.Node) Class {
	o := newObject(d, n, "class "+name)
	c := Class{Name: name}
	if s := o.text("medium", true); s != "" {
		m, err := lookupName(mediumNames[:], s, "medium")
		if err != nil {
			d.addAt(at(o.keys["medium"]), "%s: %v", o.what, err)
		}
		c.Medium = Medium(m)
	}
	c.Rate, c.Latency = o.rate("rate"), o.duration("latency")
	c.Source, c.Date = o.provenance()
	o.done()
	return c
}

func decodeModel(d *diagnostics, name string, n *yaml.Node) Model {
	o := newObject(d, n, "model "+name)
	m := Model{Name: name, Kind: decodeKind(o)}
	m.Ports = o.integer("ports", 0, 1, maxCount)
	m.Reduction, m.Multicast = o.boolean("reduction", false), o.boolean("multicast", false)
	if text := o.text("memory", false); text != "" {
		b, err := units.ParseBytes(text)
		if err != nil {
			d.addAt(at(o.keys["memory"]), "%s: memory: %v", o.what, err)
		}
		m.Memory = b
	}
	m.Source, m.Date = o.provenance()
	o.done()
	return m
}

func decodeKind(o *object) Kind {
	s := o.text("kind", true)
	if s == "" {
		return 0
	}
	k, err := lookupName(kindNames[:], s, "kind")
	if err != nil {
		o.d.addAt(at(o.keys["kind"]), "%s: %v", o.what, err)
	}
	return Kind(k)
}

func decodeTemplate(d *diagnostics, name string, n *yaml.Node) template {
	o := newObject(d, n, "template "+name)
	t := template{name: name, pos: at(n), use: o.text("use", false)}
	if t.use != "" && (o.keys["devices"] != nil || o.keys["links"] != nil) {
		d.addAt(t.pos, "template %s: either use another file's node or describe devices and links, not both", name)
	}
	decodeParts(o, &t)
	o.done()
	return t
}

func decodeParts(o *object, t *template) {
	o.list("devices", func(_ int, n *yaml.Node) { t.devices = append(t.devices, decodeDevice(o.d, n)) })
	o.list("links", func(_ int, n *yaml.Node) { t.links = append(t.links, decodeLink(o.d, n)) })
}

func decodeDevice(d *diagnostics, n *yaml.Node) deviceSpec {
	before := d.total()
	o := newObject(d, n, "device")
	s := deviceSpec{pos: at(n), ids: o.text("id", true)}
	o.what = "device " + s.ids
	s.kind, s.model = decodeKind(o), o.text("model", false)
	s.p2p, s.serves = o.boolean("p2p", true), o.text("serves", false)
	if o.keys["p2p"] != nil && s.kind != CPU {
		d.addAt(s.pos, "device %s: p2p has an effect on cpus only", s.ids)
	}
	if s.serves != "" && s.kind != NIC {
		d.addAt(s.pos, "device %s: serves has an effect on NICs only", s.ids)
	}
	s.odd = d.total() > before
	o.done()
	return s
}

func decodeLink(d *diagnostics, n *yaml.Node) linkSpec {
	before := d.total()
	o := newObject(d, n, "link")
	s := linkSpec{pos: at(n), from: o.text("from", false), to: o.text("to", false), how: o.text("how", false)}
	s.mesh, s.matrix, s.grid = o.text("mesh", false), o.text("matrix", false), o.text("grid", false)
	s.dims = o.integers("dims", 1, maxDevices)
	o.list("rows", func(_ int, n *yaml.Node) { s.rows = append(s.rows, d.integers(n, "link: rows", 0, maxCount)) })
	s.wrap, s.duplex = o.boolean("wrap", false), o.boolean("duplex", true)
	s.class, s.count = o.text("class", true), o.integer("count", 1, 1, maxCount)
	kinds := 0
	for _, given := range []bool{s.from != "" || s.to != "", s.mesh != "", s.matrix != "", s.grid != ""} {
		if given {
			kinds++
		}
	}
	switch {
	case kinds != 1:
		d.addAt(s.pos, "link: give exactly one of from+to, mesh, matrix, grid")
	case (s.from == "") != (s.to == ""):
		d.addAt(s.pos, "link: from and to go together")
	case s.how != "" && s.from == "", s.wrap && s.grid == "", s.rows != nil && s.matrix == "", s.dims != nil && s.grid == "":
		d.addAt(s.pos, "link: how goes with from+to, rows with matrix, dims and wrap with grid")
	}
	s.odd = d.total() > before
	o.done()
	return s
}

func decodeNodes(d *diagnostics, n *yaml.Node) nodeSpec {
	o := newObject(d, n, "nodes")
	s := nodeSpec{pos: at(n), template: o.text("template", true), name: o.text("name", false), count: o.integer("count", 1, 1, maxCount)}
	if s.name == "" {
		s.name = "node"
	}
	o.done()
	return s
}

func decodeFabric(d *diagnostics, n *yaml.Node) fabricSpec {
	before := d.total()
	o := newObject(d, n, "fabric")
	s := fabricSpec{pos: at(n), name: o.text("name", true), endpoints: o.text("endpoints", true)}
	o.what = "fabric " + s.name
	s.rails, s.class = o.integer("rails", 1, 1, maxCount), o.text("class", true)
	if s.links = o.integers("links", 1, maxCount); s.links == nil {
		s.links = []int{1}
	}
	o.list("levels", func(_ int, n *yaml.Node) { s.levels = append(s.levels, decodeLevel(d, n)) })
	if len(s.levels) == 0 {
		d.addAt(s.pos, "%s: needs at least one level", o.what)
	}
	s.odd = d.total() > before
	o.done()
	return s
}

func decodeLevel(d *diagnostics, n *yaml.Node) levelSpec {
	before := d.total()
	o := newObject(d, n, "level")
	s := levelSpec{pos: at(n), kind: decodeKind(o), model: o.text("model", false)}
	if !s.kind.fabricKind() {
		d.addAt(s.pos, "level: kind %v does not switch between nodes: use nvswitch, leaf, spine or core", s.kind)
	}
	s.group, s.stride = o.integer("group", 0, 1, maxCount), o.integer("stride", 1, 1, maxCount)
	s.planes, s.count = o.integer("planes", 1, 1, maxCount), o.integer("count", 0, 1, maxCount)
	s.uplinks = o.integer("uplinks", 0, 1, maxCount)
	s.oversubscription, s.uplink = o.number("oversubscription", 1), o.text("uplink", false)
	switch scope := o.text("scope", false); scope {
	case "", "all":
	case "rail":
		s.railScope = true
	default:
		d.addAt(s.pos, "level: scope %q must be all or rail", scope)
	}
	s.odd = d.total() > before
	o.done()
	return s
}
