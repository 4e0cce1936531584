package doctor

import (
	"fmt"
	"slices"
	"strconv"

	"railyard/model/cost"
	"railyard/model/health"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/sim/nccl"
	"railyard/study"
)

// effect is what findings do to a machine: faults of its topology, another way to run NCCL, or a clock.
type effect struct {
	faults func(c *costs, t *topology.Topology, e *health.Effect) ([]topology.Fault, error)
	less   func(t *topology.Topology) *topology.Topology              // in their place: what a setting of the machine takes from it
	asked  func(a study.Asked, e *health.Effect) (health.Cost, error) // of NCCL
	of     string                                                     // what takes longer by what is left, whatever the topology
	how    string                                                     // where that, or what faults stand for, comes from
	host   bool                                                       // copies to the host do, where collectives do not
	nodes  []int
}

// inside asks about one node, across about two, either about both.
var inside, across, either = []int{1}, []int{2}, []int{1, 2}

var effects = map[string]effect{
	"links":     {faults: ofGPUs(between...), nodes: inside},
	"link":      {faults: oneLink, nodes: inside},
	"link-lost": {faults: linksLost, nodes: inside, how: "once it fails, as such links do next"},
	"pcie":      {faults: ofGPUs(topology.PCIe), nodes: either, host: true},
	"p2p":       {faults: noPeers, nodes: inside, how: "assumed: none of its peers, neither over NVLink nor over PCIe"},
	"acs": {faults: throughRoot, nodes: across,
		how: "derived: between GPUs and adapters of one switch all goes up to the CPU and down again"},
	"gpu":    {faults: lost, nodes: inside},
	"nic":    {faults: adaptersLeft, nodes: across},
	"nics":   {faults: withoutAdapters, nodes: across},
	"staged": {faults: staged, nodes: across},
	"gpudirect": {less: func(t *topology.Topology) *topology.Topology { return t.WithGDRLevel(topology.Local) }, nodes: across,
		how: "derived: what is staged goes up to the CPU and down again, and shares that way"},
	"clock":    {of: "arithmetic", how: "ratio of clocks"},
	"power":    {of: "arithmetic", how: "assumed: power grows with the cube of the clock; memory and links keep their rates"},
	"access":   {of: "kernels that access memory so", how: "ratio of rates"},
	"overlap":  {of: "what overlapped, at most", how: "derived: two kernels that took equally long, one after the other"},
	"shm":      {asked: overAdapters, nodes: either},
	"channels": {asked: fewerChannels, nodes: either},
	"buffer":   {asked: smallerBuffer, nodes: across},
	"graph":    {of: "what NCCL does by them", how: "derived: what channels carry by NCCL's own figures"},
	"nvls-off": {asked: runs(study.Library{Options: nccl.Options{NVLS: nccl.Off}}), nodes: inside},
	"sockets":  {asked: runs(study.Library{Options: nccl.Options{Fabric: cost.Sockets}}), nodes: across},
	"algorithm": {asked: fewerChoices(nccl.AllowedAlgorithms, func(name string) study.Library { return study.Library{Algorithm: name} }),
		nodes: either},
	"protocol": {asked: fewerChoices(nccl.AllowedProtocols, func(name string) study.Library { return study.Library{Protocol: name} }),
		nodes: either},
}

// broken is the machine with what findings do to it; nil where that is nothing.
func (of *effect) broken(c *costs, t *topology.Topology, e *health.Effect) (*topology.Topology, error) {
	if of.less != nil {
		return of.less(t), nil
	}
	faults, err := of.faults(c, t, e)
	if err != nil || len(faults) == 0 {
		return nil, err
	}
	return t.Degrade(faults)
}

// over are a device's links of some media.
func over(t *topology.Topology, d topology.DeviceID, media ...topology.Medium) (out []topology.LinkID) {
	for _, l := range t.Out(d) {
		if slices.Contains(media, t.Class(l).Medium) {
			out = append(out, l)
		}
	}
	return out
}

// gpuOf is the GPU of a number in the first node.
func gpuOf(t *topology.Topology, name string) (topology.DeviceID, bool) {
	n, err := strconv.Atoi(name)
	if err != nil || n < 0 || n >= t.NumRanks() || t.NodeOf(n) != 0 {
		return 0, false
	}
	return t.Ranks()[n], true
}

// gpusOf are the GPUs of an effect in the first node; all of them where its parts are no GPUs, as variables are not.
func gpusOf(t *topology.Topology, e *health.Effect) (out []topology.DeviceID) {
	for _, name := range e.Parts {
		if d, ok := gpuOf(t, health.OfLink(name)); ok {
			out = append(out, d)
		}
	}
	for r, d := range t.Ranks() {
		if _, err := strconv.Atoi(health.OfLink(e.Parts[0])); err != nil && t.NodeOf(r) == 0 {
			out = append(out, d)
		}
	}
	return out
}

// left leaves a share of the rates of links, both ways; 0: they fail.
func left(t *topology.Topology, d topology.DeviceID, links []topology.LinkID, share float64, into []topology.Fault) []topology.Fault {
	for _, l := range links {
		f := topology.Fault{Part: topology.LinkPart, Rate: share, Name: t.DeviceName(d) + "--" + t.DeviceName(t.Links()[l].To)}
		if share < 1 && !slices.ContainsFunc(into, f.Repeats) {
			into = append(into, f)
		}
	}
	return into
}

// ofGPUs leaves a share of the rate of GPUs' links of some media.
func ofGPUs(media ...topology.Medium) func(*costs, *topology.Topology, *health.Effect) ([]topology.Fault, error) {
	return func(_ *costs, t *topology.Topology, e *health.Effect) (out []topology.Fault, err error) {
		for _, d := range gpusOf(t, e) {
			out = left(t, d, over(t, d, media...), e.Left, out)
		}
		return out, nil
	}
}

// oneLink leaves a share of one NVLink of a GPU's: since traffic is spread evenly, of all.
func oneLink(c *costs, t *topology.Topology, e *health.Effect) (out []topology.Fault, err error) {
	for _, name := range e.Parts {
		d, ok := gpuOf(t, health.OfLink(name))
		if !ok {
			continue
		}
		out = left(t, d, over(t, d, between...), e.Left, out)
	}
	return out, nil
}

// linksLost takes NVLinks of GPUs away.
func linksLost(_ *costs, t *topology.Topology, e *health.Effect) (out []topology.Fault, err error) {
	lost := map[string]int{} // by GPU
	for _, name := range e.Parts {
		lost[health.OfLink(name)]++
	}
	for _, name := range e.Parts {
		if d, ok := gpuOf(t, health.OfLink(name)); ok {
			n := linksOf(t, d, between...)
			out = left(t, d, over(t, d, between...), float64(n-lost[health.OfLink(name)])/float64(max(n, 1)), out)
		}
	}
	return out, nil
}

// noPeers takes GPUs' scale-up links and PCIe's peer-to-peer away, so that they exchange through host memory.
func noPeers(_ *costs, t *topology.Topology, e *health.Effect) (out []topology.Fault, err error) {
	for _, d := range gpusOf(t, e) {
		out = left(t, d, over(t, d, between...), 0, out)
		out = append(out, topology.Fault{Part: topology.PeerPart, Name: t.DeviceName(d)})
	}
	return out, nil
}

// throughRoot leaves adapters what the way from their PCIe switch up to the CPU has for each: what it and its GPUs exchange goes up and
// down again, and both ways at once.
func throughRoot(_ *costs, t *topology.Topology, _ *health.Effect) (out []topology.Fault, err error) {
	r, up, sharing := topology.NewRouter(t), map[topology.DeviceID]topology.LinkID{}, map[topology.LinkID]units.Rate{}
	nics := nicsOf(t)
	for rank := range t.Ranks() {
		host, ok := r.ToHost(rank)
		for _, p := range r.NICs(rank) {
			for _, h := range host.Hops {
				below := t.Devices()[t.Links()[h.Link].From].Kind == topology.PCIeSwitch
				if _, known := up[p.NIC]; ok && below && !known && p.Kind <= topology.PXB && slices.Contains(nics, p.NIC) {
					up[p.NIC] = h.Link
					sharing[h.Link] += units.Rate(rateOf(t, p.NIC, topology.Network) * 1e9)
				}
			}
		}
	}
	for _, nic := range nics {
		if l, ok := up[nic]; ok {
			share := float64(t.Rate(l)) / (2 * float64(sharing[l]))
			if share < 1 {
				out = append(out, topology.Fault{Part: topology.NICPart, Name: t.DeviceName(nic), Rate: share})
			}
		}
	}
	return out, nil
}

// lost are GPUs that are gone.
func lost(_ *costs, t *topology.Topology, e *health.Effect) (out []topology.Fault, err error) {
	for _, d := range gpusOf(t, e) {
		out = append(out, topology.Fault{Part: topology.GPUPart, Name: t.DeviceName(d)})
	}
	return out, nil
}

// adaptersLeft leaves a share of the rate of as many adapters; which ones does not matter where all are alike.
func adaptersLeft(_ *costs, t *topology.Topology, e *health.Effect) (out []topology.Fault, err error) {
	for _, d := range nicsOf(t) {
		if len(out) < len(e.Parts) && e.Left < 1 {
			out = append(out, topology.Fault{Part: topology.NICPart, Name: t.DeviceName(d), Rate: e.Left})
		}
	}
	return out, nil
}

// withoutAdapters leaves a share of all adapters.
func withoutAdapters(_ *costs, t *topology.Topology, e *health.Effect) (out []topology.Fault, err error) {
	nics := nicsOf(t)
	for _, d := range nics[:len(nics)-int(e.Left*float64(len(nics)))] {
		out = append(out, topology.Fault{Part: topology.NICPart, Name: t.DeviceName(d)})
	}
	return out, nil
}

// staged leaves the adapters of GPUs what transfers staged through host memory get of those that are not.
func staged(c *costs, t *topology.Topology, e *health.Effect) (out []topology.Fault, err error) {
	for _, d := range gpusOf(t, e) {
		share, err := c.stagedShare(t, t.RankOf(d))
		if err != nil {
			return nil, err
		}
		for _, nic := range servedBy(t, t.RankOf(d)) {
			f := topology.Fault{Part: topology.NICPart, Name: t.DeviceName(nic), Rate: share}
			if share < 1 && !slices.ContainsFunc(out, f.Repeats) {
				out = append(out, f)
			}
		}
	}
	return out, nil
}

// servedBy are the adapters that a rank sends to the next node over.
func servedBy(t *topology.Topology, rank int) []topology.DeviceID {
	route, err := topology.NewRouter(t).Route(rank, rank+t.NumRanks()/t.NumNodes())
	if err != nil || len(route.NICs) == 0 {
		return nil
	}
	return route.NICs[:1]
}

// runs asks about NCCL run in one way, whatever the finding says.
func runs(l study.Library) func(study.Asked, *health.Effect) (health.Cost, error) {
	return func(a study.Asked, _ *health.Effect) (health.Cost, error) { return otherwise(a, l) }
}

// overAdapters is what it costs that GPUs of a node do over their adapters what NCCL does through host memory, which is between GPUs that
// are joined by more than PCIe switches; at line rates. Nothing where there are none, and not known without a network.
func overAdapters(a study.Asked, _ *health.Effect) (health.Cost, error) {
	r, t := topology.NewRouter(a.Topology), a.Topology
	x := health.Cost{Known: true, How: "derived: all GPUs of " + t.Name() + " reach one another over NVLink or PCIe switches"}
	for rank := range t.NumRanks() / t.NumNodes() {
		route, err := r.Route(0, rank)
		if err != nil {
			return x, err
		}
		if route.Kind < topology.PHB || route.Kind == topology.Net {
			continue // NCCL sends from GPU to GPU
		}
		line := 0. // GB/s of the adapters that serve it
		for _, p := range r.NICs(rank) {
			line += rateOf(t, p.NIC, topology.Network)
		}
		if line == 0 {
			return health.Cost{}, nil
		}
		x.Of, x.How = "what GPUs of a node exchange", "derived: line rates of host memory and of adapters of "+t.Name()
		x.Share = max(x.Share, route.Rate.GBps()/line-1)
	}
	x.Best = x.Share
	return x, nil
}

// smallerBuffer is what it costs that channels have no more under way than a buffer of that size holds.
func smallerBuffer(a study.Asked, e *health.Effect) (health.Cost, error) {
	bytes, ok := integer(e.Value)
	if !ok || bytes < 1 {
		return health.Cost{}, nil // as NCCL passes over it
	}
	return otherwise(a, study.Library{Options: nccl.Options{Buffer: units.Bytes(bytes)}})
}

// fewerChannels is what a limit of NCCL's channels costs: each moves as much at most as where it opens all that it wants.
func fewerChannels(a study.Asked, e *health.Effect) (x health.Cost, err error) {
	limit, ok := integer(e.Value)
	if !ok || limit < 1 {
		return x, nil // as NCCL passes over it
	}
	r, err := study.NCCL(a.Topology, a.Machine, nccl.Options{})
	if err != nil {
		return x, err
	}
	n := r.Channels(a.Collective.Kind, size)
	more := max(float64(n)/float64(limit)-1, 0)
	return health.Cost{Known: n > 0, Share: more, Best: more,
		How: fmt.Sprintf("derived: NCCL opens %d channels for it by its own model, and each moves as much", n)}, nil
}
