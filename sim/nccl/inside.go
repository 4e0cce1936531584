package nccl

import (
	"railyard/model/cost"
	"railyard/model/topology"
)

// inside is what a ring crosses in a node: the medium of scale-up links, where it needs nothing else; PCIe; or host
// memory, where NCCL does not send from GPU to GPU. It does over PCIe switches alone (NCCL_P2P_LEVEL, PXB), on two
// GPUs of AMD servers over the CPUs too, and nowhere where the hardware cannot. These are kernels of their own.
func (r *Runtime) inside() string {
	worst := r.rates.inside
	if r.model == nil {
		if worst == topology.PCIe.String() && r.byHost() {
			worst = cost.HostMemory
		}
		return worst
	}
	for i, s := range r.model.found {
		if len(r.model.m.systems[i]) < 2 || s.ring.n == 0 || s.ring.typeIntra <= pathC2C {
			continue
		}
		if worst != cost.HostMemory {
			worst = topology.PCIe.String()
		}
		order := s.ring.intra[0]
		for at, gpu := range order {
			if at+1 < len(order) && s.staged[[2]int{gpu, order[at+1]}] {
				worst = cost.HostMemory
			}
		}
	}
	return worst
}

// byHost reports whether neighbours of a node, of GPUs that NCCL does not know, are joined by CPUs or not at all.
func (r *Runtime) byHost() bool {
	router := topology.NewRouter(r.topo)
	for a := range r.rates.ranks - 1 {
		if r.topo.NodeOf(a) != r.topo.NodeOf(a+1) {
			continue
		}
		if route, err := router.Route(a, a+1); err == nil && route.Kind >= topology.PHB && route.Kind != topology.Net {
			return true
		}
	}
	return false
}
