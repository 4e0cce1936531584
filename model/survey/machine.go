package survey

import (
	"fmt"
	"strings"

	"railyard/model/topology"
)

// machine is a node while it is put together.
type machine struct {
	*drawing
	*Node
	plx   map[string]int // PCIe switches by the address of their upstream port
	hosts map[int]int    // what each GPU or adapter hangs on: the nearest PCIe switch or CPU
}

// draw puts together what is known of a node.
func draw(n *Node) (*machine, error) {
	if len(n.GPUs) == 0 {
		return nil, fmt.Errorf("%s: no GPU", n.Source)
	}
	m := &machine{drawing: newDrawing(), Node: n, plx: map[string]int{}, hosts: map[int]int{}}
	m.notes = append(m.notes, n.Notes...)
	for i := range m.GPUs {
		m.device(part{id: fmt.Sprintf("gpu%d", i), kind: topology.GPU, model: modelName(m.GPUs[i].Name), note: m.GPUs[i].Bus})
	}
	for s := range m.CPUs {
		cpus := ""
		if s < len(m.Processors) {
			cpus = m.Processors[s]
		}
		m.device(part{id: fmt.Sprintf("cpu%d", s), kind: topology.CPU, cpus: cpus})
	}
	if err := m.nvlinks(); err != nil {
		return nil, err
	}
	m.hostLinks()
	m.network()
	for a := range m.CPUs {
		for b := a + 1; b < m.CPUs; b++ {
			m.join(m.cpu(a), m.cpu(b), socketClass(m.Vendor), 1)
		}
	}
	m.staging()
	m.sort()
	return m, nil
}

func (m *machine) cpu(socket int) int { return m.index[fmt.Sprintf("cpu%d", socket)] }

// modelName is a product's name as an id: nvidia_h200.
func modelName(product string) string {
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		}
		return '_'
	}, product)
	if name = strings.Trim(name, "_"); name == "" {
		return "gpu"
	}
	return name
}

// hostLinks hangs each GPU on its PCIe switches and socket; one that has NVLink or C2C
// to its CPU moves host data over that.
func (m *machine) hostLinks() {
	for i := range m.GPUs {
		g := &m.GPUs[i]
		class, count, joined := m.coherent(i)
		if joined {
			cpu := m.cpu(m.PCI[g.Bus].CPU)
			m.join(i, cpu, class, count)
			m.hosts[i] = cpu
			continue
		}
		lanes := g.PCIe
		if lanes.Generation < 1 || lanes.Generation >= len(pcieLine) {
			lanes.Generation = m.PCI[g.Bus].Lanes.Generation
		}
		if lanes.Width == 0 {
			lanes.Width = m.PCI[g.Bus].Lanes.Width
		}
		m.joinToSocket(i, g.Bus, lanes)
	}
}

// joinToSocket joins a device to its PCIe switches, nearest first, and these to the socket.
func (m *machine) joinToSocket(device int, bus string, lanes Lanes) {
	at, cpu := device, m.cpu(m.PCI[bus].CPU)
	for _, up := range m.PCI[bus].Above {
		id, known := m.plx[up]
		if !known {
			id = m.device(part{id: fmt.Sprintf("plx%d", len(m.plx)), kind: topology.PCIeSwitch, note: up})
			m.plx[up] = id
		}
		m.pcie(at, id, lanes)
		if at == device {
			m.hosts[device] = id
		}
		if known {
			return // the way on is drawn
		}
		at, lanes = id, m.PCI[up].Lanes
	}
	if at == device {
		m.hosts[device] = cpu
	}
	m.devices[at].root = m.PCI[bus].Root
	m.pcie(at, cpu, lanes)
}

// usual stands for lanes that a machine does not tell, as virtual ones do not.
var usual = Lanes{Generation: 4, Width: 16}

func (m *machine) pcie(from, to int, l Lanes) {
	if l.Generation < 1 || l.Generation >= len(pcieLine) {
		l.Generation = usual.Generation
		m.note("the PCIe generation of %s is not visible: %d.0 is assumed", m.devices[from].id, l.Generation)
	}
	if l.Width < 1 || l.Width > 16 {
		l.Width = usual.Width
		m.note("the PCIe width of %s is not visible: x%d is assumed", m.devices[from].id, l.Width)
	}
	m.join(from, to, pcieClass(l), 1)
}

// staging marks CPUs through which the driver does not let GPUs reach one another.
func (m *machine) staging() {
	for a := range m.GPUs {
		for b, peer := range m.GPUs[a].Peers {
			cpu := m.hosts[a]
			if a < b && !peer.PCIe && !peer.NVLink && cpu == m.hosts[b] && m.devices[cpu].kind == topology.CPU {
				m.devices[cpu].noP2P = true
			}
			if a < b && !peer.PCIe && !peer.NVLink && m.socketOf(a) != m.socketOf(b) {
				m.note("the driver does not let gpu%d and gpu%d reach one another across sockets", a, b)
			}
		}
	}
}

func (m *machine) socketOf(gpu int) int { return m.PCI[m.GPUs[gpu].Bus].CPU }
