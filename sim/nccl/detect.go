package nccl

import (
	"regexp"
	"strings"

	"railyard/internal/lazy"
	"railyard/model/cost"
	"railyard/model/topology"
)

// CPU is what NCCL asks about the host's processors.
type CPU uint8

// The processors that NCCL treats differently. UnknownCPU counts as Intel's oldest: the
// branch that NCCL's tables take by default.
const (
	UnknownCPU CPU = iota
	Broadwell
	Skylake
	SapphireRapids
	EmeraldRapids
	AMD
	POWER
	ARM
)

var cpuNames = [...]string{"unknown", "Broadwell", "Skylake", "Sapphire Rapids", "Emerald Rapids", "AMD", "POWER", "ARM"}

// String is the processor's name.
func (c CPU) String() string { return cpuNames[c] }

func (c CPU) intel() bool { return c >= Broadwell && c <= EmeraldRapids }

func (c CPU) x86() bool { return c.intel() || c == AMD }

// socketBW is what NCCL expects of the link between sockets, GB/s (topo.h).
func (c CPU) socketBW() float64 {
	return [...]float64{6, 6, 10, 22, 40, 16, 32, 6}[c]
}

// netOverhead is the time to post a network operation, µs (getNetOverhead).
func (c CPU) netOverhead() float64 {
	if c == AMD {
		return 2
	}
	return 1
}

// gpuModels finds the compute capability in a GPU's name; the first match counts.
var gpuModels = []struct {
	name func() *regexp.Regexp
	cc   int
}{
	{lazy.Regexp(`gb10\b`), 121},
	{lazy.Regexp(`rtx ?pro|5090|5080`), 120},
	{lazy.Regexp(`gb300|b300`), 103},
	{lazy.Regexp(`gb200|b200|b100|blackwell`), 100},
	{lazy.Regexp(`gh200|h200|h100|h800|h20\b|hopper`), 90},
	{lazy.Regexp(`l40|l4\b|4090|ada`), 89},
	{lazy.Regexp(`a10\b|a40\b|a6000|3090`), 86},
	{lazy.Regexp(`a100|a800|a30\b|ampere`), 80},
	{lazy.Regexp(`\bt4\b|turing|2080`), 75},
	{lazy.Regexp(`v100|volta`), 70},
	{lazy.Regexp(`p100|pascal`), 60},
}

// nvlinkClasses gives the compute capability of the first GPU with an NVLink generation.
var nvlinkClasses = map[string]int{"1": 60, "2": 70, "3": 80, "4": 90, "5": 100}

var nvlinkClass = lazy.Regexp(`nvlink[ _-]?v?([1-5])`)

// nvlinkBW is what NCCL expects of one NVLink and direction, GB/s (topo.h).
func nvlinkBW(cc int) float64 {
	switch {
	case cc >= 100:
		return 40.1
	case cc >= 90:
		return 20.6
	case cc == 86:
		return 12
	case cc >= 70:
		return 20
	}
	return 18
}

// machine is what New finds out about a topology before it searches.
type machine struct {
	cc           []int // by rank
	ccMin, ccMax int
	cpu          CPU
	noGDR        bool
	p2p          string  // Options.P2PLevel
	systemOf     []int   // by rank: nodes that share NVSwitches are one system
	systems      [][]int // ranks
}

func detect(t *topology.Topology, o Options) (*machine, error) {
	fabric, err := fabricOf(t, o.Fabric)
	if err != nil {
		return nil, err
	}
	m := &machine{cc: make([]int, t.NumRanks()), ccMin: 1 << 30, noGDR: !cost.ReachesGPUs(fabric), p2p: o.P2PLevel}
	for r, d := range t.Ranks() {
		cc, err := computeCapability(t, d, o)
		if err != nil {
			return nil, err
		}
		m.cc[r], m.ccMin, m.ccMax = cc, min(m.ccMin, cc), max(m.ccMax, cc)
	}
	m.cpu = detectCPU(t)
	m.systemOf, m.systems = t.ScaleUpDomains()
	return m, nil
}

// computeCapability is that of a GPU: by its model's name, else by its NVLinks.
func computeCapability(t *topology.Topology, d topology.DeviceID, o Options) (int, error) {
	dev := t.Devices()[d]
	if dev.Kind != topology.GPU {
		return 0, unsupported("NCCL runs on NVIDIA GPUs: %s is a %s", t.DeviceName(d), dev.Kind)
	}
	if o.ComputeCapability != 0 {
		return o.ComputeCapability, nil
	}
	if dev.Model >= 0 {
		name := strings.ToLower(t.Models()[dev.Model].Name)
		for _, g := range gpuModels {
			if g.name().MatchString(name) {
				return g.cc, nil
			}
		}
	}
	for _, l := range t.Out(d) {
		switch c := t.Class(l); c.Medium {
		case topology.NVLink:
			if m := nvlinkClass().FindStringSubmatch(strings.ToLower(c.Name)); m != nil {
				return nvlinkClasses[m[1]], nil
			}
		case topology.XGMI:
			return 0, unsupported("NCCL runs on NVIDIA GPUs: %s has xGMI links", t.DeviceName(d))
		}
	}
	return 0, unsupported("%s: neither a GPU model nor an NVLink class (nvlink1 … nvlink5) says which NVIDIA GPU it is: name its model "+
		"in the topology file (an entry of models such as l40s, and model: l40s for the GPUs)", t.DeviceName(d))
}

// detectCPU tells the vendor by the name of a CPU model or of the link between sockets.
func detectCPU(t *topology.Topology) CPU {
	for _, d := range t.Devices() {
		if d.Kind == topology.CPU && d.Model >= 0 {
			if c := cpuByName(strings.ToLower(t.Models()[d.Model].Name)); c != UnknownCPU {
				return c
			}
		}
	}
	for i, l := range t.Links() {
		if t.Devices()[l.From].Kind == topology.CPU && t.Devices()[l.To].Kind == topology.CPU {
			if c := cpuBySocketLink(strings.ToLower(t.Class(topology.LinkID(i)).Name), t.Rate(topology.LinkID(i)).GBps()); c != UnknownCPU {
				return c
			}
		}
	}
	return UnknownCPU
}

var cpuModels = []struct {
	name func() *regexp.Regexp
	cpu  CPU
}{
	{lazy.Regexp(`epyc|amd`), AMD},
	{lazy.Regexp(`power`), POWER},
	{lazy.Regexp(`grace|arm`), ARM},
	{lazy.Regexp(`emerald|85\d\d`), EmeraldRapids},
	{lazy.Regexp(`sapphire|84\d\d`), SapphireRapids},
	{lazy.Regexp(`skylake|cascade|81\d\d|82\d\d`), Skylake},
	{lazy.Regexp(`broadwell|v4`), Broadwell},
}

func cpuByName(name string) CPU {
	for _, m := range cpuModels {
		if m.name().MatchString(name) {
			return m.cpu
		}
	}
	return UnknownCPU
}

// cpuBySocketLink knows QPI and UPI as Intel's (UPI at 16 GT/s came with Sapphire
// Rapids), xGMI as AMD's, the X-bus as IBM's and Grace's C-link.
func cpuBySocketLink(name string, rate float64) CPU {
	switch {
	case strings.Contains(name, "qpi"):
		return Broadwell
	case strings.Contains(name, "upi") && rate > 80:
		return SapphireRapids
	case strings.Contains(name, "upi"):
		return Skylake
	case strings.Contains(name, "xgmi") || strings.Contains(name, "infinity"):
		return AMD
	case strings.Contains(name, "xbus") || strings.Contains(name, "x-bus"):
		return POWER
	case strings.Contains(name, "clink") || strings.Contains(name, "c2c"):
		return ARM
	}
	return UnknownCPU
}

// ranksPerSystem is the largest number of ranks in a system.
func (m *machine) ranksPerSystem() int {
	most := 0
	for _, s := range m.systems {
		most = max(most, len(s))
	}
	return most
}
