package topoview

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"railyard/model/topology"
)

// maxMatrix is how many ranks a matrix shows.
const maxMatrix = 72

// Matrix prints how ranks and network adapters are joined, in the style of nvidia-smi topo -m, then bandwidths.
func Matrix(w io.Writer, t *topology.Topology) error {
	n := t.NumRanks()
	if n > maxMatrix {
		return fmt.Errorf("a matrix of %d ranks cannot be read: choose fewer with --nodes or --gpus (at most %d)", n, maxMatrix)
	}
	m := &matrix{t: t, router: topology.NewRouter(t), devices: append(slices.Clone(t.Ranks()), adapters(t)...)}
	if err := m.connections(w); err != nil {
		return err
	}
	fmt.Fprint(w, legend)
	m.adapters(w)
	fmt.Fprintln(w, "\nBandwidth of one transfer, GB/s")
	return m.table(w, t.Ranks(), nil, func(a, b topology.DeviceID) string {
		r, err := m.router.Route(t.RankOf(a), t.RankOf(b))
		if err != nil {
			return "-"
		}
		return fmt.Sprintf("%.4g", r.Rate.GBps())
	})
}

// matrix is what is shown of a topology.
type matrix struct {
	t       *topology.Topology
	router  *topology.Router
	devices []topology.DeviceID // ranks, then adapters
}

func (m *matrix) connections(w io.Writer) error {
	fmt.Fprintln(w, "Connections")
	var near []column
	if slices.ContainsFunc(m.t.Devices(), func(d topology.Device) bool { return d.Kind == topology.CPU }) {
		near = []column{{"CPU Affinity", m.cpus}, {"NUMA Affinity", m.numa}}
	}
	return m.table(w, m.devices, near, m.cell)
}

// column is what stands behind the cells of a row.
type column struct {
	title string
	of    func(topology.DeviceID) string
}

func (m *matrix) table(w io.Writer, devices []topology.DeviceID, more []column, cell func(a, b topology.DeviceID) string) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, d := range devices {
		fmt.Fprintf(tw, "\t%s", m.t.DeviceName(d))
	}
	for _, c := range more {
		fmt.Fprintf(tw, "\t%s", c.title)
	}
	fmt.Fprintln(tw)
	for _, a := range devices {
		fmt.Fprint(tw, m.t.DeviceName(a))
		for _, b := range devices {
			text := "X"
			if a != b {
				text = cell(a, b)
			}
			fmt.Fprint(tw, "\t", text)
		}
		for _, c := range more {
			fmt.Fprint(tw, "\t", c.of(a))
		}
		fmt.Fprintln(tw)
	}
	return tw.Flush()
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

// cpus are the processors nearest to a device.
func (m *matrix) cpus(d topology.DeviceID) string {
	var names []string
	for _, c := range m.router.NearestCPUs(d) {
		names = append(names, m.t.DeviceName(c))
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

const legend = `
NV#  # bonded links, direct or over switches   XG#  # Infinity Fabric links
PIX  one PCIe switch at most   PXB  several PCIe switches   PHB  through a CPU   NODE  through a CPU, between PCIe switches at root ports
of their own   SYS  across sockets   SHM  shared memory   HOST  copied through host memory   NET  NICs and network
`

// adapters says which adapters serve whom, and how data get to them.
func (m *matrix) adapters(w io.Writer) {
	if len(m.devices) == m.t.NumRanks() {
		return
	}
	fmt.Fprintln(w, "\nNIC Legend")
	for _, nic := range m.devices[m.t.NumRanks():] {
		var serves []string
		for rank, d := range m.t.Ranks() {
			for _, p := range m.router.NICs(rank) {
				if p.NIC == nic {
					serves = append(serves, m.t.DeviceName(d)+" "+transfer(p))
				}
			}
		}
		if serves == nil {
			serves = []string{"no GPU"}
		}
		fmt.Fprintf(w, "%s: serves %s\n", m.t.DeviceName(nic), strings.Join(serves, ", "))
	}
}

// transfer says how NCCL moves data over a way.
func transfer(p topology.NICPath) string {
	if p.GPUDirect(topology.GDRLevel) {
		return "by GPUDirect"
	}
	return "staged through host memory"
}
