package topology

import "railyard/model/units"

// Topology is a validated, immutable graph. Ranks are numbered node by node. All
// methods are safe for concurrent use.
type Topology struct {
	name, description, profile, hash string
	classes                          []Class
	models                           []Model
	devices                          []Device
	graph
	ranks   []DeviceID
	rankOf  []int32 // by device, −1
	nodes   []node
	shapes  []*shape
	fabrics []fabricInfo
	tiers   []Tier
	lone    bool      // the file has one node: names go without it
	rack    int       // nodes in a rack; 0: not said
	gdr     RouteKind // how far apart a GPU and an adapter may be for GPUDirect RDMA

	// Of a degraded copy: what it is a copy of, what it lacks, what its ranks were there.
	healthy  *Topology
	faults   []Fault
	original []int32

	idle *Topology // of a copy with background traffic: the machine without it

	derived *derived
}

// node is an instance of a shape: its devices and links are contiguous.
type node struct {
	name        string // prefix and number, "node3"
	shape       int32
	firstDevice DeviceID
	firstLink   LinkID
	firstRank   int32
	ranks       int32
}

// fabricInfo names the switches of a fabric.
type fabricInfo struct {
	prefix      string // "" where the topology has one fabric
	spec        *fabricSpec
	firstDevice DeviceID
	devices     int
	switchUnit  []int32     // by first-level switch: the group of nodes that it serves
	nodeUnit    []int32     // by node: the group of its first endpoint
	levels      []tierLevel // innermost first
}

// changed is a copy of which something is other than in the file.
func (t *Topology) changed(change func(*Topology)) *Topology {
	out := *t
	out.derived = new(derived)
	change(&out)
	out.hash = out.computeHash()
	return &out
}

// Name is the topology's name.
func (t *Topology) Name() string { return t.name }

// Description is the file's one line about itself.
func (t *Topology) Description() string { return t.description }

// Profile is the name of the default cost profile; "" where the file names none.
func (t *Topology) Profile() string { return t.profile }

// Hash identifies the content (devices, links, constants) as SHA-256 in hex.
func (t *Topology) Hash() string { return t.hash }

// Devices are all devices by id; not to be changed.
func (t *Topology) Devices() []Device { return t.devices }

// Links are all directed links by id; not to be changed.
func (t *Topology) Links() []Link { return t.links }

// Classes are the link classes.
func (t *Topology) Classes() []Class { return t.classes }

// Class is the class of a link.
func (t *Topology) Class(l LinkID) *Class { return &t.classes[t.links[l].Class] }

// Models are the device models.
func (t *Topology) Models() []Model { return t.models }

// Ranks are the devices that hold ranks, by rank.
func (t *Topology) Ranks() []DeviceID { return t.ranks }

// NumRanks is the number of ranks.
func (t *Topology) NumRanks() int { return len(t.ranks) }

// RankOf is the rank on a device, −1 where it holds none (or is not used).
func (t *Topology) RankOf(d DeviceID) int { return int(t.rankOf[d]) }

// NodeOf is the node of a rank.
func (t *Topology) NodeOf(rank int) int { return int(t.devices[t.ranks[rank]].Node) }

// NodeShape is what a node is in itself: nodes of one have the same devices and links, and as many ranks in the same places.
type NodeShape struct {
	shape int32
	Ranks int
}

// Shape is that of a node.
func (t *Topology) Shape(node int) NodeShape {
	return NodeShape{t.nodes[node].shape, int(t.nodes[node].ranks)}
}

// NumNodes is the number of nodes.
func (t *Topology) NumNodes() int { return len(t.nodes) }

// Out are the links that leave a device, In those that enter it, ascending.
func (t *Topology) Out(d DeviceID) []LinkID { return t.out.of(d) }

// In are the links that enter a device, ascending.
func (t *Topology) In(d DeviceID) []LinkID { return t.in.of(d) }

// Rate is what a link carries in its direction: its class's rate times its count.
func (t *Topology) Rate(l LinkID) units.Rate {
	return t.classes[t.links[l].Class].Rate * units.Rate(t.links[l].Count)
}
