package topology

// Roots says at how many PCIe host bridges the root ports of a CPU stand (one_root in files).
type Roots uint8

// What is known of the root ports.
const (
	RootsUnknown Roots = iota
	OneRoot            // one_root: true
	SeveralRoots       // one_root: false
)

// Roots is what is known of the root ports of a CPU.
func (t *Topology) Roots(cpu DeviceID) Roots {
	d := t.devices[cpu]
	return t.shapes[t.nodes[d.Node].shape].roots[d.Local]
}

// rootsOf is what a file says.
func rootsOf(one bool) Roots {
	if one {
		return OneRoot
	}
	return SeveralRoots
}
