package main

import (
	"fmt"

	"railyard/exec/cuda"
	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/planner"
)

// ways are what is timed for a size: what is worth a try or, with --chosen, what is known
// to be fastest; then the library.
func (f *sweepFlags) ways(topo *topology.Topology, spec collective.Spec, dtype collective.DType, size units.Bytes) ([]variant, error) {
	if !f.chosen {
		return f.variants(spec.Kind, spec.Ranks, size), nil
	}
	v, err := f.choose(topo, spec, dtype, size)
	return append([]variant{v}, f.library(spec.Kind, size)...), err
}

// choose is what the topology's profile says was fastest on these GPUs, as run --backend
// cuda takes it.
func (f *sweepFlags) choose(topo *topology.Topology, spec collective.Spec, dtype collective.DType, size units.Bytes) (variant, error) {
	p, err := cost.Default(topo)
	if err != nil {
		return variant{}, err
	}
	c, ok := cuda.Choose(p, f.gpu, spec.Kind, dtype, spec.Ranks, int64(size))
	if !ok {
		return variant{}, fmt.Errorf("--chosen: profile %s does not say what is fastest for %v on %d GPUs of the name %q", p.Name, spec.Kind, spec.Ranks, f.gpu)
	}
	s, err := planner.Build(topo, spec, c.Algorithm, planner.Options{Slices: c.Slices, Protocol: protocolOf(c.Method)})
	if err != nil {
		return variant{}, err
	}
	how := c.Method.Fitted(s, int64(size), f.multiprocessors)
	how.Specialise = f.specialise && !how.Copies
	return variant{algo: c.Algorithm, slices: max(c.Slices, 1), how: how}, nil
}

// library are NCCL's rows.
func (f *sweepFlags) library(kind collective.Kind, size units.Bytes) (out []variant) {
	if !f.nccl {
		return nil
	}
	out = append(out, variant{algo: ncclAlgo})
	if size <= 64*units.MiB || kind == collective.AllGather || kind == collective.AllToAll {
		out = append(out, variant{algo: ncclAlgo, windows: true})
	}
	return out
}
