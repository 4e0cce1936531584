package observed

import (
	"strings"

	"railyard/model/collective"
	"railyard/model/units"
)

// Log is what NCCL's processes have said of themselves.
type Log struct {
	Files     []string
	Version   string // as NCCL writes it: 2.28.9+cuda13.0
	Comms     []Comm
	Choices   []Choice
	Variables []Variable
	Warnings  []Warning
	Adapters  []Adapter
	Sends     []Send
	Notes     []string // what could not be told
}

// Comm is a communicator.
type Comm struct {
	Place
	ID           string
	Ranks        int
	Nodes        int            // 0: not said
	Hosts        map[int]string // of the ranks whose logs are there
	Network      string         // between nodes: IB, Socket, AWS Libfabric; "" where none is used or it is not said
	Channels     int            // of rings and trees; 0: not said
	NVLSChannels int
	PeerChannels int
	Multicast    bool    // NVLink switches reduce and multicast
	Rings        [][]int // ranks in their order, by channel
	Trees        []Branch
	Connections  []Connection
}

// Branch is a rank's place in the tree of a channel.
type Branch struct {
	Channel, Rank int
	Up            int // -1: the root
	Down          []int
}

// Connection is how one rank reaches another on a channel.
type Connection struct {
	Place
	Channel, From, To int
	Messages          bool   // of sends and receives, which have ways of their own
	Via               string // P2P/CUMEM/read, SHM/direct, NET/IB/0/GDRDMA
}

// Transport is the first part of the way: P2P, SHM, or the network by name (NET/IB).
func (w *Connection) Transport() string {
	parts := strings.Split(w.Via, "/")
	if parts[0] == "NET" && len(parts) > 1 {
		return strings.Join(parts[:2], "/")
	}
	return parts[0]
}

// GPUDirect reports whether the adapter reads and writes GPU memory.
func (w *Connection) GPUDirect() bool { return strings.Contains(w.Via, "/GDRDMA") }

// Choice is what the tuner chose for a collective.
type Choice struct {
	Place
	Comm                string // its ID; "" where the log does not tell which
	Kind                collective.Kind
	Size                units.Bytes // as nccl-tests counts it; of what one rank gives or takes where Comm is not known
	Algorithm, Protocol string      // ring, nvls_tree; ll128. "symmetric" and the kernel's name where no channel moves the data
	Channels            int         // 0: not said
	Times               int         // how often
}

// Variable is a variable of the environment that NCCL heeded.
type Variable struct {
	Place
	Host, Name, Value string
}

// Warning is a warning of NCCL.
type Warning struct {
	Place
	Host, Text string
	Times      int
	Failed     int // the code with which the call that it is about ended (ncclResult_t); 0: it went on
}

// Adapter is an adapter that NCCL found on a host.
type Adapter struct {
	Host, Network, Name string
}

// Send is that a GPU sends to other nodes over an adapter, or receives, on some channel of collectives.
type Send struct {
	Place
	Host    string
	GPU     int    // by the driver's number; -1: not said
	Bus     string // of the GPU, as sysfs writes it; "": not said
	Adapter string
	Direct  bool // GPUDirect
}
