package survey

import (
	"fmt"
	"slices"

	"railyard/model/topology"
)

// hiddenSwitch stands for all switches that a virtual machine does not see one by one,
// hiddenModel for what they are.
const (
	hiddenSwitch = "hidden"
	hiddenModel  = "nvswitch_hidden"
)

// nvlinks draws the NVLinks between GPUs and to switches; those to CPUs belong to
// coherent.
func (m *machine) nvlinks() error {
	switches := m.switchIDs()
	byBus := map[string]int{}
	for i := range m.GPUs {
		byBus[m.GPUs[i].Bus] = i
	}
	for i := range m.GPUs {
		for _, p := range m.GPUs[i].Ports {
			if !p.Up || p.End == EndCPU {
				continue
			}
			class, err := linkClass(&m.GPUs[i], p.Raw)
			if err != nil {
				return fmt.Errorf("gpu%d: %w", i, err)
			}
			other, isGPU := byBus[p.Bus]
			switch {
			case isGPU && i < other:
				m.join(i, other, class, 1)
			case isGPU: // drawn from the other end
			case p.End == EndSwitch:
				m.join(i, switches[switchBus(p)], class, 1)
			default:
				m.note("gpu%d has NVLinks to %s, which is not visible in this machine: they are left out", i, orUnknown(p.Bus))
			}
		}
	}
	m.joinBoards()
	return nil
}

func orUnknown(bus string) string {
	if bus == "" {
		return "an unknown device"
	}
	return bus
}

func switchBus(p Port) string {
	if p.Bus == "" {
		return hiddenSwitch
	}
	return p.Bus
}

// switchIDs draws the switches that ports lead to, in the order of their addresses.
func (m *machine) switchIDs() map[string]int {
	var buses []string
	major := 0
	for _, g := range m.GPUs {
		for _, p := range g.Ports {
			if bus := switchBus(p); p.Up && p.End == EndSwitch && !slices.Contains(buses, bus) {
				buses = append(buses, bus)
				major = g.Major
			}
		}
	}
	slices.Sort(buses)
	out := map[string]int{}
	for i, bus := range buses {
		p := part{id: fmt.Sprintf("nvswitch%d", i), kind: topology.NVSwitch, model: fmt.Sprintf("nvswitch_sm%d", major), note: bus}
		if bus == hiddenSwitch {
			p.note, p.model = "", hiddenModel
			m.note("the NVSwitches are not visible in this machine: %s stands for all of them", p.id)
		}
		out[bus] = m.device(p)
	}
	return out
}

// coherent is the link of a GPU to its CPU that replaces PCIe.
func (m *machine) coherent(gpu int) (c topology.Class, count int, ok bool) {
	g := &m.GPUs[gpu]
	for _, p := range g.Ports {
		if p.Up && p.End == EndCPU {
			var err error
			if c, err = nvlinkClass(g.Major, g.Minor, p.Raw); err == nil {
				count++
			}
		}
	}
	if count == 0 && g.C2C {
		c, count = c2cClass, 1
	}
	return c, count, count > 0
}

// joinBoards joins the switches of two boards whose GPUs reach one another over NVLink
// although they share no switch: the library does not show links between switches. As
// many as the GPUs of a board have at a switch make the boards' whole rate.
func (m *machine) joinBoards() {
	boards := m.boards()
	if len(boards) < 2 {
		return
	}
	across := false
	for a, g := range m.GPUs {
		for b, p := range g.Peers {
			across = across || p.NVLink && m.boardOf(boards, a) != m.boardOf(boards, b)
		}
	}
	if !across {
		return
	}
	if len(boards) > 2 || len(boards[0].switches) != len(boards[1].switches) {
		m.note("how the switches of %d NVLink boards are joined is not visible: their links are left out", len(boards))
		return
	}
	for i, a := range boards[0].switches {
		b := boards[1].switches[i]
		m.join(a, b, boards[0].class, min(m.down(a), m.down(b)))
	}
	m.note("the links between the NVSwitches of the two boards are not visible: as many as those of the GPUs are assumed")
}

// board is a set of GPUs on the same switches.
type board struct {
	gpus, switches []int
	class          topology.Class
}

func (m *machine) boards() []board {
	var out []board
	for i := range m.GPUs {
		b := board{gpus: []int{i}}
		for _, l := range m.links {
			if l.from == i && m.devices[l.to].kind == topology.NVSwitch {
				b.switches = append(b.switches, l.to)
				b.class = m.classes[slices.IndexFunc(m.classes, func(c topology.Class) bool { return c.Name == l.class })]
			}
		}
		if len(b.switches) == 0 {
			continue
		}
		slices.Sort(b.switches)
		b.switches = slices.Compact(b.switches)
		same := slices.IndexFunc(out, func(o board) bool { return slices.Contains(o.switches, b.switches[0]) })
		if same < 0 {
			out = append(out, b)
			continue
		}
		out[same].gpus = append(out[same].gpus, i)
	}
	return out
}

func (m *machine) boardOf(boards []board, gpu int) int {
	return slices.IndexFunc(boards, func(b board) bool { return slices.Contains(b.gpus, gpu) })
}

// down is how many links of GPUs a switch takes.
func (m *machine) down(sw int) int {
	n := 0
	for _, l := range m.links {
		if l.to == sw && m.devices[l.from].kind == topology.GPU {
			n += l.count
		}
	}
	return n
}
