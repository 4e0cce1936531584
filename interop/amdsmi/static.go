package amdsmi

import (
	"fmt"
	"strconv"
	"strings"

	"railyard/model/survey"
)

// headed is what amd-smi static and metric say of a GPU, by the headings above it; units stand behind numbers.
var headed = map[string]func(g *GPU, text string) bool{
	"ASIC/MARKET_NAME":             func(g *GPU, text string) bool { g.Product = text; return true },
	"ASIC/DEVICE_ID":               func(g *GPU, text string) bool { g.Device = strings.ToLower(text); return true },
	"ASIC/TARGET_GRAPHICS_VERSION": func(g *GPU, text string) bool { g.Arch = text; return true },
	"BDF":                          bus,
	"BUS/BDF":                      bus,
	"BUS/MAX_PCIE_WIDTH": func(g *GPU, text string) bool {
		n, err := strconv.Atoi(text)
		g.Lanes = n
		return err == nil && n >= 0 && n <= 32
	},
	"BUS/MAX_PCIE_SPEED":            quantity("GT/s", func(g *GPU) *float64 { return &g.GTs }),
	"LIMIT/SOCKET_POWER":            quantity("W", func(g *GPU) *float64 { return &g.Power }),
	"LIMIT/PPT0/SOCKET_POWER_LIMIT": quantity("W", func(g *GPU) *float64 { return &g.Power }),
	"VRAM/SIZE":                     quantity("MB", func(g *GPU) *float64 { return &g.Memory }),
	"NUMA/NODE": func(g *GPU, text string) (ok bool) {
		n, err := strconv.Atoi(text)
		g.NUMA = n
		return err == nil && n >= -1 && n <= 1<<16
	},
	"PCIE/WIDTH":                               measured("pcie_width", "", 1),
	"PCIE/REPLAY_COUNT":                        measured("pcie_replays", "", 1),
	"PCIE/SPEED":                               speed,
	"ECC/TOTAL_UNCORRECTABLE_COUNT":            measured("ecc_uncorrected", "", 1),
	"CLOCK/GFX_0/CLK":                          measured("clock", "MHz", 1),
	"CLOCK/GFX_0/MAX_CLK":                      measured("clock_max", "MHz", 1),
	"USAGE/GFX_ACTIVITY":                       measured("utilization", "%", 1),
	"MEM_USAGE/TOTAL_VRAM":                     quantity("MB", func(g *GPU) *float64 { return &g.Memory }),
	"MEM_USAGE/USED_VRAM":                      measured("memory_used", "MB", 1<<20),
	"THROTTLE/PROCHOT_VIOLATION_STATUS":        heat,
	"THROTTLE/SOCKET_THERMAL_VIOLATION_STATUS": heat,
	"THROTTLE/VR_THERMAL_VIOLATION_STATUS":     heat,
	"THROTTLE/HBM_THERMAL_VIOLATION_STATUS":    heat,
}

// measured is a fact that is a number of units, each so much in the fact's own.
func measured(fact, unit string, each float64) func(*GPU, string) bool {
	return func(g *GPU, text string) bool {
		var x float64
		ok := quantity(unit, func(*GPU) *float64 { return &x })(g, text)
		g.Facts[fact] = x * each
		return ok
	}
}

// speed is that of a PCIe lane now, of which the generation follows.
func speed(g *GPU, text string) bool {
	var x float64
	ok := quantity("GT/s", func(*GPU) *float64 { return &x })(g, text)
	if n := survey.PCIeGeneration(x); n > 0 {
		g.Facts["pcie_gen"] = float64(n)
	}
	return ok
}

// heat is one of the reasons for which clocks are slowed by heat, each ACTIVE or not.
func heat(g *GPU, text string) bool {
	is, _ := g.Facts["throttle_thermal"].(bool)
	g.Facts["throttle_thermal"] = is || text == "ACTIVE"
	return text == "ACTIVE" || text == "NOT ACTIVE"
}

func bus(g *GPU, text string) bool {
	text = strings.ToLower(text)
	if g.Bus != "" && g.Bus != text {
		return false
	}
	g.Bus = text
	return device().MatchString(text) && !strings.HasPrefix(text, "gpu")
}

func quantity(unit string, of func(*GPU) *float64) func(*GPU, string) bool {
	return func(g *GPU, text string) bool {
		x, err := strconv.ParseFloat(strings.TrimSuffix(text, " "+unit), 64)
		*of(g) = x
		return err == nil && x >= 0 && x < maxNumber
	}
}

// heading reads a line of amd-smi static or metric: "NAME: value", in which what stands deeper belongs to what stands above.
func (r *reader) heading(text string) error {
	name, value, pair := strings.Cut(strings.TrimSpace(text), ":")
	depth := len(text) - len(strings.TrimLeft(text, " \t"))
	if !pair || depth == 0 {
		return nil
	}
	for len(r.deep) > 0 && r.deep[len(r.deep)-1] >= depth {
		r.heads, r.deep = r.heads[:len(r.heads)-1], r.deep[:len(r.deep)-1]
	}
	path := strings.Join(append(r.heads, name), "/")
	if value = strings.TrimSpace(value); value == "" {
		if len(r.heads) < maxDepth {
			r.heads, r.deep = append(r.heads, name), append(r.deep, depth)
		}
		return nil
	}
	return r.headed(r.gpu, path, value)
}

// headed takes what a GPU's tool says below some headings. What it does not know is N/A, with or without a unit; of parts that have it
// several times, such as partitions, it is a list.
func (r *reader) headed(gpu int, path, value string) error {
	take := headed[path]
	if take == nil || strings.HasPrefix(value, "N/A") || strings.HasPrefix(value, "[") || take(&r.m.GPUs[gpu], value) {
		return nil
	}
	return fmt.Errorf("%s: %.60q is not understood, or not what was said before", path, value)
}

// maxDepth is how deep headings stand.
const maxDepth = 8
