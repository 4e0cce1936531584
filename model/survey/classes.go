package survey

import (
	"fmt"
	"slices"
	"strings"

	"railyard/model/topology"
	"railyard/model/units"
)

// read is when the sources below were read.
const read = "2026-11-21"

const (
	hopNVLink   = 340 * units.Nanosecond
	hopInfinity = 500 * units.Nanosecond
	hopPCIe     = 500 * units.Nanosecond
	hopSocket   = 300 * units.Nanosecond
	hopNetwork  = 600 * units.Nanosecond

	nvlinkLatency = "; latency: derived, half of the 0.68us one-way flag latency through one NVSwitch measured on H200 (2026-11-21)"
)

// linkClass is that of a GPU's links to others.
func linkClass(g *GPU, raw units.Rate) (topology.Class, error) {
	if g.Arch == "" {
		return nvlinkClass(g.Major, g.Minor, raw)
	}
	x := infinity(g.Arch)
	if x == nil {
		return topology.Class{}, fmt.Errorf("the rate of the Infinity Fabric links of %s is not known to this version", g.Arch)
	}
	return topology.Class{Name: x.name, Medium: topology.XGMI, Rate: x.rate, Latency: hopInfinity,
		Source: x.source + "; latency: assumption", Date: "2026-11-28"}, nil
}

// infinityFabric are the links between AMD's GPUs: payload, per link and direction, and the shipped machine that has such.
type infinityFabric struct {
	arch, name string
	rate       units.Rate
	source     string
	machine    string // "": none, so the one whose links are of the same kind
}

var infinityFabrics = []infinityFabric{
	{"gfx906", "xgmi1", 46e9, "MI50, MI60: 92 GB/s both ways per Infinity Fabric link (vendor)", ""},
	{"gfx908", "xgmi1", 46e9, "MI100: 92 GB/s both ways per Infinity Fabric link, 276 over three (vendor)", ""},
	{"gfx90a", "xgmi2", 50e9, "MI200: 50 GB/s per Infinity Fabric link and direction (OLCF Frontier documentation)", "mi250x"},
	{"gfx94", "xgmi3", 64e9, "MI300X: 7 links of 64 GB/s a direction (ml-engineering, accelerator table)", "mi300x"},
	{"gfx95", "xgmi4", 76.8e9, "MI355X: 153.6 GB/s per Infinity Fabric link both ways, 1,075 over seven (vendor)", "mi300x"},
}

// infinity are the links of an architecture; nil where they are not known.
func infinity(arch string) *infinityFabric {
	i := slices.IndexFunc(infinityFabrics, func(x infinityFabric) bool { return strings.HasPrefix(arch, x.arch) })
	if i < 0 {
		return nil
	}
	return &infinityFabrics[i]
}

// nvlinkClass is the NVLink of a GPU by its compute capability: payload, per link and
// direction. A driver that reports a slower line makes a class of its own.
func nvlinkClass(major, minor int, raw units.Rate) (topology.Class, error) {
	var c topology.Class
	switch {
	case major == 6:
		c = nvlink("nvlink1", 20e9, "NVIDIA P100: 4 NVLink 1 links, 20 GB/s per link and direction "+
			"(huggingface ml-engineering, accelerator table)")
	case major == 7:
		c = nvlink("nvlink2", 25e9, "NVIDIA V100: 6 NVLink 2 links, 25 GB/s per link and direction (vendor accelerator table)")
	case major == 8 && minor != 0:
		c = nvlink("nvlink3_bridge", 14.0625e9, "NVIDIA RTX A6000: 112.5 GB/s both ways over 4 links (vendor data sheet)")
	case major == 8:
		c = nvlink("nvlink3", 25e9, "NVIDIA A100: 12 NVLink 3 links, 25 GB/s per link and direction (ml-engineering, accelerator table)")
	case major == 9:
		c = nvlink("nvlink4", 25e9, "NVIDIA H100: 18 NVLink 4 links, 25 GB/s per link and direction (Hot Chips 34, NVLink-Network Switch)")
	case major == 10:
		c = nvlink("nvlink5", 50e9, "NVIDIA Blackwell: 18 NVLink 5 links, 50 GB/s per link and direction, 1.8 TB/s both ways (vendor)")
	default:
		return c, fmt.Errorf("the rate of the NVLinks of compute capability %d.%d is not known to this version", major, minor)
	}
	if raw > 0 && raw < c.Rate {
		c.Name = fmt.Sprintf("%s_%dMB", c.Name, raw/1e6)
		c.Rate, c.Source = raw, "line rate that the driver reports, below the usual one"+nvlinkLatency
	}
	return c, nil
}

func nvlink(name string, rate units.Rate, source string) topology.Class {
	return topology.Class{Name: name, Medium: topology.NVLink, Rate: rate, Latency: hopNVLink, Source: source + nvlinkLatency, Date: read}
}

var c2cClass = topology.Class{Name: "nvlink_c2c", Medium: topology.C2C, Rate: 450e9, Latency: hopNVLink,
	Source: "NVLink-C2C, 450 GB/s a direction a Grace (ml-engineering); latency: assumption", Date: read}

// pcieLine is a generation: billions of transfers a second and lane, and what of their
// bits is data; 128b/130b as the shipped files round it, 15.75 of 16 GB/s.
var pcieLine = [...]struct {
	gts  float64
	code string
	data float64
}{
	1: {2.5, "8b/10b", 8.0 / 10}, 2: {5, "8b/10b", 8.0 / 10}, 3: {8, "128b/130b", 63.0 / 64}, 4: {16, "128b/130b", 63.0 / 64},
	5: {32, "128b/130b", 63.0 / 64}, 6: {64, "236B/256B", 236.0 / 256},
}

// PCIeGeneration is the generation of a speed in billions of transfers a second and lane; 0 where there is none.
func PCIeGeneration(gts float64) int {
	for i, l := range pcieLine {
		if l.gts == gts && gts > 0 {
			return i
		}
	}
	return 0
}

// pcieClass is a PCIe connection.
func pcieClass(l Lanes) topology.Class {
	line := pcieLine[l.Generation]
	rate := line.gts * 1e9 / 8 * line.data * float64(l.Width)
	return topology.Class{Name: fmt.Sprintf("pcie%dx%d", l.Generation, l.Width), Medium: topology.PCIe, Rate: units.Rate(rate),
		Latency: hopPCIe, Date: read, Source: fmt.Sprintf("PCIe %d.0 x%d: %g GT/s x %d lanes x %s; latency: assumption, 0.5us a hop",
			l.Generation, l.Width, line.gts, l.Width, line.code)}
}

// networkClass is an adapter's port.
func networkClass(a Adapter) topology.Class {
	gbps := float64(a.Rate) * 8 / 1e9
	return topology.Class{Name: strings.ReplaceAll(fmt.Sprintf("%s%g", a.Layer, gbps), ".", "_"), Medium: topology.Network,
		Rate: a.Rate, Latency: hopNetwork,
		Source: "line rate that the system reports; latency: assumption, 0.6us a hop with its share of switch and adapter", Date: read}
}

// Grace is the processor that GPUs are joined to chip to chip, as Linux numbers it.
const Grace = "ARM 0xd4f"

// socketClass joins sockets; no system tells its rate.
func socketClass(vendor string) topology.Class {
	c := topology.Class{Medium: topology.Socket, Latency: hopSocket, Date: read}
	name, model, _ := strings.Cut(vendor, " ")
	switch {
	case name == "GenuineIntel" && (model == "63" || model == "79"):
		c.Name, c.Rate, c.Source = "qpi", 19.2e9, "Intel QPI 9.6 GT/s, 2 bytes a transfer"
	case name == "GenuineIntel" && model == "85":
		c.Name, c.Rate, c.Source = "upi", 62.4e9, "assumption: three UPI links of 10.4 GT/s, 2 bytes a transfer"
	case name == "GenuineIntel" && (model == "106" || model == "108"):
		c.Name, c.Rate, c.Source = "upi11", 67.2e9, "assumption: three UPI links of 11.2 GT/s, 2 bytes a transfer"
	case name == "GenuineIntel":
		c.Name, c.Rate, c.Source = "upi16", 96e9, "assumption: three UPI links of 16 GT/s, 2 bytes a transfer"
	case name == "AuthenticAMD":
		c.Name, c.Rate, c.Source = "xgmi_socket", 96e9, "assumption: three xGMI links of 16 GT/s, 2 bytes a transfer"
	case strings.HasPrefix(name, "POWER"):
		c.Name, c.Rate, c.Source = "xbus", 64e9, "POWER X-bus, 64 GB/s a direction (OLCF Summit documentation)"
	case vendor == Grace:
		c.Name, c.Rate, c.Source = "clink", 300e9, "assumption: Grace to Grace"
	default:
		c.Name, c.Rate, c.Source = "socket", 96e9, "assumption: a processor that this version does not know, "+
			"three links of 16 GT/s, 2 bytes a transfer"
	}
	c.Source += "; latency: assumption"
	return c
}

// profiles are the shipped cost profiles by what GPUs are called, for GPUs with NVLink.
var profiles = []string{"gb200", "h200", "h100", "a100", "b200", "v100"}

// profile is the default cost profile for a GPU, "" where there is none.
func profile(g *GPU, up bool) string {
	if !up {
		if gen := g.PCIe.Generation; gen >= 3 && gen <= 5 {
			return fmt.Sprintf("pcie%d", gen)
		}
		return ""
	}
	if x := infinity(g.Arch); g.Arch != "" && x != nil {
		return x.machine
	}
	for _, p := range profiles {
		if strings.Contains(strings.ToLower(g.Name), p) {
			return p
		}
	}
	return ""
}
