package nccl

// pathKind is how far apart two vertices are, best first; NCCL's PATH_* in its order,
// because it searches by stepping through them.
type pathKind int

const (
	pathLOC pathKind = iota // itself
	pathNVL                 // NVLink
	pathNVB                 // NVLink over another GPU
	pathC2C                 // chip to chip
	pathPIX                 // one PCIe switch
	pathPXB                 // several PCIe switches
	pathP2C                 // C2C to the CPU and PCIe to the NIC
	pathPXN                 // over another GPU to its NIC
	pathPHB                 // over a CPU's host bridge
	pathSYS                 // over the link between sockets
	pathNET                 // over the network
	pathDIS                 // not at all
)

var pathNames = [...]string{"LOC", "NVL", "NVB", "C2C", "PIX", "PXB", "P2C", "PXN", "PHB", "SYS", "NET", "DIS"}

func (p pathKind) String() string { return pathNames[p] }

// pattern is the shape of a channel; NCCL compares them by number.
type pattern int

const (
	balancedTree pattern = 1 // a chain whose first two GPUs share the NIC's traffic
	plainTree    pattern = 3 // a chain; all network traffic at the first GPU
	ringPattern  pattern = 4
	nvlsPattern  pattern = 5 // a head that pulls from the NVSwitch
)

// channels is a set of channels of one pattern and speed: NCCL's ncclTopoGraph. The
// search keeps the best in one and varies another.
type channels struct {
	pattern          pattern
	crossNIC         int // 0: both ends at one NIC; 2: channels in pairs may swap NICs
	min, max, n      int // channels wanted and found
	bwIntra, bwInter float64
	typeIntra        pathKind
	typeInter        pathKind
	same             bool // every channel visits the GPUs in the same order
	hops             int
	intra            [][]int  // by channel: GPU indices in order
	inter            [][2]int // by channel: NIC indices, first and last
}
