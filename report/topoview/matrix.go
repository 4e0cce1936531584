package topoview

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"railyard/model/topology"
	"railyard/report/table"
)

// maxMatrix is how many ranks a matrix shows.
const maxMatrix = 72

// Matrix prints how ranks and network adapters are joined, in the style of nvidia-smi topo -m, then bandwidths. Columns that do not fit
// into the width, in characters, stand below.
func Matrix(w io.Writer, t *topology.Topology, width int) error {
	n := t.NumRanks()
	if n > maxMatrix {
		return fmt.Errorf("a matrix of %d ranks cannot be read: choose fewer with --nodes or --gpus (at most %d)", n, maxMatrix)
	}
	m := &matrix{t: t, router: topology.NewRouter(t), devices: append(slices.Clone(t.Ranks()), adapters(t)...)}
	rates := m.table(t.Ranks(), nil, m.bandwidth)
	_, err := fmt.Fprintf(w, "Connections:\n%s\n%s%s\nBandwidth of one transfer, GB/s:\n%s", m.connections().Narrow(width), legend(),
		m.adapters(), rates.Narrow(width))
	return err
}

// matrix is what is shown of a topology.
type matrix struct {
	t       *topology.Topology
	router  *topology.Router
	devices []topology.DeviceID // ranks, then adapters
}

// connections is the matrix of all devices.
func (m *matrix) connections() *table.Shown {
	var near []column
	if slices.ContainsFunc(m.t.Devices(), func(d topology.Device) bool { return d.Kind == topology.CPU }) {
		near = []column{{"CPU\nAffinity", m.cpus}, {"NUMA\nAffinity", m.numa}}
	}
	return m.table(m.devices, near, m.cell)
}

// column is what stands behind the cells of a row.
type column struct {
	title string
	of    func(topology.DeviceID) string
}

// table has a row and a column a device, and what stands behind them.
func (m *matrix) table(devices []topology.DeviceID, more []column, cell func(a, b topology.DeviceID) string) *table.Shown {
	out := &table.Shown{Heads: []string{""}, Right: make([]bool, 1+len(devices)+len(more))}
	for _, d := range devices {
		out.Heads = append(out.Heads, strings.ReplaceAll(m.t.DeviceName(d), "/", "/\n"))
	}
	for _, c := range more {
		out.Heads = append(out.Heads, c.title)
	}
	for _, a := range devices {
		row := []string{m.t.DeviceName(a)}
		for _, b := range devices {
			text := "X"
			if a != b {
				text = cell(a, b)
			}
			row = append(row, text)
		}
		for _, c := range more {
			row = append(row, c.of(a))
		}
		out.Rows = append(out.Rows, row)
	}
	return out
}

// bandwidth is that of a transfer between two ranks.
func (m *matrix) bandwidth(a, b topology.DeviceID) string {
	r, err := m.router.Route(m.t.RankOf(a), m.t.RankOf(b))
	if err != nil {
		return "-"
	}
	return fmt.Sprintf("%.4g", r.Rate.GBps())
}

// cell is how two devices are joined.
func (m *matrix) cell(a, b topology.DeviceID) string {
	x, y := m.t.RankOf(a), m.t.RankOf(b)
	if x >= 0 && y >= 0 {
		r, err := m.router.Route(x, y)
		switch {
		case err != nil:
			return "-"
		case r.Kind == topology.PHB && m.router.Bridged(r.Hops):
			return "NODE"
		}
		return Connection(r)
	}
	if m.t.Devices()[a].Node != m.t.Devices()[b].Node {
		return topology.Net.String()
	}
	p, ok := m.router.PathToNIC(a, b)
	switch {
	case !ok:
		return "-"
	case p.Kind == topology.PHB && p.Bridged:
		return "NODE"
	}
	return p.Kind.String()
}

// cpus are the logical processors nearest to a device, or what the topology calls their cpu.
func (m *matrix) cpus(d topology.DeviceID) string {
	var names []string
	for _, c := range m.router.NearestCPUs(d) {
		names = append(names, cmp.Or(m.t.Processors(c), m.t.DeviceName(c)))
	}
	return strings.Join(names, ",")
}

// numa are the same by their numbers in the node.
func (m *matrix) numa(d topology.DeviceID) string {
	var numbers []string
	for _, c := range m.router.NearestCPUs(d) {
		numbers = append(numbers, fmt.Sprint(m.router.NUMA(c)))
	}
	return strings.Join(numbers, ",")
}

// legend says what the cells mean.
func legend() string {
	return table.Listed([][]string{{"NV#", "# bonded links, direct or over switches"}, {"XG#", "# Infinity Fabric links"},
		{"PIX", "one PCIe switch at most"}, {"PXB", "several PCIe switches"}, {"PHB", "through a CPU"},
		{"NODE", "through a CPU, between its PCIe host bridges"}, {"SYS", "across sockets"}, {"SHM", "shared memory"},
		{"HOST", "copied through host memory"}, {"NET", "NICs and network"}})
}

// adapters says which adapters serve whom, and how data get to them.
func (m *matrix) adapters() string {
	var rows [][]string
	for _, nic := range m.devices[m.t.NumRanks():] {
		var serves []string
		for rank, d := range m.t.Ranks() {
			for _, p := range m.router.NICs(rank) {
				if p.NIC == nic {
					serves = append(serves, m.t.DeviceName(d)+" "+transfer(p))
				}
			}
		}
		rows = append(rows, []string{m.t.DeviceName(nic) + ":", "serves " + cmp.Or(strings.Join(serves, ", "), "no GPU")})
	}
	if rows == nil {
		return ""
	}
	return "\nNIC Legend:\n" + table.Listed(rows)
}

// transfer says how NCCL moves data over a way.
func transfer(p topology.NICPath) string {
	if p.GPUDirect(topology.GDRLevel) {
		return "by GPUDirect"
	}
	return "staged through host memory"
}
