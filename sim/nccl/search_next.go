package nccl

import (
	"cmp"
	"slices"
)

// score ranks the GPUs that may come next, most important first.
type score struct {
	gpu                           int
	interBW, interPCIe, interHops int
	intraBW, intraHops, distance  int
}

func compareScores(a, b score) int {
	return cmp.Or(b.interBW-a.interBW, b.interPCIe-a.interPCIe, a.interHops-b.interHops,
		b.intraBW-a.intraBW, a.intraHops-b.intraHops, a.distance-b.distance)
}

// candidates adds the unused GPUs in the order in which to try them; towards is 1 where
// the next one has to reach the NIC, 0 where none has to any more, −1 where a later one
// has to.
func (x *searcher) candidates(gpu *vertex, towards int) {
	if len(x.s.of[vNVS]) > 0 {
		x.neighbours(gpu)
		return
	}
	if towards == 0 {
		x.nearest(gpu)
		return
	}
	scores := x.scores(gpu)
	slices.SortFunc(scores, compareScores)
	if towards == -1 && equallyReached(scores) {
		slices.Reverse(scores)
	}
	for _, sc := range scores {
		x.tries = append(x.tries, sc.gpu)
	}
}

// nearest adds the unused GPUs in the order in which to try them where none has to reach a
// NIC: that does not depend on what other channels have taken.
func (x *searcher) nearest(gpu *vertex) {
	if x.s.near == nil {
		x.s.near = make([][]int, len(x.s.of[vGPU]))
	}
	all := &x.s.near[gpu.index]
	if *all == nil {
		*all = x.s.byDistance(gpu)
	}
	for _, g := range *all {
		if !x.used(g) {
			x.tries = append(x.tries, g)
		}
	}
}

// byDistance are all GPUs that another reaches, the nearest first.
func (s *system) byDistance(gpu *vertex) []int {
	var scores []score
	for i := 1; i < len(s.of[vGPU]); i++ {
		g := (gpu.index + i) % len(s.of[vGPU])
		if p := gpu.paths[vGPU][g]; len(p.hops) > 0 {
			scores = append(scores, score{gpu: g, distance: i, intraHops: len(p.hops), intraBW: int(p.bw)})
		}
	}
	slices.SortFunc(scores, compareScores)
	out := make([]int, len(scores))
	for i, sc := range scores {
		out[i] = sc.gpu
	}
	return out
}

// neighbours adds the unused GPUs before and after gpu by number: all that NCCL tries
// beside an NVSwitch.
func (x *searcher) neighbours(gpu *vertex) {
	n := len(x.s.of[vGPU])
	before, after := (gpu.index+n-1)%n, (gpu.index+1)%n
	add := func(g int) {
		if len(gpu.paths[vGPU][g].hops) > 0 && !x.used(g) {
			x.tries = append(x.tries, g)
		}
	}
	if before != after && x.cur.pattern == ringPattern {
		add(before)
	}
	add(after)
	if before != after && x.cur.pattern == balancedTree {
		add(before)
	}
}

// used reports whether the channel has been at a GPU.
func (x *searcher) used(g int) bool { return x.s.of[vGPU][g].used&(1<<x.cur.n) != 0 }

// scores rank the unused GPUs where one of them has to reach the NIC.
func (x *searcher) scores(gpu *vertex) []score {
	c, gpus := x.cur, x.s.of[vGPU]
	net := x.s.of[vNET][c.inter[c.n][0]].paths[vGPU]
	var out []score
	for i := 1; i < len(gpus); i++ {
		g := (gpu.index + i) % len(gpus)
		p := gpu.paths[vGPU][g]
		if len(p.hops) == 0 || x.used(g) {
			continue
		}
		out = append(out, score{gpu: g, distance: i, intraHops: len(p.hops), intraBW: int(p.bw),
			interHops: len(net[g].hops), interPCIe: gpus[g].pcieUp(), interBW: int(net[g].bw)})
	}
	return out
}

// equallyReached reports whether all GPUs are equally well reached inside the node.
func equallyReached(scores []score) bool {
	for _, s := range scores {
		if s.intraBW != scores[0].intraBW || s.intraHops != scores[0].intraHops {
			return false
		}
	}
	return true
}

// pcieUp is what is left of a GPU's PCIe link, in whole GB/s; −1 where it has none.
func (v *vertex) pcieUp() int {
	for _, l := range v.links {
		if l.kind == linkPCI {
			for _, r := range l.to.links {
				if r.to == v {
					return int(min(l.bw, r.bw))
				}
			}
		}
	}
	return -1
}
