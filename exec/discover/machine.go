package discover

import (
	"fmt"
	"strings"

	"railyard/model/topology"
)

// machine is a node while it is put together.
type machine struct {
	*drawing
	tree    tree
	driver  string
	gpus    []GPU
	sockets sockets
	plx     map[string]int // PCIe switches by the address of their upstream port
	hosts   map[int]int    // what each GPU or adapter hangs on: the nearest PCIe switch or CPU
}

// survey puts together what the library and sysfs tell.
func survey(l Library, root string) (*machine, error) {
	m := &machine{drawing: newDrawing(), tree: tree{root}, driver: l.Driver(), plx: map[string]int{}, hosts: map[int]int{}}
	var err error
	if m.gpus, err = l.GPUs(); err != nil {
		return nil, err
	}
	if len(m.gpus) == 0 {
		return nil, fmt.Errorf("the driver (%s) shows no GPU", m.driver)
	}
	m.sockets = m.tree.sockets()
	for i := range m.gpus {
		m.device(part{id: fmt.Sprintf("gpu%d", i), kind: topology.GPU, model: modelName(m.gpus[i].Name), note: m.gpus[i].Bus})
	}
	for s := range m.sockets.count {
		m.device(part{id: fmt.Sprintf("cpu%d", s), kind: topology.CPU})
	}
	if err := m.nvlinks(); err != nil {
		return nil, err
	}
	m.hostLinks()
	m.network()
	for a := range m.sockets.count {
		for b := a + 1; b < m.sockets.count; b++ {
			m.join(m.cpu(a), m.cpu(b), socketClass(m.sockets.vendor), 1)
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
	for i := range m.gpus {
		g := &m.gpus[i]
		socket := m.sockets.of(m.tree, g.Bus)
		class, count, joined := m.coherent(i)
		if joined {
			m.join(i, m.cpu(socket), class, count)
			m.hosts[i] = m.cpu(socket)
			continue
		}
		lanes := g.PCIe
		if lanes.Generation < 1 || lanes.Generation >= len(pcieLine) {
			lanes.Generation = m.tree.lanes(g.Bus).Generation
		}
		if lanes.Width == 0 {
			lanes.Width = m.tree.lanes(g.Bus).Width
		}
		m.joinToSocket(i, g.Bus, socket, lanes)
	}
}

// joinToSocket joins a device to its PCIe switches, nearest first, and these to the socket.
func (m *machine) joinToSocket(device int, bus string, socket int, lanes Lanes) {
	at := device
	for _, up := range switchesAbove(m.tree.path(bus)) {
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
		at, lanes = id, m.tree.lanes(up)
	}
	if at == device {
		m.hosts[device] = m.cpu(socket)
	}
	m.pcie(at, m.cpu(socket), lanes)
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
	for a := range m.gpus {
		for b, peer := range m.gpus[a].Peers {
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

func (m *machine) socketOf(gpu int) int { return m.sockets.of(m.tree, m.gpus[gpu].Bus) }
