package doctor

import (
	"slices"
	"strconv"

	"railyard/model/health"
	"railyard/model/topology"
)

// effect is what findings do to a machine.
type effect struct {
	faults  func(t *topology.Topology, e *health.Effect) []topology.Fault // of a topology, that are the same
	network bool                                                          // asked over the network as well, where there is one
}

var effects = map[string]effect{
	"nvlink": {func(t *topology.Topology, e *health.Effect) []topology.Fault {
		return slower(t, e, topology.NVLink, topology.XGMI)
	}, false},
	"pcie": {func(t *topology.Topology, e *health.Effect) []topology.Fault { return slower(t, e, topology.PCIe) }, true},
	"gpu":  {lost, false},
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

// slower leaves a share of the rate of GPUs' links, both ways.
func slower(t *topology.Topology, e *health.Effect, media ...topology.Medium) (out []topology.Fault) {
	if e.Left >= 1 {
		return nil
	}
	for _, name := range e.Parts {
		d, ok := gpuOf(t, name)
		if !ok {
			continue
		}
		for _, l := range over(t, d, media...) {
			f := topology.Fault{Part: topology.LinkPart, Rate: e.Left,
				Name: t.DeviceName(d) + "--" + t.DeviceName(t.Links()[l].To)}
			if !slices.ContainsFunc(out, f.Repeats) {
				out = append(out, f)
			}
		}
	}
	return out
}

// lost are GPUs that are gone.
func lost(t *topology.Topology, e *health.Effect) (out []topology.Fault) {
	for _, name := range e.Parts {
		if d, ok := gpuOf(t, name); ok {
			out = append(out, topology.Fault{Part: topology.GPUPart, Name: t.DeviceName(d)})
		}
	}
	return out
}
