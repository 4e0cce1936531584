package topology

import (
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
	pos         = yamlfile.Pos
)

// MaxProcessors bounds the numbers of logical processors.
const MaxProcessors = 1 << 16

// Bounds of a topology, so that a typing mistake ends in a message and not in swap.
const (
	maxDevices = 4 << 20
	maxLinks   = 32 << 20
	maxCount   = 1 << 20
	// One template is laid out with names, so it may hold less than all nodes together.
	maxTemplateDevices = 1 << 20
	maxTemplateLinks   = 4 << 20
)

// Class is a kind of link with its constants, per link and per direction.
type Class struct {
	Name    string     `file:",key"`
	Medium  Medium     `file:"medium,need"`
	Rate    units.Rate `file:"rate,need,most=1000000GB/s"`
	Latency units.Time `file:"latency,need,most=1s"`
	Source  string     `file:"source,need"` // where rate and latency come from
	Date    string     `file:"date,date"`   // when that source was read, YYYY-MM-DD
}

// Model is a kind of device with its constants.
type Model struct {
	Name      string      `file:",key"`
	Kind      Kind        `file:"kind,need"`
	Ports     int         `file:"ports,lo=1,hi=1048576"` // scale-up and network links it can take; 0 is unlimited
	Reduction bool        `file:"reduction"`
	Multicast bool        `file:"multicast"`
	Memory    units.Bytes `file:"memory"`
	Power     float64     `file:"power,lo=0,hi=1e6"` // the limit of a GPU in this machine, watts; 0: that of its model
	Source    string      `file:"source,need"`
	Date      string      `file:"date,date"`
}

// file is a topology file as written.
type file struct {
	Name        string     `file:"name,need"`
	Description string     `file:"description"`
	Source      string     `file:"source,need"`
	Date        string     `file:"date,date"`
	Profile     string     `file:"profile"`
	Rack        int        `file:"rack,lo=1,hi=1048576"` // nodes in a rack; 0: not said
	GDRLevel    string     `file:"gdr_level,default=PXB,one=LOC|PIX|PXB|PHB|SYS"`
	Classes     []Class    `file:"classes,key,each=class"`
	Models      []Model    `file:"models,key,each=model"`
	Templates   []template `file:"templates,key,each=template"`
	parts
	Nodes   []nodeSpec   `file:"nodes,each=nodes"`
	Fabrics []fabricSpec `file:"fabrics,each=fabric"`
	yamlfile.Place
}

// parts are the devices and links of a node.
type parts struct {
	Devices []deviceSpec `file:"devices,each=device"`
	Links   []linkSpec   `file:"links,each=link"`
}

type template struct {
	Name string `file:",key"`
	Use  string `file:"use"`
	parts
	yamlfile.Place
}

type deviceSpec struct {
	ID     string `file:"id,need,names"`
	Kind   Kind   `file:"kind,need"`
	Model  string `file:"model"`
	P2P    bool   `file:"p2p,default=true"`
	Root   string `file:"root"`
	CPUs   string `file:"cpus"`
	Serves string `file:"serves"`
	yamlfile.Place
}

// linkSpec is one rule; exactly one of from/to, mesh, matrix and grid is set.
type linkSpec struct {
	From   string  `file:"from"`
	To     string  `file:"to"`
	How    string  `file:"how"`
	Mesh   string  `file:"mesh"`
	Matrix string  `file:"matrix"`
	Rows   [][]int `file:"rows,hi=1048576"`
	Grid   string  `file:"grid"`
	Dims   []int   `file:"dims,lo=1,hi=4194304"`
	Wrap   bool    `file:"wrap"`
	Duplex bool    `file:"duplex,default=true"`
	Class  string  `file:"class,need"`
	Count  int     `file:"count,default=1,lo=1,hi=1048576"`
	yamlfile.Place
}

type nodeSpec struct {
	Template string `file:"template,need"`
	Name     string `file:"name,default=node"`
	Count    int    `file:"count,default=1,lo=1,hi=1048576"`
	yamlfile.Place
}

// Check counts the names of a range.
func (n *nodeSpec) Check(o *yamlfile.Object) {
	if list, err := nodeNames(*n); err == nil && list != nil && !o.Has("count") {
		n.Count = len(list)
	}
}

type fabricSpec struct {
	Name      string      `file:"name,need,names"`
	Endpoints string      `file:"endpoints,need"`
	Rails     int         `file:"rails,default=1,lo=1,hi=1048576"`
	Class     string      `file:"class,need"`
	Links     []int       `file:"links,lo=1,hi=1048576"`
	Levels    []levelSpec `file:"levels,some,each=level"`
	yamlfile.Place
}

type levelSpec struct {
	Kind             Kind    `file:"kind,need"`
	Model            string  `file:"model"`
	Group            []int   `file:"group,lo=1,hi=1048576"` // nil: not given
	Stride           int     `file:"stride,default=1,lo=1,hi=1048576"`
	Planes           int     `file:"planes,default=1,lo=1,hi=1048576"`
	Count            int     `file:"count,lo=1,hi=1048576"`
	Uplinks          int     `file:"uplinks,lo=1,hi=1048576"`
	Oversubscription float64 `file:"oversubscription,default=1"`
	Uplink           string  `file:"uplink"`
	Scope            string  `file:"scope,default=all,one=all|rail"`
	yamlfile.Place
}

// Check makes the devices and links at the top a template, and a node of the only one.
func (f *file) Check(o *yamlfile.Object) {
	if o.Has("devices") || o.Has("links") {
		for _, t := range f.Templates {
			if t.Name == f.Name {
				o.AddAt(t.Pos, "template %s: the devices and links at the top level already are the template of that name: rename one",
					t.Name)
			}
		}
		f.Templates = append(f.Templates, template{Name: f.Name, parts: f.parts, Place: f.Place})
	}
	if len(f.Nodes) == 0 && len(f.Templates) == 1 {
		f.Nodes = []nodeSpec{{Template: f.Templates[0].Name, Name: "node", Count: 1, Place: f.Templates[0].Place}}
	} else if len(f.Nodes) == 0 {
		o.AddAt(f.Pos, "topology: there are %d templates and no \"nodes\": say which are used and how many", len(f.Templates))
	}
}

// Check reports what does not go with a file that is used.
func (t *template) Check(o *yamlfile.Object) {
	if t.Use != "" && (o.Has("devices") || o.Has("links")) {
		o.AddAt(t.Pos, "template %s: either use another file's node or describe devices and links, not both", t.Name)
	}
}

// Check reports what has no effect on a device of the kind.
func (d *deviceSpec) Check(o *yamlfile.Object) {
	if o.Has("p2p") && d.Kind != CPU && d.Kind != GPU {
		o.AddAt(d.Pos, "device %s: p2p has an effect on cpus and gpus only", d.ID)
	}
	if d.Root != "" && d.Kind != PCIeSwitch && d.Kind != GPU && d.Kind != NIC {
		o.AddAt(d.Pos, "device %s: root has an effect on PCIe switches, gpus and NICs only", d.ID)
	}
	if _, err := units.ParseRanges(d.CPUs, MaxProcessors); err != nil {
		o.AddAt(d.Pos, "device %s: cpus: %v", d.ID, err)
	}
	if d.CPUs != "" && d.Kind != CPU {
		o.AddAt(d.Pos, "device %s: cpus has an effect on cpus only", d.ID)
	}
	if d.Serves != "" && d.Kind != NIC {
		o.AddAt(d.Pos, "device %s: serves has an effect on NICs only", d.ID)
	}
}

// Check reports what does not go together.
func (l *linkSpec) Check(o *yamlfile.Object) {
	kinds := 0
	for _, given := range []bool{l.From != "" || l.To != "", l.Mesh != "", l.Matrix != "", l.Grid != ""} {
		if given {
			kinds++
		}
	}
	switch {
	case kinds != 1:
		o.AddAt(l.Pos, "link: give exactly one of from+to, mesh, matrix, grid")
	case (l.From == "") != (l.To == ""):
		o.AddAt(l.Pos, "link: from and to go together")
	case l.How != "" && l.From == "", l.Wrap && l.Grid == "", l.Rows != nil && l.Matrix == "", l.Dims != nil && l.Grid == "":
		o.AddAt(l.Pos, "link: how goes with from+to, rows with matrix, dims and wrap with grid")
	}
}

// Check gives a fabric its usual links.
func (f *fabricSpec) Check(o *yamlfile.Object) {
	if f.Links == nil {
		f.Links = []int{1}
	}
}

// Check reports what no level of a fabric can be.
func (l *levelSpec) Check(o *yamlfile.Object) {
	if !l.Kind.fabricKind() {
		o.AddAt(l.Pos, "level: kind %v does not switch between nodes: use nvswitch, leaf, spine or core", l.Kind)
	}
}
