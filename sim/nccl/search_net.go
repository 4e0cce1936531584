package nccl

import (
	"math"
	"slices"
)

// fromNets starts a channel at each NIC that has bandwidth left (ncclTopoSearchRecNet).
func (x *searcher) fromNets(want goal) {
	c := x.cur
	bw := math.Trunc(c.bwInter) // NCCL keeps it in an int
	nets := x.s.selectNets(c.typeInter, nil)
	found := false
	for i := range nets {
		if c.pattern == nvlsPattern && found {
			break
		}
		net := x.s.of[vNET][nets[(c.n+i)%len(nets)]]
		if net.netBW < bw || c.pattern == ringPattern && c.crossNIC == 2 && c.n%2 == 1 && net.index != c.inter[c.n-1][1] {
			continue
		}
		c.inter[c.n][0] = net.index
		net.netBW -= bw
		if c.pattern == nvlsPattern {
			found = x.netHead(net, len(nets), want) || found
		} else {
			x.fromNet(net, want)
		}
		net.netBW += bw
	}
}

// netHead starts NVLS at the GPU that a NIC serves, once for each GPU.
func (x *searcher) netHead(net *vertex, nets int, want goal) bool {
	c := x.cur
	if c.n >= nets || net.localGPU < 0 {
		return false
	}
	for i := range c.n {
		if c.intra[i][0] == net.localGPU {
			return false
		}
	}
	x.enter(net, net.localGPU, 0, want, anyOrder)
	return true
}

// fromNet starts a ring or a tree at the GPUs that are nearest to a NIC.
func (x *searcher) fromNet(net *vertex, want goal) {
	c := x.cur
	if c.n > 0 && c.same {
		x.enter(net, c.intra[c.n-1][0], 0, want, lastOrder)
		return
	}
	if c.n == 0 && len(x.s.of[vNVS]) == 0 {
		// For reference; these steps do not count.
		saved := x.steps
		x.steps = 1 << 10
		x.enter(net, 0, 0, want, pciOrder)
		if x.steps != -1 {
			x.steps = saved
		}
	}
	if net.localGPU >= 0 {
		x.enter(net, net.localGPU, 0, want, anyOrder)
	}
	for _, g := range x.s.local(net, vGPU) {
		if g != net.localGPU && net.paths[vGPU][g].kind != pathDIS {
			x.enter(net, g, 0, want, anyOrder)
		}
	}
}

// toNet leaves for a NIC, and then goes on with the channel.
func (x *searcher) toNet(gpu *vertex, step int, want goal, o order) {
	if !x.s.inter {
		return
	}
	c := x.cur
	start := x.s.of[vNET][c.inter[c.n][0]]
	whole := c.bwInter
	after := goal{net: -1, first: want.first}
	share := whole
	if c.pattern == balancedTree { // the first two GPUs take half each
		share = whole / 2
		if step == 0 {
			after.net = 1
		}
	}
	for _, n := range x.s.selectNets(c.typeInter, gpu) {
		if !x.mayEnd(start, n, step) {
			continue
		}
		net := x.s.of[vNET][n]
		c.bwInter = share
		ok := x.s.follow(c, gpu, net, 1)
		c.bwInter = whole
		if !ok {
			continue
		}
		c.inter[c.n][1] = n
		x.visit(gpu, step, after, o)
		c.bwInter = share
		x.s.follow(c, gpu, net, -1)
		c.bwInter = whole
	}
}

// mayEnd reports whether a channel that starts at NIC start may end at NIC n. Rails are
// not modelled: with crossNIC 0 it is the same NIC (ncclTopoSearchCheckNet).
func (x *searcher) mayEnd(start *vertex, n, step int) bool {
	c := x.cur
	switch {
	case c.pattern == plainTree && n != start.index:
		return false
	case c.pattern == ringPattern && c.crossNIC == 2:
		if c.n%2 == 1 && n != c.inter[c.n-1][0] {
			return false
		}
	case c.crossNIC == 0 && n != start.index:
		return false
	}
	return c.pattern != balancedTree || step == 0 || n == c.inter[c.n][1]
}

// selectNets lists the NICs to try, preferred ones first: for one GPU, or for all (nil).
func (s *system) selectNets(worst pathKind, gpu *vertex) []int {
	lists, at := &s.choices[worst], len(s.of[vGPU])
	if gpu != nil {
		at = gpu.index
	}
	if *lists == nil { // paths do not change during the search
		*lists = make([][]int, len(s.of[vGPU])+1)
	}
	if (*lists)[at] == nil {
		(*lists)[at] = s.listNets(worst, gpu)
	}
	return (*lists)[at]
}

func (s *system) listNets(worst pathKind, gpu *vertex) []int {
	gpus := s.of[vGPU]
	if gpu != nil {
		gpus = []*vertex{gpu}
	}
	out := s.preferredNets(gpus)
	for kind := pathLOC; kind <= worst; kind++ {
		for _, g := range gpus {
			for n, p := range g.paths[vNET] {
				if p.kind == kind && n < maxChannels && !slices.Contains(out, n) {
					out = append(out, n)
				}
			}
		}
	}
	return out
}

// preferredNets are the GPUs' own NICs: GPU by GPU, or in turn where several hosts share
// NVSwitches.
func (s *system) preferredNets(gpus []*vertex) []int {
	own := make([][]int, len(gpus))
	for i, g := range gpus {
		for c := range maxChannels {
			n := s.localNet(g, c)
			if n < 0 || c > 0 && n == own[i][0] {
				break
			}
			own[i] = append(own[i], n)
		}
	}
	var out []int
	add := func(n int) {
		if !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	if s.hosts == 1 {
		for _, nets := range own {
			for _, n := range nets {
				add(n)
			}
		}
		return out
	}
	for c := range maxChannels {
		for _, nets := range own {
			if c < len(nets) {
				add(nets[c])
			}
		}
	}
	return out
}
