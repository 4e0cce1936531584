package nccl

import "slices"

// walk finds the best path from every vertex to base, breadth first (ncclTopoSetPaths):
// a better kind wins, then more bandwidth, then fewer hops.
func (s *system) walk(base *vertex) {
	s.pathsTo(base, base.kind)[base.index] = path{bw: localBW, kind: pathLOC}
	for frontier := []*vertex{base}; len(frontier) > 0; {
		var next []*vertex
		queued := map[*vertex]bool{}
		for _, v := range frontier {
			for _, l := range v.links {
				if s.extend(base, v, l) && !queued[l.to] {
					queued[l.to] = true
					next = append(next, l.to)
				}
			}
		}
		frontier = next
	}
}

// extend tries to reach base from l's far end over v, and reports whether that is better
// than what was known.
func (s *system) extend(base, v *vertex, l *link) bool {
	p := &s.pathsTo(v, base.kind)[base.index]
	if v != base && v.kind == vGPU && (l.kind != linkNVL || l.to.kind != vGPU || len(p.hops) > 1) {
		return false // GPUs forward only NVLink, once
	}
	kind, bw := joined(v, l, p), min(p.bw, l.bw)
	q := &s.pathsTo(l.to, base.kind)[base.index]
	better := kind < q.kind || kind == q.kind && (q.bw < bw || q.bw == bw && len(q.hops) > len(p.hops)+1)
	if !better {
		return false
	}
	back := reverse(v, l)
	if back == nil {
		return false
	}
	*q = path{hops: append([]*link{back}, p.hops...), bw: bw, kind: kind}
	return true
}

// joined is the kind of a path that goes over l and then along p.
func joined(v *vertex, l *link, p *path) pathKind {
	kind := l.kind
	switch {
	case l.kind == linkNET:
		kind = pathLOC // only the way from NIC to GPU counts
	case v.kind == vPCI && l.to.kind == vPCI:
		kind = pathPXB
	case l.kind == linkPCI && (v.kind == vCPU || l.to.kind == vCPU):
		kind = pathPHB
	case v.kind == vGPU && p.kind == pathNVL && l.kind == linkNVL && len(p.hops) == 1:
		kind = pathNVB
	}
	return max(kind, p.kind)
}

// reverse is the link that leads back to v.
func reverse(v *vertex, l *link) *link {
	for _, r := range l.to.links {
		if r.to == v && r.kind == l.kind {
			return r
		}
	}
	return nil
}

// pathsTo are v's paths to the vertices of a kind, unreachable at first.
func (s *system) pathsTo(v *vertex, kind vertexKind) []path {
	if v.paths[kind] == nil {
		v.paths[kind] = make([]path, len(s.of[kind]))
		for i := range v.paths[kind] {
			v.paths[kind][i].kind = pathDIS
		}
	}
	return v.paths[kind]
}

// computePaths finds all paths that the search asks for, and then those that differ from
// what the links allow (ncclTopoComputePaths).
func (s *system) computePaths() {
	for _, kind := range []vertexKind{vCPU, vGPU, vNET, vNVS} {
		for _, v := range s.of[kind] {
			s.walk(v)
		}
	}
	for _, v := range s.of[vGPU] {
		for _, kind := range []vertexKind{vCPU, vGPU, vNET, vNVS} {
			s.pathsTo(v, kind)
		}
	}
	s.divertPeers()
	s.c2cToNICs()
	s.adaptNICs()
	for _, n := range s.of[vNET] {
		n.localGPU = s.localGPU(n)
	}
}

// divertPeers sends traffic between GPUs that are too far apart for peer-to-peer over
// the memory of the receiver's host.
func (s *system) divertPeers() {
	level := pathPXB
	switch user := slices.Index(pathNames[:], s.p2p); {
	case user >= 0:
		level = pathKind(user)
	case s.cpu == AMD && len(s.of[vGPU]) <= 2:
		level = pathSYS
	}
	s.staged = map[[2]int]bool{}
	for g, to := range s.of[vGPU] {
		for f, from := range s.of[vGPU] {
			if from.paths[vGPU][g].kind > level || s.apart[[2]int{f, g}] {
				s.over(s.localCPU(to), from, to)
				s.staged[[2]int{f, g}] = true
			}
		}
	}
}

// c2cToNICs marks paths that reach the nearest NIC over C2C and the CPU.
func (s *system) c2cToNICs() {
	for g, gpu := range s.of[vGPU] {
		cpu := s.localCPU(gpu)
		if cpu == nil {
			continue
		}
		for _, n := range s.local(gpu, vNET) {
			net := s.of[vNET][n]
			if merged(gpu.paths[vCPU][cpu.index].kind, net.paths[vCPU][cpu.index].kind) == pathP2C {
				gpu.paths[vNET][n].kind = min(pathP2C, gpu.paths[vNET][n].kind)
				net.paths[vGPU][g].kind = min(pathP2C, net.paths[vGPU][g].kind)
			}
		}
	}
}

// adaptNICs lets GPUs send over the GPU that is nearest to a NIC (PXN), and takes the
// way over host memory where a NIC cannot reach the GPU itself.
func (s *system) adaptNICs() {
	for n, net := range s.of[vNET] {
		for _, gpu := range s.of[vGPU] {
			if p := s.localGPU(net); p >= 0 && p != gpu.index {
				peer := s.of[vGPU][p]
				mine, theirs := gpu.paths[vNET][n], peer.paths[vNET][n]
				near := theirs.kind <= pathP2C && s.gdrOver(peer, net) && peer.host == gpu.host
				if near && peer.paths[vGPU][gpu.index].kind <= pathNVL && (theirs.bw > mine.bw || mine.kind > pathPXN) {
					s.over(peer, gpu, net)
				}
			}
			if gpu.paths[vNET][n].kind < pathPHB && !s.gdrOver(gpu, net) {
				s.over(s.localCPU(gpu), net, gpu)
				s.over(s.localCPU(gpu), gpu, net)
			}
		}
	}
}

// gdrOver reports whether the NIC reads and writes the GPU's memory (ncclTopoCheckGdr).
func (s *system) gdrOver(gpu, net *vertex) bool {
	p := gpu.paths[vNET][net.index]
	return s.gdr && (p.kind <= s.level || p.kind == pathP2C || p.kind == pathPXN)
}

// over replaces the path from a to b by one that passes through via (addInterStep).
func (s *system) over(via, a, b *vertex) {
	if via == nil {
		return
	}
	first, second := a.paths[via.kind][via.index], via.paths[b.kind][b.index]
	p := &a.paths[b.kind][b.index]
	p.hops = append(append([]*link(nil), first.hops...), second.hops...)
	p.bw = min(first.bw, second.bw)
	p.kind = merged(first.kind, second.kind)
	if via.kind == vGPU {
		p.kind = pathPXN
	}
}

func merged(a, b pathKind) pathKind {
	if max(a, b) == pathPHB && min(a, b) == pathC2C {
		return pathP2C
	}
	return max(a, b)
}
