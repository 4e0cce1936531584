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

// candidates are the unused GPUs in the order in which to try them; towards is 1 where
// the next one has to reach the NIC, 0 where none has to any more, −1 where a later one
// has to. Beside an NVSwitch only neighbours by number are tried.
func (x *searcher) candidates(gpu *vertex, towards int) []int {
	scores := x.scores(gpu, towards != 0)
	slices.SortFunc(scores, compareScores)
	out := make([]int, len(scores))
	for i, sc := range scores {
		out[i] = sc.gpu
	}
	if towards == -1 && alike(scores) {
		slices.Reverse(out)
	}
	if len(x.s.of[vNVS]) == 0 {
		return out
	}
	return x.neighbours(gpu, out)
}

func (x *searcher) scores(gpu *vertex, withNet bool) []score {
	c, gpus := x.cur, x.s.of[vGPU]
	var net []path
	if withNet {
		net = x.s.of[vNET][c.inter[c.n][0]].paths[vGPU]
	}
	var out []score
	for i := 1; i < len(gpus); i++ {
		g := (gpu.index + i) % len(gpus)
		p := gpu.paths[vGPU][g]
		if len(p.hops) == 0 || gpus[g].used&(1<<c.n) != 0 {
			continue
		}
		sc := score{gpu: g, distance: i, intraHops: len(p.hops), intraBW: int(p.bw)}
		if withNet {
			sc.interHops, sc.interPCIe, sc.interBW = len(net[g].hops), gpus[g].pcieUp(), int(net[g].bw)
		}
		out = append(out, sc)
	}
	return out
}

// alike reports whether all GPUs are equally well reached inside the node.
func alike(scores []score) bool {
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

// neighbours keeps of the order only the GPUs before and after gpu by number.
func (x *searcher) neighbours(gpu *vertex, order []int) []int {
	n := len(x.s.of[vGPU])
	before, after := (gpu.index+n-1)%n, (gpu.index+1)%n
	var want []int // the last found comes first
	switch x.cur.pattern {
	case ringPattern:
		want = []int{after, before}
	case balancedTree:
		want = []int{before, after}
	default:
		want = []int{after}
	}
	if before == after {
		want = want[:1]
	}
	var out []int
	for _, g := range want {
		if slices.Contains(order, g) {
			out = slices.Insert(out, 0, g)
		}
	}
	return out
}
