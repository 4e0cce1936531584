package doctor

import (
	"slices"
	"strconv"

	"railyard/model/cost"
	"railyard/model/health"
	"railyard/model/topology"
	"railyard/sim/nccl"
	"railyard/study"
)

// effect is what findings do to a machine: faults of its topology, another way to run NCCL, or a clock.
type effect struct {
	faults  func(c *costs, t *topology.Topology, e *health.Effect) ([]topology.Fault, error)
	library func(e *health.Effect) study.Library
	clock   bool // arithmetic takes longer, whatever the topology
	host    bool // copies to the host do, where collectives do not
	nodes   []int
}

// inside asks about one node, across about two, either about both.
var inside, across, either = []int{1}, []int{2}, []int{1, 2}

var effects = map[string]effect{
	"nvlink":    {faults: ofGPUs(topology.NVLink, topology.XGMI), nodes: inside},
	"link":      {faults: oneLink, nodes: inside},
	"pcie":      {faults: ofGPUs(topology.PCIe), nodes: either, host: true},
	"p2p":       {faults: noPeers, nodes: inside},
	"gpu":       {faults: lost, nodes: inside},
	"nic":       {faults: adaptersLeft, nodes: across},
	"nics":      {faults: adaptersGone, nodes: across},
	"staged":    {faults: staged, nodes: across},
	"clock":     {clock: true},
	"nvls-off":  {library: runs(study.Library{Options: nccl.Options{NVLS: nccl.Off}}), nodes: inside},
	"sockets":   {library: runs(study.Library{Options: nccl.Options{Fabric: cost.Sockets}}), nodes: across},
	"algorithm": {library: func(e *health.Effect) study.Library { return study.Library{Algorithm: e.Value} }, nodes: either},
	"protocol":  {library: func(e *health.Effect) study.Library { return study.Library{Protocol: e.Value} }, nodes: either},
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
		if d, ok := gpuOf(t, name); ok {
			out = append(out, d)
		}
	}
	for r, d := range t.Ranks() {
		if _, err := strconv.Atoi(e.Parts[0]); err != nil && t.NodeOf(r) == 0 {
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
		gpu, _, _ := cutLink(name)
		d, ok := gpuOf(t, gpu)
		if !ok {
			continue
		}
		out = left(t, d, over(t, d, topology.NVLink, topology.XGMI), e.Left, out)
	}
	return out, nil
}

// noPeers takes GPUs' scale-up links away, so that they exchange over PCIe or through host memory.
func noPeers(_ *costs, t *topology.Topology, e *health.Effect) (out []topology.Fault, err error) {
	for _, d := range gpusOf(t, e) {
		out = left(t, d, over(t, d, topology.NVLink, topology.XGMI), 0, out)
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

// adaptersGone leaves a share of all adapters.
func adaptersGone(_ *costs, t *topology.Topology, e *health.Effect) (out []topology.Fault, err error) {
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

// runs is NCCL run in one way, whatever the finding says.
func runs(l study.Library) func(*health.Effect) study.Library {
	return func(*health.Effect) study.Library { return l }
}
