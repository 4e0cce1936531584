package cost

import (
	"cmp"
	"embed"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"railyard/model/topology"
	"railyard/model/yamlfile"
)

//go:embed machines/*.yaml
var shipped embed.FS

// General is the name of the machine whose kernels are fitted on all measurements together: what is
// believed of a machine that was not measured.
const General = "general"

// Names are the machines that GetMachine knows.
func Names() []string {
	names := append(yamlfile.Library[Machine]{Files: shipped, Dir: "machines"}.Names(), Ideal.Name, Line.Name)
	slices.Sort(names)
	return names
}

// read keeps shipped machines, which do not change.
var read sync.Map

// GetMachine is a machine by name, or from a YAML file where the name is a path (has a slash or ends
// in .yaml).
func GetMachine(name string) (*Machine, error) {
	switch {
	case name == Ideal.Name:
		return NewMachine(name).WithOwn(Ideal), nil
	case name == Line.Name:
		return NewMachine(name).WithOwn(Line), nil
	case yamlfile.IsPath(name):
		data, err := yamlfile.ReadFile(name)
		if err != nil {
			return nil, err
		}
		return Parse(name, data)
	}
	if m, ok := read.Load(name); ok {
		return m.(*Machine), nil
	}
	data, err := shipped.ReadFile(path.Join("machines", name+".yaml"))
	if other := nearest[strings.ToLower(name)]; err != nil && other != "" {
		m, err := GetMachine(other)
		if err != nil {
			return nil, err
		}
		return m.substituteFor(name), nil
	}
	if err != nil {
		return nil, fmt.Errorf("unknown machine %q: must be one of %s, or a YAML file", name, strings.Join(Names(), ", "))
	}
	m, err := Parse(name+".yaml", data)
	if err == nil {
		read.Store(name, m)
	}
	return m, err
}

// nearest are GPUs without a machine file of their own, by that of the nearest generation.
var nearest = map[string]string{"a800": "a100", "h800": "h100", "h20": "h100", "gh200": "h200", "b300": "b200", "gb300": "gb200",
	"mi325x": "mi300x", "mi350x": "mi300x", "mi355x": "mi300x", "gb10": "pcie5", "rtx5090": "pcie5", "l40s": "pcie4", "l40": "pcie4",
	"l4": "pcie4", "a10": "pcie4", "a40": "pcie4", "a6000": "pcie4", "rtx4090": "pcie4", "rtx3090": "pcie4", "t4": "pcie3",
	"rtx2080ti": "pcie3"}

// substituteFor is the machine in the place of that of a GPU model, which has no file.
func (m *Machine) substituteFor(model string) *Machine {
	out := *m
	out.assumed = fmt.Sprintf("there is no machine file for GPU model %s: costs are those of %s, with links of the same kinds", model,
		m.Name)
	if a := m.Access; a != nil {
		other := *a
		other.Origin = Origin{Assumed, m.Name, out.assumed, a.Date, a.Error}
		out.Access = &other
	}
	return &out
}

// GeneralNCCL is what NCCL's kernels cost on all machines together.
func GeneralNCCL() *Profile {
	m, err := GetMachine(General)
	if err != nil {
		panic(err) // part of the program
	}
	return m.NCCL()
}

// MachineFor is the machine of a topology's nodes: the one that its file names, else that of its GPUs'
// model, else the one which has the same kinds of links, which its origins say.
func MachineFor(t *topology.Topology) (*Machine, error) { return MachineOn(t, "") }

// MachineOn is what the name of a machine, or of its file, means on a topology: "" is the topology's own.
// What a machine does not say of NCCL's kernels is that of the topology's GPUs.
func MachineOn(t *topology.Topology, name string) (*Machine, error) {
	if name = cmp.Or(name, t.Profile()); name == "" {
		return byGPU(t)
	}
	m, err := GetMachine(name)
	if err != nil || m.nccl != nil || t.Devices()[t.Ranks()[0]].Kind != topology.GPU {
		return m, err
	}
	gpu, err := byGPU(t)
	if err != nil {
		return nil, err
	}
	return m.WithNCCL(gpu.NCCL()), nil
}

// byGPU is the machine of a topology's GPUs.
func byGPU(t *topology.Topology) (*Machine, error) {
	model := modelOf(t)
	medium, name := fastestLink(t)
	if own := modelNamed(model); own != "" && medium != topology.PCIe { // cards without other links cost the same, whoever made them
		return GetMachine(own)
	}
	m, err := GetMachine(name)
	if err != nil || model == "" || medium == topology.PCIe {
		return m, err
	}
	return m.substituteFor(model), nil
}

// ByLinks is the machine whose links are like a topology's, whatever its GPUs are.
func ByLinks(t *topology.Topology) string {
	_, name := fastestLink(t)
	return name
}

// modelOf is the model of the GPUs, "" where they have none or several.
func modelOf(t *topology.Topology) string {
	model := int32(-1)
	for i, d := range t.Ranks() {
		x := t.Devices()[d].Model
		if x < 0 || i > 0 && x != model {
			return ""
		}
		model = x
	}
	if model < 0 {
		return ""
	}
	return strings.ToLower(t.Models()[model].Name)
}

// modelNamed is the machine whose name a model's has in it, the longest one: gb200 is no b200.
func modelNamed(model string) (best string) {
	for _, name := range Names() {
		if !slices.Contains([]string{Ideal.Name, Line.Name, General, "host"}, name) && len(name) > len(best) &&
			strings.Contains(model, name) {
			best = name
		}
	}
	return best
}

// generations are the machines of NVLink's generations.
var generations = map[string]string{"1": "p100", "2": "v100", "3": "a100", "4": "h100", "5": "b200"}

// nvlinkGeneration is that of rank 0's NVLinks, as their class's name says; "" where it does not.
func nvlinkGeneration(t *topology.Topology) (generation string) {
	for _, l := range t.Out(t.Ranks()[0]) {
		if c := t.Class(l); c.Medium == topology.NVLink {
			generation = ""
			if m := nvlinkClass.FindStringSubmatch(strings.ToLower(c.Name)); m != nil {
				generation = m[1]
			}
		}
	}
	return generation
}

var nvlinkClass = regexp.MustCompile(`nvlink[ _-]?v?([1-5])`)

// fastestLink is what rank 0 talks to other GPUs over, a scale-up link, else PCIe; and the machine
// that has such links.
func fastestLink(t *topology.Topology) (medium topology.Medium, machine string) {
	rate, grace := 0., false
	machine, medium = "", topology.PCIe
	for _, l := range t.Out(t.Ranks()[0]) {
		c := t.Class(l)
		switch c.Medium {
		case topology.XGMI:
			return c.Medium, "mi300x"
		case topology.NVLink:
			medium, machine = c.Medium, cmp.Or(generations[nvlinkGeneration(t)], General)
		case topology.C2C:
			grace = true
		case topology.PCIe:
			rate = max(rate, float64(c.Rate))
		}
	}
	switch {
	case machine == "b200" && grace:
		machine = "gb200"
	case machine != "":
	case rate >= 50e9 || grace:
		machine = "pcie5"
	case rate >= 25e9:
		machine = "pcie4"
	default:
		machine = "pcie3"
	}
	return medium, machine
}
