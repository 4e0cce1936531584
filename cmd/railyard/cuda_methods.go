package main

import (
	"math"
	"slices"

	"railyard/exec/cuda"
	"railyard/model/cost"
	"railyard/model/units"
)

// fastestMethods are a profile's methods: by collective and number of GPUs, what was
// fastest for float32 up to a size, half way to the next one.
func fastestMethods(all []swept) (out []cost.Method) {
	best := map[sweptKey]swept{}
	var keys []sweptKey
	for _, s := range all {
		if s.v.algo == ncclAlgo || s.key.dtype != "float32" {
			continue
		}
		was, ok := best[s.key]
		if !ok {
			keys = append(keys, s.key)
		}
		if !ok || s.us < was.us {
			best[s.key] = s
		}
	}
	slices.SortFunc(keys, sweptKey.compare)
	for i, k := range keys {
		v := best[k].v
		m := cost.Method{Collective: k.kind.String(), GPUs: k.gpus, UpTo: units.Bytes(float64(k.size) * math.Sqrt2), Algorithm: v.algo, Slices: max(v.slices, 1), Mechanism: v.mechanism()}
		if !v.how.Flagged() || v.how.Threads == cuda.MaxThreads { // else cuda.Shape says it
			m.Blocks, m.Threads, m.Streams = v.how.Blocks, v.how.Threads, v.how.Streams
		}
		if i+1 == len(keys) || keys[i+1].kind != k.kind || keys[i+1].gpus != k.gpus {
			m.UpTo = 0
		}
		if last := len(out) - 1; last >= 0 {
			same := out[last]
			same.UpTo = m.UpTo
			if same == m {
				out[last] = m
				continue
			}
		}
		out = append(out, m)
	}
	return out
}
