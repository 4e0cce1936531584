// Package survey writes what somebody has found of a node (GPUs with their NVLinks, the
// PCIe tree, sockets, network adapters) as a topology file: railyard on the live machine
// (exec/discover), or another program whose output was kept (interop). What nobody can
// tell (the rate between sockets, the links between the switches of two boards, latencies)
// is assumed, and the file says so.
package survey

import "railyard/model/units"

// Node is what is known of a node.
type Node struct {
	Name   string // of the topology
	Source string // who found it, and on what
	By     string // the same in a word or two
	GPUs   []GPU  // by number
	// Adapters are the network adapters by number.
	Adapters []Adapter
	// PCI has GPUs, adapters and the PCIe switches above them by address; of what it lacks nothing is known.
	PCI  map[string]PCI
	CPUs int // sockets, or NUMA nodes where these are what is told apart
	// Processors are the logical processors of each of these as ranges, "" or none where they are not known.
	Processors []string
	Vendor     string   // of the processors as socketClass knows it, "GenuineIntel 143"; "": not known
	Notes      []string // what is assumed or left out already
}

// PCI is where a device hangs.
type PCI struct {
	Above []string // addresses of the PCIe switches between it and its CPU, nearest first
	Lanes Lanes
	CPU   int
	Root  string // the host bridge of its CPU that it stands at, pci0000:16; "": not known
}

// Adapter is a network adapter.
type Adapter struct {
	Name  string // as the system calls it, mlx5_0 or eth0
	Bus   string // PCI address
	Layer string // ib, eth
	Rate  units.Rate
}

// GPU is what is known of a GPU.
type GPU struct {
	Name         string      // as sold, such as "NVIDIA H200"
	Bus          string      // PCI address as sysfs writes it, 0000:1b:00.0
	Major, Minor int         // compute capability
	Arch         string      // of AMD's GPUs, which have none: gfx942
	Memory       units.Bytes // 0: not known
	PCIe         Lanes       // largest generation, present width; zero parts are not known
	C2C          bool        // joined to its CPU chip to chip
	Ports        []Port      // NVLink ports by number, also those that are down
	Peers        []Peer      // by GPU
}

// Port is an NVLink port of a GPU.
type Port struct {
	Up  bool
	End End
	Bus string     // of the device at the other end; "" where it is not visible in this machine
	Raw units.Rate // line rate that the driver reports; 0: not known
}

// End is the kind of device at the other end of an NVLink.
type End uint8

// The ends of an NVLink.
const (
	EndUnknown End = iota
	EndGPU
	EndSwitch
	EndCPU
)

// Peer is how a GPU reaches the memory of another.
type Peer struct {
	NVLink bool // over NVLink, directly or over switches
	PCIe   bool // over PCIe, without a copy in host memory
}

// Lanes are a PCIe connection.
type Lanes struct {
	Generation int // 1 … 6
	Width      int // 1 … 16
}

// Rate is the line rate of a PCIe connection a direction, 0 where its generation or width is not known.
func (l Lanes) Rate() units.Rate {
	if l.Generation < 1 || l.Generation >= len(pcieLine) || l.Width < 1 {
		return 0
	}
	return pcieClass(l).Rate
}
