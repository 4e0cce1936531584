package tuning

import (
	"math"
	"slices"

	"railyard/exec/cuda"
	"railyard/model/cost"
	"railyard/model/units"
)

// Fastest are what was fastest on GPUs of a name.
func Fastest(gpu, source, date string, all []Row) *cost.Fastest {
	return &cost.Fastest{GPU: gpu, Origin: cost.Origin{Kind: cost.Measured, Source: source, Date: date}, Methods: FastestMethods(all)}
}

// FastestMethods are a profile's methods: by collective and number of GPUs, what was
// fastest for float32 up to a size, half way to the next one.
func FastestMethods(all []Row) (out []cost.Method) {
	best := map[Key]Row{}
	var keys []Key
	for _, s := range all {
		if s.Variant.Algorithm == NCCL || s.Key.DType != "float32" {
			continue
		}
		was, ok := best[s.Key]
		if !ok {
			keys = append(keys, s.Key)
		}
		if !ok || s.US < was.US {
			best[s.Key] = s
		}
	}
	slices.SortFunc(keys, Key.Compare)
	for i, k := range keys {
		v := best[k].Variant
		m := cost.Method{Collective: k.Kind.String(), GPUs: k.GPUs, UpTo: units.Bytes(float64(k.Size) * math.Sqrt2), Algorithm: v.Algorithm,
			Slices: max(v.Slices, 1), Mechanism: v.Mechanism()}
		if !v.How.Mechanism.Flagged() || v.How.Threads == cuda.MaxThreads { // else Mechanism.Shape says it
			m.Blocks, m.Threads, m.Streams = v.How.Blocks, v.How.Threads, v.How.Streams
		}
		if i+1 == len(keys) || keys[i+1].Kind != k.Kind || keys[i+1].GPUs != k.GPUs {
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
