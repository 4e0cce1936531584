package topology

// Root is the PCIe host bridge that the root port above a device stands at, as the file calls it; "" where it does not say. Routes and
// times do not depend on it.
func (t *Topology) Root(d DeviceID) string { return t.described(d).root }

// Processors are the logical processors of a cpu as ranges (0-47,96-143); "" where the file does not say. Nothing depends on them.
func (t *Topology) Processors(d DeviceID) string { return t.described(d).cpus }

// Bridged reports whether a way through one CPU leads between its host bridges (NODE of nvidia-smi topo -m; NCCL has one word for both,
// PHB, so that no choice depends on it). Where the file does not say, PCIe switches are taken to stand at host bridges of their own,
// and devices without one to share theirs.
func (r *Router) Bridged(hops []Hop) bool {
	for i := 1; i < len(hops); i++ {
		in, out := r.t.links[hops[i-1].Link], r.t.links[hops[i].Link]
		if r.t.devices[in.To].Kind != CPU {
			continue
		}
		if a, b := r.t.Root(in.From), r.t.Root(out.To); a != "" && b != "" {
			return a != b
		}
		return r.t.devices[in.From].Kind == PCIeSwitch && r.t.devices[out.To].Kind == PCIeSwitch
	}
	return false
}
