// Package topology turns a YAML file into a validated, immutable graph of devices
// and directed links, and answers which route a transfer between two ranks takes.
package topology

import "railyard/model/units"

// Kind is what a device is.
type Kind uint8

// The kinds of device. GPU and Thread hold ranks; the others forward.
const (
	GPU        Kind = iota // a GPU, or one compute die that the runtime sees as a GPU
	Thread                 // a CPU thread that runs a rank (host backend)
	CPU                    // a socket: PCIe root complex and its host memory
	Memory                 // a memory bus
	PCIeSwitch             // a PCIe switch
	NVSwitch               // a switch of a scale-up fabric (NVLink, NVLink Network)
	NIC                    // a network adapter
	Leaf                   // first switch level of a network
	Spine                  // second switch level
	Core                   // third switch level
)

// HoldsRank reports whether a device of this kind is a rank of a collective.
func (k Kind) HoldsRank() bool { return k == GPU || k == Thread }

// Medium is what a link class is made of; routes are ranked by it.
type Medium uint8

// The media.
const (
	NVLink  Medium = iota // NVLink of any generation
	XGMI                  // AMD Infinity Fabric
	C2C                   // chip to chip, CPU to GPU coherent link
	PCIe                  // PCI Express
	Socket                // between CPU sockets (UPI, X-bus, xGMI socket link)
	MemBus                // CPU memory
	Network               // InfiniBand, RoCE, EFA, Slingshot
)

// DeviceID and LinkID are dense: 0 … n−1.
type (
	DeviceID int32
	LinkID   int32
)

// Device is a vertex of the graph.
type Device struct {
	Kind  Kind
	Node  int32 // index of the node (server, tray) it belongs to; −1 for a fabric switch
	Local int32 // its place in the node's template, or in its fabric tier
	Model int32 // index into Topology.Models: what it is sold as; −1 if the file does not say
}

// Link is a directed edge: Count parallel links of one class.
type Link struct {
	From, To DeviceID
	Class    int32
	Count    int32
}

// NoLink marks "there is none" where a LinkID is expected.
const NoLink LinkID = -1

// Hop is a link on a route together with the share Num/Den of the transfer's bytes
// that crosses it: striping over 18 NVLinks or over the paths of a fat-tree splits
// a transfer, and the shares of the links out of one device sum to 1.
type Hop struct {
	Link     LinkID
	Num, Den int64
	Lane     int32 // of a hashed flow: the one of the parallel links that it takes, from 1; 0: all
}

// RouteKind says by which means two ranks reach one another, best first; the
// letters are those of nvidia-smi topo -m and NCCL.
type RouteKind uint8

// The kinds of route.
const (
	Local      RouteKind = iota // the same rank
	Direct                      // NV#/XGMI: direct links, striped
	Switched                    // NV#: through a scale-up switch
	PIX                         // PCIe peer-to-peer, one PCIe switch at most
	PXB                         // PCIe peer-to-peer, several PCIe switches
	PHB                         // PCIe peer-to-peer through a CPU's host bridge
	SYS                         // peer-to-peer across sockets
	Shared                      // threads of one host, through memory
	HostStaged                  // copied to host memory and out again
	Net                         // through NICs and the network
)

// Route is one way from a rank to another.
type Route struct {
	Kind    RouteKind
	Medium  Medium     // of the slowest hop: it selects the cost curve
	Hops    []Hop      // in order of distance from the source; empty for Local
	Rate    units.Rate // what one transfer alone gets: min over hops of rate·Den/Num
	Latency units.Time // the slowest of the striped paths
	Beyond  units.Time // of that, what links take more than usual ones (see Class.Beyond)
	Links   int        // how many links leave the source (NV# of nvidia-smi)
	NICs    []DeviceID // network adapters used, source's first
}
