package nccl

import "math/bits"

// maxChannels is the most that NCCL ever uses (MAXCHANNELS).
const maxChannels = 64

// local are the vertices of a kind with the most bandwidth from v, and of these the
// nearest (ncclTopoGetLocal).
func (s *system) local(v *vertex, kind vertexKind) []int {
	best, nearest := 0.0, pathDIS
	var out []int
	for i, p := range v.paths[kind] {
		if p.bw > best || p.bw == best && p.kind < nearest {
			best, nearest, out = p.bw, p.kind, nil
		}
		if p.bw == best && p.kind == nearest {
			out = append(out, i)
		}
	}
	return out
}

// localCPU is the CPU that a GPU hangs on; nil where there is none.
func (s *system) localCPU(gpu *vertex) *vertex {
	found := s.local(gpu, vCPU)
	if len(found) == 0 || gpu.paths[vCPU][found[0]].kind == pathDIS {
		return nil
	}
	best := found[0]
	for _, c := range found[1:] {
		if len(gpu.paths[vCPU][c].hops) < len(gpu.paths[vCPU][best].hops) {
			best = c
		}
	}
	return s.of[vCPU][best]
}

// localNet is the NIC that a GPU uses for a channel: GPUs that share several NICs start
// at different ones (ncclTopoGetLocalNetType). −1 where it reaches none.
func (s *system) localNet(gpu *vertex, channel int) int {
	nets := s.local(gpu, vNET)
	if len(nets) == 0 {
		return -1
	}
	gpus := s.local(s.of[vNET][nets[0]], vGPU)
	if len(gpus) == 0 {
		return -1
	}
	perGPU := (len(nets) + len(gpus) - 1) / len(gpus)
	i := gpu.dev % len(gpus)
	if len(nets)&(len(nets)-1) == 0 {
		i = mirror(i, len(nets))
	}
	return nets[(i+channel%perGPU)%len(nets)]
}

// mirror reverses the bits of i below those of the power of two n.
func mirror(i, n int) int {
	if n == 1 {
		return 0
	}
	return int(bits.Reverse64(uint64(i)&uint64(n-1)) >> (64 - bits.TrailingZeros(uint(n))))
}

// localGPU is the GPU that uses a NIC first, −1 where none does.
func (s *system) localGPU(net *vertex) int {
	gpus := s.local(net, vGPU)
	for c := range maxChannels {
		for _, g := range gpus {
			if s.localNet(s.of[vGPU][g], c) == net.index {
				return g
			}
		}
	}
	return -1
}

// extremes are the nearest and the farthest kind of path from a GPU to vertices of a kind.
func (s *system) extremes(kind vertexKind) (nearest, farthest pathKind) {
	nearest = pathSYS
	for i, gpu := range s.of[vGPU] {
		for j, p := range gpu.paths[kind] {
			if kind != vGPU || i != j {
				nearest, farthest = min(nearest, p.kind), max(farthest, p.kind)
			}
		}
	}
	return nearest, farthest
}

// split reports whether the GPUs fall into two groups joined by NVLink inside only.
func (s *system) split() bool {
	group := make([]int, len(s.of[vGPU]))
	for g := range group {
		group[g] = g
	}
	size := make([]int, len(group))
	for g, gpu := range s.of[vGPU] {
		for p := g + 1; p < len(group); p++ {
			if gpu.paths[vGPU][p].kind == pathNVL {
				group[p] = group[g]
			}
		}
		size[group[g]]++
	}
	groups := 0
	for _, n := range size {
		if n > 1 {
			groups++
		}
	}
	return groups == 2
}
