// Package nccltopo reads the topology files of NCCL (NCCL_TOPO_DUMP_FILE, NCCL_TOPO_FILE):
// the PCIe tree of a host below its processors, with GPUs, their NVLinks and network
// adapters. The form is that of https://github.com/NVIDIA/nccl, src/graph/xml.cc and
// topo.cc (2.30); of RCCL's files, version 2, that of https://github.com/ROCm/rccl.
package nccltopo

// System is a file.
type System struct{ CPUs []CPU }

// CPU is a NUMA node with what hangs on it.
type CPU struct {
	Host     string // hash; "" where the file has none
	NUMA     int
	Affinity string // mask of processors, 32 bits a part, highest first
	Arch     string // x86_64, arm64, ppc64
	Vendor   string // GenuineIntel, AuthenticAMD; "" for others
	Family   int
	Model    int
	PCI      []PCI
	Nets     []Net // without a PCI address, as in virtual machines
	line     int
}

// PCI is a device, or a bridge with devices.
type PCI struct {
	Bus    string // 0000:1b:00.0
	Class  string // 0x060400 bridge, 0x0302 GPU, 0x0207 InfiniBand, 0x0200 Ethernet; "" where the file leaves it to NCCL
	Vendor string // 0x10de
	Device string // 0x2330
	Speed  string // "32.0 GT/s PCIe"
	Width  int    // lanes; 0: not known
	PCI    []PCI
	GPU    *GPU
	Nets   []Net
	line   int
}

// GPU is what NCCL found out about a GPU.
type GPU struct {
	Dev, SM, Rank int    // SM is the compute capability, 90; Rank −1: of another process
	Arch          string // AMD's, instead of SM: gfx942
	GDR           bool
	NVLinks       []NVLink
	C2C           bool
	line          int
}

// NVLink is a number of links to a device: NVLinks, or AMD's over Infinity Fabric.
type NVLink struct {
	Target string // its PCI address; fffffff:ff:ff.0 where it is hidden
	Count  int
	Class  string // PCI class of the target: 0x068000 NVSwitch, 0x0302, 0x0380 and 0x1200 GPU, 0x0680 and 0x0604 others
	line   int
}

// Net is a port of a network adapter.
type Net struct {
	Name string // mlx5_0
	Dev  int
	Mbps int // decimal megabits a second
	Port int
	GUID string
	GDR  bool // NCCL may have it read and write GPUs' memory
	Coll bool // SHARP
	line int
}
