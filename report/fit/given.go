package fit

import (
	"railyard/model/cost"
	"railyard/model/units"
)

// given is what a fit takes from elsewhere where its cases cannot tell.
type given struct {
	hop, net float64 // ps
	drain    float64
	fill     units.Bytes
}

// usualDrain is about what rings and trees of all_reduce have on H200 (docs/validation.md).
const usualDrain = 0.7

// givenFor is, in this order: what kernels of the same algorithm and protocol tell
// together, over collectives and numbers of GPUs; for a hop across the network what the
// general profile says; NCCL's own table and usualDrain.
func givenFor(key cost.KernelKey, cases, all []KernelCase, general *cost.Profile) given {
	g := given{hop: float64(cases[0].TableHop), net: float64(cases[0].TableNet)}
	if key.Collective == "all_reduce" {
		g.drain = usualDrain // elsewhere, the last step writes the output itself
	}
	if general != nil {
		if k := general.Kernel(key); k != nil {
			g.net = float64(k.NetHop)
		}
	}
	if alone := newKernelModel(cases, kernelPieces[0], g); alone.hop && alone.tellsDrain {
		return g
	}
	pool := related(key, all)
	pieces := reached(kernelPieces[3], pool)
	m := newKernelModel(pool, pieces, g)
	if !m.hop || len(pool) < 3*m.size() {
		return g
	}
	k := m.fit(pool)
	g.hop, g.fill = float64(k.Hop), k.Fill
	if m.tellsDrain && key.Collective == "all_reduce" {
		g.drain = k.Drain
	}
	return g
}

// related are the cases of kernels that work alike: trees of any number of ranks, rings
// of the collectives that go around.
func related(key cost.KernelKey, all []KernelCase) []KernelCase {
	goesAround := map[string]bool{"all_reduce": true, "all_gather": true, "reduce_scatter": true}
	var out []KernelCase
	for _, c := range all {
		same := c.Collective == key.Collective || key.Algorithm == "ring" && goesAround[c.Collective] && goesAround[key.Collective]
		if same && c.Algorithm == key.Algorithm && c.Protocol == key.Protocol && c.Network == key.Network && c.Graph == key.Graph {
			out = append(out, c)
		}
	}
	return out
}
