package tuning

import (
	"fmt"

	"railyard/exec/cuda"
	"railyard/model/block"
	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/planner"
)

// timedVariants are what is timed for a size: what is worth a try or the one variant that is known to be
// fastest (Chosen, Before); then the library. Variants that are named are timed alone.
func (f *Sweep) timedVariants(topo *topology.Topology, spec collective.Spec, dtype collective.DType, size units.Bytes) (
	list []Variant, err error) {
	switch {
	case len(f.Tried) > 0:
		return f.Tried, nil
	case f.Chosen || f.Before != nil:
		list, err = f.fastestKnown(topo, spec, dtype, size)
	default:
		list = f.variants(spec.Kind, spec.Ranks, size)
	}
	return append(list, f.library(spec.Kind, size)...), err
}

// fastestKnown is the variant that was fastest, in the profile or in rows measured before; none where these
// do not have the case.
func (f *Sweep) fastestKnown(topo *topology.Topology, spec collective.Spec, dtype collective.DType, size units.Bytes) (
	list []Variant, err error) {
	v, ok := f.Before[Key{Kind: spec.Kind, GPUs: spec.Ranks, Size: size}]
	if f.Chosen {
		v, err = f.choose(topo, spec, dtype, size)
	} else if !ok {
		return nil, nil
	}
	v.How.Overlap, v.How.Specialise = true, v.How.Mechanism != block.Copies && f.specialises(spec.Ranks, size)
	return []Variant{v}, err
}

// choose is what the topology's profile says was fastest on these GPUs, as run --backend
// cuda takes it.
func (f *Sweep) choose(topo *topology.Topology, spec collective.Spec, dtype collective.DType, size units.Bytes) (Variant, error) {
	m, err := cost.MachineFor(topo)
	if err != nil {
		return Variant{}, err
	}
	c, ok := cuda.Choose(m, f.gpu, spec.Kind, dtype, spec.Ranks, int64(size))
	if !ok {
		return Variant{}, fmt.Errorf("--chosen: profile %s does not say what is fastest for %v on %d GPUs of the name %q", m.Name,
			spec.Kind, spec.Ranks, f.gpu)
	}
	s, err := planner.Build(topo, spec, c.Algorithm, planner.Options{Slices: c.Slices, Protocol: c.Method.Mechanism.Protocol()})
	if err != nil {
		return Variant{}, err
	}
	return Variant{Algorithm: c.Algorithm, Slices: max(c.Slices, 1), How: c.Method.Fitted(s, int64(size), f.multiprocessors)}, nil
}

// ReadFastest is the way that was fastest in each case of rows measured before, of any type.
func ReadFastest(name string) (map[Key]Variant, error) {
	rows, err := ReadRows(name)
	if err != nil {
		return nil, err
	}
	best := map[Key]Row{}
	for _, s := range rows {
		s.Key.DType = ""
		before, ok := best[s.Key]
		if s.Variant.Algorithm != NCCL && s.Wrong <= 0 && (!ok || s.US < before.US) {
			best[s.Key] = s
		}
	}
	out := map[Key]Variant{}
	for k, s := range best {
		out[k] = s.Variant
	}
	return out, nil
}

// library are NCCL's rows.
func (f *Sweep) library(kind collective.Kind, size units.Bytes) (out []Variant) {
	if !f.NCCL {
		return nil
	}
	out = append(out, Variant{Algorithm: NCCL})
	if size <= 64*units.MiB || kind == collective.AllGather || kind == collective.AllToAll {
		out = append(out, Variant{Algorithm: NCCL, Windows: true})
	}
	return out
}
