package survey

import (
	"fmt"

	"railyard/model/topology"
)

// network hangs the adapters on their PCIe switches or sockets and gives them GPUs.
func (m *machine) network() {
	for i, a := range m.Adapters {
		note := a.Name + " " + a.Bus
		if a.Rate > 0 {
			note += ", class " + m.class(networkClass(a))
		}
		n := m.device(part{id: fmt.Sprintf("nic%d", i), kind: topology.NIC, note: note})
		m.joinToSocket(n, a.Bus, m.PCI[a.Bus].Lanes)
	}
	m.serve()
}

// serve shares the adapters at a PCIe switch or socket among the GPUs there, in order,
// as the shipped files do: NCCL too gives each GPU the adapters nearest to it. Where
// the numbers do not divide, or GPUs and adapters hang on different parts, the nearest
// ones are found when the file is read.
func (m *machine) serve() {
	gpus, nics := map[int][]int{}, map[int][]int{}
	for d := range m.devices {
		switch at := m.hosts[d]; m.devices[d].kind {
		case topology.GPU:
			gpus[at] = append(gpus[at], d)
		case topology.NIC:
			nics[at] = append(nics[at], d)
		}
	}
	for at, here := range nics {
		mine := gpus[at]
		if len(mine) == 0 || len(mine)%len(here) != 0 && len(here)%len(mine) != 0 {
			continue
		}
		for i, n := range here {
			first, last := i*len(mine)/len(here), ((i+1)*len(mine)-1)/len(here)
			if len(here) > len(mine) {
				last = first
			}
			m.devices[n].serves = span("gpu", mine[first:last+1])
		}
	}
}
