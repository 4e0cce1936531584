// Package size finds out which cluster meets a target: it builds designs from node types,
// counts and network options, and picks those that no other beats.
package size

import (
	"fmt"
	"strconv"
	"strings"

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

// The fields of sweeps over designs.
const (
	nodeField   = "node"
	nodesField  = "nodes"
	gbpsField   = "nic_gbps"
	railsField  = "rails"
	overField   = "oversubscription"
	spineField  = "spine"
	maxRate     = 10_000
	maxNodes    = 100_000
	maxOverRate = 64
	maxRails    = 64
)

// Axes are the fields with the values to try, each as sweep.ParseAxis reads them.
func Axes(node, nodes, gbps, rails, over, spine string) ([]sweep.Axis, error) {
	var out []sweep.Axis
	for _, text := range []string{nodeField + "=" + node, nodesField + "=" + nodes, gbpsField + "=" + gbps,
		railsField + "=" + rails, overField + "=" + over, spineField + "=" + spine} {
		x, err := sweep.ParseAxis(text)
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
	must, ok := "", true
	switch field {
	case nodeField:
		d.Node = value
	case nodesField:
		d.Nodes, ok = whole(value, 1, maxNodes)
		must = fmt.Sprintf("a whole number from 1 to %d", maxNodes)
	case gbpsField:
		d.Gbps, ok = whole(value, 0, maxRate)
		must = fmt.Sprintf("a whole number of Gb/s up to %d, or 0 for the node type's own", maxRate)
	case railsField:
		d.Rails, ok = whole(value, 0, maxRails)
		must = fmt.Sprintf("a whole number up to %d, or 0 for leaves that take whole nodes", maxRails)
	case overField:
		v, err := strconv.ParseFloat(value, 64)
		d.Oversubscription, ok = v, err == nil && v >= 1 && v <= maxOverRate
		must = fmt.Sprintf("a number from 1 to %d", maxOverRate)
	case spineField:
		d.Spine, ok = value == "yes", value == "yes" || value == "no"
		must = "yes or no"
	}
	if !ok {
		return fmt.Errorf("%s=%s: must be %s", field, value, must)
	}
	return nil
}

func whole(text string, lo, hi int) (int, bool) {
	v, err := strconv.Atoi(text)
	return v, err == nil && v >= lo && v <= hi
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

// file is the topology file of a design.
func (d Design) file(one *topology.Topology) (string, error) {
	rate := d.Gbps
	if rate == 0 {
		if rate = networkRate(one); rate == 0 {
			return "", fmt.Errorf("%s does not say what its adapters carry: give nic-gbps", d.Node)
		}
	}
	class, known := standards[rate], false
	if class == "" {
		class = fmt.Sprintf("net%d", rate)
	}
	for _, c := range one.Classes() {
		known = known || c.Name == class
	}
	var b strings.Builder
	fmt.Fprintf(&b, "schema: %s\nname: %q\n", topology.Schema, d.String())
	b.WriteString("description: a design\nsource: railyard capacity size\ndate: 2026-11-21\n")
	if !known {
		fmt.Fprintf(&b, "classes:\n  %s: {medium: network, rate: %dGb/s, latency: 600ns, ", class, rate)
		b.WriteString("source: \"line rate by name; latency: assumption, 0.6us a hop\", date: 2026-11-21}\n")
	}
	ports := radix[rate]
	if ports == 0 {
		ports = 64
	}
	b.WriteString("models:\n")
	for _, kind := range []string{"leaf", "spine", "core"} {
		fmt.Fprintf(&b, "  design-%s: {kind: %s, ports: %d, ", kind, kind, ports)
		fmt.Fprintf(&b, "source: \"switch of %d Gb/s ports\", date: 2026-11-21}\n", rate)
	}
	fmt.Fprintf(&b, "templates:\n  %s: {use: %q}\nnodes:\n  - {template: %s, count: %d}\n", template(one), d.Node, template(one), d.Nodes)
	fmt.Fprintf(&b, "fabrics:\n  - name: net\n    endpoints: nic\n    class: %s\n", class)
	if d.Rails > 0 {
		fmt.Fprintf(&b, "    rails: %d\n", d.Rails)
	}
	b.WriteString("    levels:\n")
	switch {
	case !d.Spine:
		b.WriteString("      - {kind: leaf, model: design-leaf}\n")
	default:
		group := ""
		if d.Rails > 0 {
			group = fmt.Sprintf(", group: %d", max(1, int(float64(ports)*d.Oversubscription/(1+d.Oversubscription))))
		}
		fmt.Fprintf(&b, "      - {kind: leaf, model: design-leaf, oversubscription: %g%s}\n", d.Oversubscription, group)
		fmt.Fprintf(&b, "      - {kind: spine, model: design-spine, group: %d}\n      - {kind: core, model: design-core}\n", ports/2)
	}
	return b.String(), nil
}

// template is the name of the node type in price books.
func template(one *topology.Topology) string { return one.NodeTemplate(0) }

// networkRate is the rate of the node file's own network class, Gb/s; 0 without one.
func networkRate(one *topology.Topology) int {
	for _, c := range one.Classes() {
		if c.Medium == topology.Network {
			return int(c.Rate * 8 / units.Rate(1e9))
		}
	}
	return 0
}
