// Package smitopo reads what "nvidia-smi topo -m" prints: how each pair of GPUs and
// network adapters of a machine is joined, and which processors are near.
package smitopo

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Matrix is a machine's; cells by row and column, in the order of Devices.
type Matrix struct {
	Devices []Device // GPUs, then adapters
	Cells   [][]Cell
	nvlinks bool // the legend explains NVLinks: then GPUs without have none (topo -mp leaves them out)
}

// Device is a GPU or an adapter.
type Device struct {
	Name    string // as columns call it: GPU0, NIC0
	GPU     bool
	Adapter string // what the legend calls an adapter, mlx5_0
	CPUs    string // of a GPU: the processors near it, 0-47,96-143
	NUMA    string // of a GPU: their NUMA nodes, 0; "" where the driver does not know
	line    int
}

// Kind is how two devices are joined, nearest first.
type Kind string

// The kinds of connection.
const (
	Same Kind = "X"
	NV   Kind = "NV"   // bonded NVLinks
	PIX  Kind = "PIX"  // one PCIe bridge at most
	PXB  Kind = "PXB"  // several, but no host bridge
	PHB  Kind = "PHB"  // a PCIe host bridge
	NODE Kind = "NODE" // between host bridges of a NUMA node
	SYS  Kind = "SYS"  // between NUMA nodes
)

var kinds = []Kind{Same, NV, PIX, PXB, PHB, NODE, SYS}

// Cell is a connection.
type Cell struct {
	Kind  Kind
	Links int // of NVLink
}

// String is the cell as it is printed.
func (c Cell) String() string {
	if c.Kind == NV {
		return "NV" + strconv.Itoa(c.Links)
	}
	return string(c.Kind)
}

// parseCell reads what is printed.
func parseCell(text string) (Cell, error) {
	if n, ok := strings.CutPrefix(text, "NV"); ok {
		if links, err := strconv.Atoi(n); err == nil && links > 0 && links <= 64 {
			return Cell{NV, links}, nil
		}
	} else if k := Kind(text); slices.Contains(kinds, k) {
		return Cell{Kind: k}, nil
	} else if text == "SOC" { // until 2017: a link between sockets
		return Cell{Kind: SYS}, nil
	}
	if slices.Contains(access, text) {
		return Cell{}, fmt.Errorf("%q is what nvidia-smi topo -p2p prints: give what topo -m does", text)
	}
	return Cell{}, fmt.Errorf("%q is no connection: must be X, NV#, PIX, PXB, PHB, NODE or SYS", text)
}

// GPUs are how many of the devices are GPUs: the first ones.
func (m *Matrix) GPUs() int {
	n := slices.IndexFunc(m.Devices, func(d Device) bool { return !d.GPU })
	if n < 0 {
		n = len(m.Devices)
	}
	return n
}
