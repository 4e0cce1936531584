package nccl

import (
	"math"
	"slices"

	"railyard/model/topology"
)

// vertexKind is what a vertex of NCCL's picture of the machine is.
type vertexKind int

const (
	vGPU vertexKind = iota
	vPCI
	vNVS // all NVSwitches of a system together
	vCPU // a NUMA domain
	vNIC
	vNET // a port of a NIC
	numVertexKinds
)

// linkKind is what a link is made of; the numbers are those of the path it makes.
type linkKind = pathKind

const (
	linkLOC linkKind = pathLOC
	linkNVL linkKind = pathNVL
	linkC2C linkKind = pathC2C
	linkPCI linkKind = pathPIX
	linkSYS linkKind = pathSYS
	linkNET linkKind = pathNET
)

// localBW is the speed of a GPU to itself, GB/s.
const localBW = 5000

// link is one direction of a link; bw is what the search has left of it.
type link struct {
	kind linkKind
	bw   float64
	to   *vertex
}

// path leads from a vertex to another.
type path struct {
	hops []*link
	bw   float64
	kind pathKind
}

// vertex is a device as NCCL sees it.
type vertex struct {
	kind     vertexKind
	index    int // among its kind
	host     int32
	cc       int     // GPU: compute capability × 10
	dev      int     // GPU: its number on the host
	netBW    float64 // NET: what is left of its speed
	localGPU int     // NET: the GPU it serves, −1
	links    []*link
	paths    [numVertexKinds][]path
	used     uint64 // GPU: bit by channel
}

// system is what NCCL searches: the GPUs of a node (or of all hosts that share NVSwitches)
// with what joins them.
type system struct {
	of      [numVertexKinds][]*vertex
	cpu     CPU
	inter   bool // other systems take part
	nets    int  // NICs of the machine, also where the network is not used
	hosts   int
	gdr     bool
	level   pathKind             // how far apart GPUDirect RDMA reaches
	maxBW   float64              // of a channel
	total   float64              // of a GPU's links
	choices [pathDIS + 1][][]int // NICs to try, by the worst path allowed and by GPU, for all behind them; nil: not known yet
	near    [][]int              // by GPU: the others, the nearest first; nil: not known yet
	p2p     string               // how far apart GPUs reach one another at most; "": as NCCL decides
	apart   map[[2]int]bool      // GPUs between which PCIe peer-to-peer does not work
	staged  map[[2]int]bool      // GPUs that exchange data through host memory
}

// gdrLevel is a topology's.
func gdrLevel(t *topology.Topology) pathKind {
	return pathKind(slices.Index(pathNames[:], t.GDRLevel().String()))
}

func (s *system) add(kind vertexKind, host int32) *vertex {
	v := &vertex{kind: kind, index: len(s.of[kind]), host: host, localGPU: -1}
	s.of[kind] = append(s.of[kind], v)
	return v
}

// connect adds bandwidth from a to b. Links are kept by descending bandwidth, the order
// in which NCCL walks them.
func connect(a, b *vertex, kind linkKind, bw float64) {
	i := slices.IndexFunc(a.links, func(l *link) bool { return l.to == b && l.kind == kind })
	if i < 0 {
		i = len(a.links)
		a.links = append(a.links, &link{kind: kind, to: b})
	}
	a.links[i].bw = round3(a.links[i].bw + bw)
	for ; i > 0 && a.links[i-1].bw < a.links[i].bw; i-- {
		a.links[i-1], a.links[i] = a.links[i], a.links[i-1]
	}
}

// round3 rounds as NCCL does after every addition, so that what is taken from a link
// can be put back. No bandwidth is negative: Floor, one instruction, does for Round.
func round3(x float64) float64 { return math.Floor(x*1000+0.5) / 1000 }

// systemBuilder turns the part of a topology that belongs to one system into NCCL's
// picture of it.
type systemBuilder struct {
	t    *topology.Topology
	s    *system
	cc   []int // by rank
	made map[topology.DeviceID]*vertex
	nvs  *vertex
}

// buildSystem makes the system of the given ranks. Devices of the nodes they are on
// belong to it; NVSwitches become one vertex, as in ncclTopoAddNvLinks.
func buildSystem(t *topology.Topology, m *machine, ranks []int, inter bool) *system {
	b := &systemBuilder{t: t, cc: m.cc, made: map[topology.DeviceID]*vertex{},
		s: &system{cpu: m.cpu, inter: inter, gdr: !m.noGDR, level: gdrLevel(t), p2p: m.p2p}}
	hosts := map[int32]bool{}
	for _, r := range ranks {
		hosts[int32(t.NodeOf(r))] = true
	}
	b.s.hosts = len(hosts)
	b.vertices(hosts, ranks)
	b.pcieLinks()
	b.scaleUpLinks()
	b.socketLinks()
	b.upLinksLast()
	b.s.apart = apart(t, ranks)
	return b.s
}

// apart are the pairs of a system's ranks that have peer-to-peer neither over NVLink nor over PCIe.
func apart(t *topology.Topology, ranks []int) map[[2]int]bool {
	out := map[[2]int]bool{}
	if !t.HasStaged() {
		return out
	}
	router := topology.NewRouter(t)
	for i, a := range ranks {
		for j, b := range ranks {
			if i != j && router.Staged(a, b) {
				out[[2]int{i, j}] = true
			}
		}
	}
	return out
}

func (b *systemBuilder) vertices(hosts map[int32]bool, ranks []int) {
	kinds := map[topology.Kind]vertexKind{topology.PCIeSwitch: vPCI, topology.CPU: vCPU, topology.NIC: vNIC}
	for id, d := range b.t.Devices() {
		if kind, ok := kinds[d.Kind]; ok && hosts[d.Node] {
			if kind == vNIC {
				b.s.nets++
				if !b.s.inter { // only the network uses them
					continue
				}
			}
			b.made[topology.DeviceID(id)] = b.s.add(kind, d.Node)
		}
	}
	numbers := gpuNumbers(b.t)
	for _, r := range ranks {
		id := b.t.Ranks()[r]
		v := b.s.add(vGPU, b.t.Devices()[id].Node)
		v.cc, v.dev = b.cc[r], numbers[id]
		b.made[id] = v
	}
}

// gpuNumbers numbers the GPUs of each node as the driver does, used or not.
func gpuNumbers(t *topology.Topology) map[topology.DeviceID]int {
	out, next := map[topology.DeviceID]int{}, map[int32]int{}
	for id, d := range t.Devices() {
		if d.Kind == topology.GPU {
			out[topology.DeviceID(id)] = next[d.Node]
			next[d.Node]++
		}
	}
	return out
}

// pcieLinks joins PCIe devices, and every NIC to its port.
func (b *systemBuilder) pcieLinks() {
	for i, l := range b.t.Links() {
		from, to := b.made[l.From], b.made[l.To]
		if from == nil || to == nil || b.t.Class(topology.LinkID(i)).Medium != topology.PCIe {
			continue
		}
		connect(from, to, linkPCI, pcieBW(b.t.Rate(topology.LinkID(i)).GBps()))
	}
	for id, v := range b.made {
		if v.kind == vNIC {
			v.netBW = b.networkRate(id)
		}
	}
	for _, nic := range b.s.of[vNIC] { // in order, unlike the map
		net := b.s.add(vNET, nic.host)
		net.netBW = nic.netBW
		connect(nic, net, linkNET, net.netBW)
		connect(net, nic, linkNET, net.netBW)
	}
}

// pcieBW is what NCCL expects of a PCIe link: 12 GB/s where the line carries 15.75.
func pcieBW(rate float64) float64 { return round3(rate * 12 / 15.75) }

// networkRate is the speed of a NIC, GB/s.
func (b *systemBuilder) networkRate(nic topology.DeviceID) float64 {
	sum := 0.0
	for _, l := range b.t.Out(nic) {
		if b.t.Class(l).Medium == topology.Network {
			sum += b.t.Rate(l).GBps()
		}
	}
	return sum
}

// scaleUpLinks joins GPUs to one another, to the NVSwitch and to CPUs.
func (b *systemBuilder) scaleUpLinks() {
	for i, l := range b.t.Links() {
		id := topology.LinkID(i)
		switch b.t.Class(id).Medium {
		case topology.NVLink:
			b.nvlink(l)
		case topology.C2C:
			if from, to := b.made[l.From], b.made[l.To]; from != nil && to != nil {
				connect(from, to, linkC2C, b.t.Rate(id).GBps())
			}
		}
	}
}

func (b *systemBuilder) nvlink(l topology.Link) {
	from, to := b.nvlinkEnd(l.From, l.To), b.nvlinkEnd(l.To, l.From)
	if from == nil || to == nil || from == to {
		return
	}
	gpu := from
	if gpu.kind != vGPU {
		gpu = to
	}
	connect(from, to, linkNVL, float64(l.Count)*nvlinkBW(gpu.cc))
}

// nvlinkEnd is the vertex of an NVLink's end; nil where neither end is one of our GPUs.
func (b *systemBuilder) nvlinkEnd(d, other topology.DeviceID) *vertex {
	if v := b.made[d]; v != nil {
		return v
	}
	if b.t.Devices()[d].Kind != topology.NVSwitch || b.made[other] == nil {
		return nil
	}
	if b.nvs == nil {
		b.nvs = b.s.add(vNVS, b.made[other].host)
	}
	return b.nvs
}

// socketLinks joins the CPUs of a host, all to all, at what NCCL expects of the vendor.
func (b *systemBuilder) socketLinks() {
	for _, a := range b.s.of[vCPU] {
		for _, c := range b.s.of[vCPU] {
			if a != c && a.host == c.host {
				connect(a, c, linkSYS, b.s.cpu.socketBW())
			}
		}
	}
}

// upLinksLast moves the link towards the CPU behind the others in the PCIe tree, so
// that walks look down before up.
func (b *systemBuilder) upLinksLast() {
	seen := map[*vertex]bool{}
	var sort func(v, up *vertex)
	sort = func(v, up *vertex) {
		seen[v] = true
		if i := slices.IndexFunc(v.links, func(l *link) bool { return l.to == up }); up != nil && i >= 0 {
			l := v.links[i]
			v.links = append(slices.Delete(v.links, i, i+1), l)
		}
		for _, l := range slices.Clone(v.links) {
			if l.kind == linkPCI && !seen[l.to] {
				sort(l.to, v)
			}
		}
	}
	for _, cpu := range b.s.of[vCPU] {
		sort(cpu, nil)
	}
}
