package amdsmi

import (
	"fmt"
	"strconv"
	"strings"
)

// statics are what amd-smi static says of a GPU, by the headings above it; units stand behind numbers.
var statics = map[string]func(g *GPU, text string) bool{
	"ASIC/MARKET_NAME":             func(g *GPU, text string) bool { g.Product = text; return true },
	"ASIC/DEVICE_ID":               func(g *GPU, text string) bool { g.Device = strings.ToLower(text); return true },
	"ASIC/TARGET_GRAPHICS_VERSION": func(g *GPU, text string) bool { g.Arch = text; return true },
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
}

func bus(g *GPU, text string) bool {
	text = strings.ToLower(text)
	if g.Bus != "" && g.Bus != text {
		return false
	}
	g.Bus = text
	return device.MatchString(text) && !strings.HasPrefix(text, "gpu")
}

func quantity(unit string, of func(*GPU) *float64) func(*GPU, string) bool {
	return func(g *GPU, text string) bool {
		x, err := strconv.ParseFloat(strings.TrimSuffix(text, " "+unit), 64)
		*of(g) = x
		return err == nil && x >= 0 && x < maxNumber
	}
}

// static reads a line of amd-smi static: "NAME: value", in which what stands deeper belongs to what stands above.
func (r *reader) static(text string) error {
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
	if take := statics[path]; take != nil && value != "N/A" && !take(&r.m.GPUs[r.gpu], value) {
		return fmt.Errorf("%s: %.60q is not understood, or not what was said before", path, value)
	}
	return nil
}

// maxDepth is how deep headings stand.
const maxDepth = 8
