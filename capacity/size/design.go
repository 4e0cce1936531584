// Package size finds out which cluster meets a target: it builds designs from node types,
// counts and network options, and picks those that no other beats.
package size

import (
	"cmp"
	_ "embed" // design.yaml.tmpl
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"text/template"

	"railyard/capacity/sweep"
	"railyard/model/topology"
	"railyard/model/units"
)

// Design is a cluster that one could buy.
type Design struct {
	Node             string // topology with one node type
	Nodes            int
	Gbps             int // a network link's rate; 0: as the node's own file has it
	Rails            int // 0: leaves take whole nodes
	Oversubscription float64
	Spine            bool // false: rails are not joined above the leaves (rail-only)
}

// fields are those of sweeps over designs: what each must be, and who reads it.
var fields = []struct {
	name, must string
	read       func(d *Design, value string) bool
}{
	{"node", "a topology", func(d *Design, v string) bool { d.Node = v; return true }},
	{"nodes", "a whole number from 1 to 100000", func(d *Design, v string) bool { return whole(&d.Nodes, v, 1, 100_000) }},
	{"nic_gbps", "a whole number of Gb/s up to 10000, or 0 for the node type's own", func(d *Design, v string) bool {
		return whole(&d.Gbps, v, 0, 10_000)
	}},
	{"rails", "a whole number up to 64, or 0 for leaves that take whole nodes", func(d *Design, v string) bool {
		return whole(&d.Rails, v, 0, 64)
	}},
	{"oversubscription", "a number from 1 to 64", func(d *Design, v string) (ok bool) {
		n, err := strconv.ParseFloat(v, 64)
		d.Oversubscription = n
		return err == nil && n >= 1 && n <= 64
	}},
	{"spine", "yes or no", func(d *Design, v string) bool { d.Spine = v == "yes"; return d.Spine || v == "no" }},
}

func whole(to *int, text string, lo, hi int) bool {
	v, err := strconv.Atoi(text)
	*to = v
	return err == nil && v >= lo && v <= hi
}

// Axes are the fields with the values to try, each as sweep.ParseAxis reads them: node types, nodes, Gb/s, rails, oversubscription
// and spines.
func Axes(values ...string) ([]sweep.Axis, error) {
	var out []sweep.Axis
	for i, text := range values {
		x, err := sweep.ParseAxis(fields[i].name + "=" + text)
		if err != nil {
			return nil, err
		}
		for _, v := range x.Values {
			if err := new(Design).set(x.Field, v); err != nil {
				return nil, err
			}
		}
		out = append(out, x)
	}
	_, err := sweep.Count(out)
	return out, err
}

// ParseDesign reads a point of such a sweep.
func ParseDesign(set []string) (Design, error) {
	var d Design
	for _, s := range set {
		field, value, _ := strings.Cut(s, "=")
		if err := d.set(field, value); err != nil {
			return d, err
		}
	}
	if !d.Spine && d.Rails == 0 {
		return d, fmt.Errorf("a network without spines needs rails")
	}
	if !d.Spine && d.Oversubscription != 1 {
		return d, fmt.Errorf("oversubscription has no effect without spines")
	}
	return d, nil
}

// set reads the value of a field.
func (d *Design) set(field, value string) error {
	for _, f := range fields {
		if f.name == field && !f.read(d, value) {
			return fmt.Errorf("%s=%s: must be %s", field, value, f.must)
		}
	}
	return nil
}

// String is a short name.
func (d Design) String() string {
	s := fmt.Sprintf("%d × %s", d.Nodes, d.Node)
	if d.Nodes == 1 {
		return s
	}
	if d.Gbps > 0 {
		s += fmt.Sprintf(", %d Gb/s", d.Gbps)
	}
	if d.Rails > 0 {
		s += fmt.Sprintf(", %d rails", d.Rails)
	}
	if d.Oversubscription > 1 {
		s += fmt.Sprintf(", %g:1", d.Oversubscription)
	}
	if !d.Spine {
		s += ", no spine"
	}
	return s
}

// standards are the usual names of InfiniBand rates, as price books have them.
var standards = map[int]string{100: "edr100", 200: "hdr200", 400: "ndr400", 800: "xdr800"}

// radix is how many ports the switches of a rate have (Quantum: QM8700 40 ports of HDR,
// QM9700 64 of NDR, Q3400 144 of XDR; of EDR, SB7800 36); others are taken as 64.
var radix = map[int]int{100: 36, 200: 40, 400: 64, 800: 144}

// Build makes the topology of a design, or the part of it with fewer nodes and GPUs of each
// (0: all). one is the design's node type, loaded with a single node.
func (d Design) Build(src topology.Source, one *topology.Topology, nodes, gpus int) (*topology.Topology, error) {
	if nodes == 0 {
		nodes = d.Nodes
	}
	if d.Nodes == 1 {
		return topology.Load(src, d.Node, topology.Options{Nodes: 1, GPUs: gpus})
	}
	text, err := d.file(one)
	if err != nil {
		return nil, err
	}
	return topology.Parse(d.String(), []byte(text), src, topology.Options{Nodes: nodes, GPUs: gpus})
}

//go:embed design.yaml.tmpl
var designFile string

var designTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("design").Parse(designFile))
})

// file is the topology file of a design.
func (d Design) file(one *topology.Topology) (string, error) {
	x := struct {
		Design                   Design
		Schema, Template, Class  string
		New                      bool // the node type's file has no such class
		Rate, Ports, Leaf, Spine int
		Kinds                    []string
	}{Design: d, Schema: topology.Schema, Template: one.NodeTemplate(0), Rate: cmp.Or(d.Gbps, networkRate(one)),
		Kinds: []string{"leaf", "spine", "core"}}
	if x.Rate == 0 {
		return "", fmt.Errorf("%s does not say what its adapters carry: give nic-gbps", d.Node)
	}
	x.Class, x.Ports = cmp.Or(standards[x.Rate], fmt.Sprintf("net%d", x.Rate)), cmp.Or(radix[x.Rate], 64)
	x.New = !slices.ContainsFunc(one.Classes(), func(c topology.Class) bool { return c.Name == x.Class })
	x.Leaf, x.Spine = max(1, int(float64(x.Ports)*d.Oversubscription/(1+d.Oversubscription))), x.Ports/2
	var b strings.Builder
	err := designTemplate().Execute(&b, x)
	return b.String(), err
}

// networkRate is the rate of the node file's own network class, Gb/s; 0 without one.
func networkRate(one *topology.Topology) int {
	for _, c := range one.Classes() {
		if c.Medium == topology.Network {
			return int(c.Rate * 8 / units.Rate(1e9))
		}
	}
	return 0
}
