package topology

import "railyard/model/units"

var kindNames = [...]string{"gpu", "thread", "cpu", "memory", "pcie_switch", "nvswitch", "nic", "leaf", "spine", "core"}

var mediumNames = [...]string{"nvlink", "xgmi", "c2c", "pcie", "socket", "membus", "network"}

var routeNames = [...]string{"LOC", "NVL", "NVS", "PIX", "PXB", "PHB", "SYS", "SHM", "HOST", "NET"}

// String is the kind as topology files write it.
func (k Kind) String() string { return kindNames[k] }

// String is the medium as topology files write it.
func (m Medium) String() string { return mediumNames[m] }

// String is the short name in tables.
func (k RouteKind) String() string { return routeNames[k] }

// scaleUp reports whether links of the medium join GPUs directly or over NVSwitches,
// and so count against a device's ports.
func (m Medium) scaleUp() bool { return m == NVLink || m == XGMI || m == C2C }

// fabricKind reports whether a device of this kind forwards between nodes.
func (k Kind) fabricKind() bool { return k == NVSwitch || k.NetworkSwitch() }

// NetworkSwitch reports whether devices of this kind are switches of networks between nodes.
func (k Kind) NetworkSwitch() bool { return k == Leaf || k == Spine || k == Core }

// UnmarshalText reads a kind as String writes it.
func (k *Kind) UnmarshalText(text []byte) error {
	return units.ParseName(k, "kind", kindNames[:], text)
}

// UnmarshalText reads a medium as String writes it.
func (m *Medium) UnmarshalText(text []byte) error {
	return units.ParseName(m, "medium", mediumNames[:], text)
}
