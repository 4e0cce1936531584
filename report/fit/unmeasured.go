package fit

import (
	"math"

	"railyard/model/cost"
	"railyard/model/units"
)

// unmeasured are general kernels for networks that no case of theirs crosses: over
// InfiniBand the library's constants, which were made there, and over a network that is
// not known the geometric mean of all that are.
func unmeasured(known []cost.Kernel, pools map[pool][]KernelCase, done map[pool]cost.Kernel) []cost.Kernel {
	byKey := map[cost.KernelKey][]cost.Kernel{}
	var out []cost.Kernel
	for p, cases := range pools {
		if cases[0].NetHops == 0 {
			continue
		}
		for _, name := range collectives(cases) {
			key := cost.KernelKey{Collective: name, Algorithm: p.algorithm, Protocol: p.protocol, Over: "ib"}
			if _, ok := byKey[key]; ok {
				continue
			}
			for _, k := range known {
				if like := k.KernelKey; like.Collective == name && like.Algorithm == p.algorithm && like.Protocol == p.protocol &&
					cost.ClassOf(like.Over) == cost.Across {
					byKey[key] = append(byKey[key], k)
				}
			}
			mean := meanKernel(byKey[key])
			mean.KernelKey = key
			mean.Over = cost.AnyNetwork
			out = append(out, mean)
			if !hasKey(known, key) {
				k := p.belief(cases, done).Kernel
				k.KernelKey, k.MinSize, k.MaxSize = key, mean.MinSize, mean.MaxSize
				out = append(out, k)
			}
		}
	}
	return out
}

func hasKey(kernels []cost.Kernel, key cost.KernelKey) bool {
	for i := range kernels {
		if kernels[i].KernelKey == key {
			return true
		}
	}
	return false
}

// meanKernel is the geometric mean of kernels with the same pieces, shaped as the first.
func meanKernel(list []cost.Kernel) cost.Kernel {
	out := list[0]
	mean := func(of func(*cost.Kernel) float64) float64 {
		sum := 0.0
		for i := range list {
			sum += math.Log(max(of(&list[i]), 1))
		}
		return math.Exp(sum / float64(len(list)))
	}
	out.Base = picoseconds(mean(func(k *cost.Kernel) float64 { return float64(k.Base) }))
	out.Wide = picoseconds(mean(func(k *cost.Kernel) float64 { return float64(k.Wide) }))
	out.Hop = picoseconds(mean(func(k *cost.Kernel) float64 { return float64(k.Hop) }))
	out.NetHop = picoseconds(mean(func(k *cost.Kernel) float64 { return float64(k.NetHop) }))
	out.Pieces, out.Rows, out.Error = nil, 0, 0
	for i, from := range pieces {
		out.Pieces = append(out.Pieces, cost.Piece{From: from,
			Slowdown: round(mean(func(k *cost.Kernel) float64 { return k.Pieces[i].Slowdown }), 1e5)})
	}
	for i := range list {
		out.MinSize, out.MaxSize = units.Bytes(min(out.MinSize, list[i].MinSize)), max(out.MaxSize, list[i].MaxSize)
		out.Rows += list[i].Rows
		out.Error = max(out.Error, list[i].Error)
	}
	return out
}
