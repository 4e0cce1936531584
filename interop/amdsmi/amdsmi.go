// Package amdsmi reads what AMD's tools print of a machine's GPUs: `rocm-smi --showtopo` and `amd-smi topology` (how each pair is joined:
// XGMI or PCIe, hops, weights, rates, access, NUMA nodes), `amd-smi static`, `metric` and `xgmi`, all of these with --json as well, and
// `rocm-smi` alone or with --showproductname. One file may have several of them.
package amdsmi

import (
	"cmp"
	"strconv"
)

// Machine is what the outputs say together; what they do not say is zero, or −1.
type Machine struct {
	GPUs   []GPU
	Cells  [][]Cell // by row and column, in the order of GPUs; nil where no matrix was printed
	paths  bool     // how GPUs are joined is said
	access bool     // whether they reach one another's memory is
}

// GPU is one of a machine.
type GPU struct {
	Bus     string // PCI address, 0000:0c:00.0
	Product string // as sold
	Device  string // PCI device id, 0x74a1
	Arch    string // gfx942
	NUMA    int    // −1: not said
	Lanes   int    // that it has
	GTs     float64
	Memory  float64        // MiB
	Power   float64        // cap in force, W
	Up      int            // links to other GPUs that are up; −1: not said
	Facts   map[string]any // of model/health, as metrics say them
}

// Kind is how two GPUs are joined.
type Kind string

// The kinds of connection.
const (
	Unsaid Kind = ""
	XGMI   Kind = "XGMI" // Infinity Fabric, directly or over other GPUs
	PCIe   Kind = "PCIE"
)

// Cell is what is said of a pair.
type Cell struct {
	Kind   Kind
	Weight int // 15 a hop of XGMI, 20 a segment of PCIe, more between sockets; 0: not said
	Hops   int // 1 over XGMI, 2 through a CPU, 3 between two; 0: not said
	// Slow and Fast are the rates of one link and of all between the two, MB/s; 0: not said, or none.
	Slow, Fast int
	On, Off    bool // the one does, or does not, reach the other's memory
}

// directWeight is that of one hop of XGMI (amd-smi's documentation, "Interpreting hops and weight": 15 each).
const directWeight = 15

// Direct reports whether links of XGMI join two GPUs without another between, as far as is said: rates are of direct links only, where any
// are given; else weights count hops.
func (m *Machine) Direct(a, b int) bool {
	c := m.between(a, b)
	if c.Kind != XGMI {
		return false
	}
	if m.rated() {
		return c.Fast > 0
	}
	return c.Weight <= directWeight
}

// between is what is said of a pair, the same both ways.
func (m *Machine) between(a, b int) Cell { return m.Cells[min(a, b)][max(a, b)] }

// rated reports whether rates of links are said: of drivers that do not know them, all are 0.
func (m *Machine) rated() bool {
	for _, row := range m.Cells {
		for _, c := range row {
			if c.Fast > 0 {
				return true
			}
		}
	}
	return false
}

// Links are how many join two GPUs directly; 1 where that is not said.
func (m *Machine) Links(a, b int) int {
	if !m.Direct(a, b) {
		return 0
	}
	if c := m.between(a, b); c.Slow > 0 {
		return c.Fast / c.Slow
	}
	return 1
}

// linked is how many links of a GPU to others are up: as their states say, else as far as rates tell; false where neither does.
func (m *Machine) linked(gpu int) (up int, known bool) {
	if n := m.GPUs[gpu].Up; n >= 0 {
		return n, true
	}
	for j := range m.Cells {
		up += m.Links(gpu, j)
	}
	return up, m.rated()
}

// cell is what is said of a pair; the matrix grows to have it.
func (m *Machine) cell(a, b int) *Cell {
	n := max(a, b) + 1
	for len(m.Cells) < n {
		m.Cells = append(m.Cells, nil)
	}
	for i := range m.Cells {
		for len(m.Cells[i]) < len(m.Cells) {
			m.Cells[i] = append(m.Cells[i], Cell{})
		}
	}
	return &m.Cells[a][b]
}

// took notes what a cell now says.
func (m *Machine) took(c *Cell) {
	m.paths = m.paths || c.Kind != Unsaid
	m.access = m.access || c.On || c.Off
}

// name is how a GPU is called.
func (g *GPU) name(i int) string { return cmp.Or(g.Bus, "GPU"+strconv.Itoa(i)) }
