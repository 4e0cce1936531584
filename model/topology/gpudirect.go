package topology

import (
	"fmt"
	"math"
	"slices"

	"railyard/model/units"
)

// NICPath is how a rank reaches a network adapter of its node.
type NICPath struct {
	NIC  DeviceID
	Kind RouteKind // PIX, PXB, PHB, SYS; HostStaged where a CPU on the way passes no peer-to-peer on
	C2C  bool      // by a chip-to-chip link to the CPU that the adapter hangs on (NCCL's P2C)
	// Bridged ways lead between host bridges of a CPU.
	Bridged bool
}

// NICs are the ways from a rank to the adapters that serve it.
func (r *Router) NICs(rank int) (out []NICPath) {
	for _, nic := range r.nicsOf(r.t.ranks[rank]) {
		if p, ok := r.PathToNIC(r.t.ranks[rank], nic); ok {
			out = append(out, p)
		}
	}
	return out
}

// PathToNIC is the way from a device to an adapter of the same node; false where no PCIe leads there.
func (r *Router) PathToNIC(from, nic DeviceID) (NICPath, bool) {
	p, ok := r.hostPath(from, nic)
	if !ok || len(p.hops) == 0 {
		return NICPath{}, false
	}
	kind := r.pcieKind(p)
	return NICPath{NIC: nic, Kind: kind, C2C: kind == PHB && r.t.Class(p.hops[0].Link).Medium == C2C, Bridged: r.Bridged(p.hops)}, true
}

// GDRLevel is how far apart a GPU and an adapter may be for GPUDirect RDMA unless NCCL_NET_GDR_LEVEL says otherwise:
// or the topology's gdr_level: below one host bridge (ncclTopoCheckGdr, NCCL 2.30).
const GDRLevel = PXB

// GPUDirect reports whether the adapter reads and writes the GPU's memory itself, at a level of NCCL_NET_GDR_LEVEL; if not,
// data are staged through host memory. NCCL_NET_GDR_C2C, which is on, lets adapters use a chip-to-chip link.
func (p NICPath) GPUDirect(level RouteKind) bool { return p.C2C || p.Kind <= level }

// wayToNIC is the way from a GPU to an adapter of its node, or back: over host memory where the adapter does not reach the GPU's memory
// itself, which takes longer than what costs have that were measured with GPUDirect RDMA.
func (r *Router) wayToNIC(from, to DeviceID) (path, bool) {
	key := r.pairIn(from, to)
	known, asked := r.toNIC[key]
	if !asked {
		known.way, known.ok = r.findNIC(from, to)
		shift(known.way.hops, -r.t.nodes[r.t.devices[from].Node].firstLink)
		r.toNIC[key] = known
	}
	out := known.way
	out.hops = slices.Clone(out.hops)
	shift(out.hops, r.t.nodes[r.t.devices[from].Node].firstLink)
	return out, known.ok
}

func (r *Router) findNIC(from, to DeviceID) (path, bool) {
	direct, ok := r.hostPath(from, to)
	gpu, nic := from, to
	if r.t.devices[from].Kind == NIC {
		gpu, nic = to, from
	}
	if way, known := r.PathToNIC(gpu, nic); !known || r.t.devices[gpu].Kind != GPU || way.GPUDirect(r.gdr) {
		return direct, ok
	}
	staged, found := r.overMemory(from, to)
	if !found {
		return direct, ok
	}
	staged.latency = staged.latency.staged().instead(direct.latency)
	return staged, true
}

// Reaching is a router of the same topology whose adapters reach GPUs' memory up to a level, HostStaged everywhere.
func (r *Router) Reaching(level RouteKind) *Router {
	out := NewRouter(r.t)
	out.gdr = level
	return out
}

// GDRLevel is how far apart a GPU and an adapter may be for GPUDirect RDMA on this machine.
func (t *Topology) GDRLevel() RouteKind { return t.gdr }

// WithGDRLevel is the machine with that level.
func (t *Topology) WithGDRLevel(level RouteKind) *Topology {
	return t.changed(func(out *Topology) { out.gdr = level })
}

// GDRLevels are the levels as NCCL_NET_GDR_LEVEL names them.
var GDRLevels = []string{"LOC", "PIX", "PXB", "PHB", "SYS"}

// ParseGDRLevel reads a level.
func ParseGDRLevel(text string) (level RouteKind, ok bool) {
	i := slices.Index(routeNames[:], text)
	return RouteKind(i), i >= 0 && slices.Contains(GDRLevels, text)
}

// StagedNICs says which ranks reach an adapter of their own by host memory only, at the usual level; "" where there is none,
// or no other node.
func (t *Topology) StagedNICs() string {
	type key struct{}
	return Once(t, key{}, t.stagedNICs)
}

func (t *Topology) stagedNICs() string {
	if t.NumNodes() < 2 {
		return ""
	}
	r, first, ranks, farthest := NewRouter(t), "", 0, Local
	for rank, d := range t.ranks {
		ways := r.NICs(rank)
		k := slices.IndexFunc(ways, func(p NICPath) bool { return !p.GPUDirect(t.gdr) })
		if k < 0 || t.devices[d].Kind != GPU {
			continue
		}
		farthest = max(farthest, ways[k].Kind)
		if ranks++; ranks == 1 {
			first = fmt.Sprintf("%s to %s: %v", t.DeviceName(d), t.DeviceName(ways[k].NIC), ways[k].Kind)
		}
	}
	if ranks == 0 {
		return ""
	}
	said := fmt.Sprintf("%s of %d reach their adapters farther than %v (%s): data are staged through host memory, without GPUDirect RDMA",
		units.Counted(ranks, "GPU"), len(t.ranks), t.gdr, first)
	if farthest == HostStaged { // whatever the level
		return said
	}
	return said + fmt.Sprintf(", unless NCCL_NET_GDR_LEVEL says otherwise (--set gdr_level=%v)", farthest)
}

// NearestCPUs are the processors that a device reaches over the fewest PCIe switches.
func (r *Router) NearestCPUs(d DeviceID) (out []DeviceID) {
	if r.t.devices[d].Node < 0 {
		return nil
	}
	first := r.t.nodes[r.t.devices[d].Node].firstDevice
	search := newHostSearch(r.shapeOf(d))
	search.from(d-first, false, false)
	least := int32(math.MaxInt32)
	for _, local := range search.met {
		if n := search.dist[local]; search.s.devices[local].Kind == CPU && n <= least {
			least, out = n, append(out, first+local)
		}
	}
	return out
}

// NUMA is the number of a CPU among those of its node.
func (r *Router) NUMA(cpu DeviceID) int { return slices.Index(r.ofNode(cpu, CPU), cpu) }
