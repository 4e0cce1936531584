package nccl

import "slices"

// measure sets the most that a channel and that a GPU can carry (ncclTopoSearchInit).
func (s *system) measure() {
	if !s.inter && len(s.of[vGPU]) == 1 {
		s.maxBW, s.total = localBW, localBW
		return
	}
	to := vGPU
	if s.inter {
		to = vNET
	}
	for _, gpu := range s.of[vGPU] {
		for _, p := range gpu.paths[to] {
			if len(p.hops) > 0 {
				s.maxBW = max(s.maxBW, p.bw)
			}
		}
		s.total = max(s.total, gpu.carries())
	}
}

// carries is the sum of a GPU's NVLinks or its link to the host, whichever is more.
func (v *vertex) carries() float64 {
	nvlink, host := 0.0, 0.0
	for _, l := range v.links {
		switch l.kind {
		case linkNVL:
			nvlink += l.bw
		case linkPCI, linkC2C:
			host = l.bw
		}
	}
	return max(nvlink, host)
}

// charge takes bw from the first steps links of a path that starts at v, and returns how
// many could give it: all, or the number before the first that could not. A negative bw
// gives it back.
func (s *system) charge(p *path, v *vertex, steps int, bw float64) int {
	pcie := bw
	if p.kind == pathPHB && v.kind == vGPU && s.cpu.intel() && passesCPU(p) {
		pcie = bw * 6 / 5 // Intel's root complex splits peer-to-peer traffic into small packets
	}
	start := v
	for i, l := range p.hops[:steps] {
		forth, back := bw, 0.0
		if l.kind == linkPCI {
			forth = pcie
		}
		if l.to.kind == vGPU && l.to.cc < 80 && start.kind != vGPU {
			back += forth / 8 // acknowledgements of GPUs before Ampere
		}
		if l.to.kind == vCPU && s.cpu == POWER && l.kind == linkNVL {
			back += forth
		}
		var r *link
		if back != 0 {
			r = reverse(v, l)
		}
		if l.bw < forth || r != nil && r.bw < back {
			return i
		}
		l.bw = round3(l.bw - forth)
		if r != nil {
			r.bw = round3(r.bw - back)
		}
		v = l.to
	}
	return steps
}

func passesCPU(p *path) bool {
	return slices.ContainsFunc(p.hops, func(l *link) bool { return l.to.kind == vCPU })
}

// follow takes times the channel's bandwidth along the path from a to b, and reports
// whether it could (ncclTopoFollowPath). Nothing is taken where it could not.
func (s *system) follow(c *channels, a, b *vertex, times float64) bool {
	p := &a.paths[b.kind][b.index]
	bw, worst := c.bwInter, c.typeInter
	if a.inside() && b.inside() {
		bw, worst = c.bwIntra, c.typeIntra
	}
	tree := c.pattern == balancedTree || c.pattern == plainTree
	switch {
	case p.kind >= pathDIS:
		return false
	case times == 1 && p.kind > worst:
		return false
	case times == 1 && tree && b.paths[a.kind][a.index].kind > worst:
		return false
	}
	if n := s.charge(p, a, len(p.hops), bw*times); n < len(p.hops) {
		s.charge(p, a, n, -bw*times)
		return false
	}
	c.hops += int(times) * len(p.hops)
	return true
}

func (v *vertex) inside() bool { return v.kind == vGPU || v.kind == vNVS }
