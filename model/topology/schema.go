package topology

import (
	"gopkg.in/yaml.v3"

	"railyard/model/units"
	"railyard/model/yamlfile"
)

// Schema is the version of the file format; docs/topology-format.md describes it.
const Schema = "railyard.topology/v1"

// MaxFile is the largest topology file that is read; sources must not hand over more.
const MaxFile = yamlfile.MaxFile

var format = yamlfile.Format{Schema: Schema, Noun: "topology", Repeat: "templates and counts"}

// Error is one mistake in a topology file, Errors are all of them.
type (
	Error  = yamlfile.Error
	Errors = yamlfile.Errors

	diagnostics = yamlfile.Diagnostics
	object      = yamlfile.Object
	pos         = yamlfile.Pos
)

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
	rack                       int // nodes in a rack; 0: not said
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
	o := yamlfile.NewObject(d, root, "topology")
	f := &file{pos: yamlfile.At(root)}
	format.CheckSchema(o)
	f.name, f.description, f.profile = o.Text("name", true), o.Text("description", false), o.Text("profile", false)
	o.Provenance()
	o.Mapping("classes", func(name string, n *yaml.Node) { f.classes = append(f.classes, decodeClass(d, name, n)) })
	o.Mapping("models", func(name string, n *yaml.Node) { f.models = append(f.models, decodeModel(d, name, n)) })
	o.Mapping("templates", func(name string, n *yaml.Node) { f.templates = append(f.templates, decodeTemplate(d, name, n)) })
	if o.Has("devices") || o.Has("links") {
		top := template{name: f.name, pos: yamlfile.At(root)}
		decodeParts(o, &top)
		for _, t := range f.templates {
			if t.name == top.name {
				d.AddAt(t.pos, "template %s: the devices and links at the top level already are the template of that name: rename one",
					t.name)
			}
		}
		f.templates = append(f.templates, top)
	} else {
		o.Known("devices", "links")
	}
	o.List("nodes", func(_ int, n *yaml.Node) { f.nodes = append(f.nodes, decodeNodes(d, n)) })
	f.rack = o.Integer("rack", 0, 1, maxCount)
	o.List("fabrics", func(_ int, n *yaml.Node) { f.fabrics = append(f.fabrics, decodeFabric(d, n)) })
	o.Done()
	if len(f.nodes) == 0 && len(f.templates) == 1 {
		f.nodes = []nodeSpec{{pos: f.templates[0].pos, template: f.templates[0].name, name: "node", count: 1}}
	} else if len(f.nodes) == 0 {
		d.AddAt(f.pos, "topology: there are %d templates and no \"nodes\": say which are used and how many", len(f.templates))
	}
	return f
}

func decodeClass(d *diagnostics, name string, n *yaml.Node) Class {
	o := yamlfile.NewObject(d, n, "class "+name)
	c := Class{Name: name}
	if s := o.Text("medium", true); s != "" {
		m, err := lookupName(mediumNames[:], s, "medium")
		if err != nil {
			d.AddAt(o.Where("medium"), "%s: %v", o.What, err)
		}
		c.Medium = Medium(m)
	}
	c.Rate, c.Latency = o.Rate("rate", maxRate), o.Duration("latency", maxLatency)
	c.Source, c.Date = o.Provenance()
	o.Done()
	return c
}

func decodeModel(d *diagnostics, name string, n *yaml.Node) Model {
	o := yamlfile.NewObject(d, n, "model "+name)
	m := Model{Name: name, Kind: decodeKind(o)}
	m.Ports = o.Integer("ports", 0, 1, maxCount)
	m.Reduction, m.Multicast = o.Boolean("reduction", false), o.Boolean("multicast", false)
	if o.Has("memory") {
		m.Memory = o.Bytes("memory")
	} else {
		o.Known("memory")
	}
	m.Source, m.Date = o.Provenance()
	o.Done()
	return m
}

func decodeKind(o *object) Kind {
	s := o.Text("kind", true)
	if s == "" {
		return 0
	}
	k, err := lookupName(kindNames[:], s, "kind")
	if err != nil {
		o.AddAt(o.Where("kind"), "%s: %v", o.What, err)
	}
	return Kind(k)
}

func decodeTemplate(d *diagnostics, name string, n *yaml.Node) template {
	o := yamlfile.NewObject(d, n, "template "+name)
	t := template{name: name, pos: yamlfile.At(n), use: o.Text("use", false)}
	if t.use != "" && (o.Has("devices") || o.Has("links")) {
		d.AddAt(t.pos, "template %s: either use another file's node or describe devices and links, not both", name)
	}
	decodeParts(o, &t)
	o.Done()
	return t
}

func decodeParts(o *object, t *template) {
	o.List("devices", func(_ int, n *yaml.Node) { t.devices = append(t.devices, decodeDevice(o.Diagnostics, n)) })
	o.List("links", func(_ int, n *yaml.Node) { t.links = append(t.links, decodeLink(o.Diagnostics, n)) })
}

func decodeDevice(d *diagnostics, n *yaml.Node) deviceSpec {
	before := d.Total()
	o := yamlfile.NewObject(d, n, "device")
	s := deviceSpec{pos: yamlfile.At(n), ids: o.Text("id", true)}
	o.What = "device " + s.ids
	s.kind, s.model = decodeKind(o), o.Text("model", false)
	s.p2p, s.serves = o.Boolean("p2p", true), o.Text("serves", false)
	if o.Has("p2p") && s.kind != CPU && s.kind != GPU {
		d.AddAt(s.pos, "device %s: p2p has an effect on cpus and gpus only", s.ids)
	}
	if s.serves != "" && s.kind != NIC {
		d.AddAt(s.pos, "device %s: serves has an effect on NICs only", s.ids)
	}
	s.odd = d.Total() > before
	o.Done()
	return s
}

func decodeLink(d *diagnostics, n *yaml.Node) linkSpec {
	before := d.Total()
	o := yamlfile.NewObject(d, n, "link")
	s := linkSpec{pos: yamlfile.At(n), from: o.Text("from", false), to: o.Text("to", false), how: o.Text("how", false)}
	s.mesh, s.matrix, s.grid = o.Text("mesh", false), o.Text("matrix", false), o.Text("grid", false)
	s.dims = o.Integers("dims", 1, maxDevices)
	o.List("rows", func(_ int, n *yaml.Node) { s.rows = append(s.rows, d.Integers(n, "link: rows", 0, maxCount)) })
	s.wrap, s.duplex = o.Boolean("wrap", false), o.Boolean("duplex", true)
	s.class, s.count = o.Text("class", true), o.Integer("count", 1, 1, maxCount)
	kinds := 0
	for _, given := range []bool{s.from != "" || s.to != "", s.mesh != "", s.matrix != "", s.grid != ""} {
		if given {
			kinds++
		}
	}
	switch {
	case kinds != 1:
		d.AddAt(s.pos, "link: give exactly one of from+to, mesh, matrix, grid")
	case (s.from == "") != (s.to == ""):
		d.AddAt(s.pos, "link: from and to go together")
	case s.how != "" && s.from == "", s.wrap && s.grid == "", s.rows != nil && s.matrix == "", s.dims != nil && s.grid == "":
		d.AddAt(s.pos, "link: how goes with from+to, rows with matrix, dims and wrap with grid")
	}
	s.odd = d.Total() > before
	o.Done()
	return s
}

func decodeNodes(d *diagnostics, n *yaml.Node) nodeSpec {
	o := yamlfile.NewObject(d, n, "nodes")
	s := nodeSpec{pos: yamlfile.At(n), template: o.Text("template", true), name: o.Text("name", false), count: o.Integer("count", 1, 1,
		maxCount)}
	if s.name == "" {
		s.name = "node"
	}
	o.Done()
	return s
}

func decodeFabric(d *diagnostics, n *yaml.Node) fabricSpec {
	before := d.Total()
	o := yamlfile.NewObject(d, n, "fabric")
	s := fabricSpec{pos: yamlfile.At(n), name: o.Text("name", true), endpoints: o.Text("endpoints", true)}
	o.What = "fabric " + s.name
	s.rails, s.class = o.Integer("rails", 1, 1, maxCount), o.Text("class", true)
	if s.links = o.Integers("links", 1, maxCount); s.links == nil {
		s.links = []int{1}
	}
	o.List("levels", func(_ int, n *yaml.Node) { s.levels = append(s.levels, decodeLevel(d, n)) })
	if len(s.levels) == 0 {
		d.AddAt(s.pos, "%s: needs at least one level", o.What)
	}
	s.odd = d.Total() > before
	o.Done()
	return s
}

func decodeLevel(d *diagnostics, n *yaml.Node) levelSpec {
	before := d.Total()
	o := yamlfile.NewObject(d, n, "level")
	s := levelSpec{pos: yamlfile.At(n), kind: decodeKind(o), model: o.Text("model", false)}
	if !s.kind.fabricKind() {
		d.AddAt(s.pos, "level: kind %v does not switch between nodes: use nvswitch, leaf, spine or core", s.kind)
	}
	s.group, s.stride = o.Integer("group", 0, 1, maxCount), o.Integer("stride", 1, 1, maxCount)
	s.planes, s.count = o.Integer("planes", 1, 1, maxCount), o.Integer("count", 0, 1, maxCount)
	s.uplinks = o.Integer("uplinks", 0, 1, maxCount)
	s.oversubscription, s.uplink = o.Number("oversubscription", 1), o.Text("uplink", false)
	switch scope := o.Text("scope", false); scope {
	case "", "all":
	case "rail":
		s.railScope = true
	default:
		d.AddAt(s.pos, "level: scope %q must be all or rail", scope)
	}
	s.odd = d.Total() > before
	o.Done()
	return s
}
