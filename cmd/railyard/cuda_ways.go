package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"railyard/exec/cuda"
	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/planner"
)

// onlyOneSaysWays refuses flags that would have no effect beside one another.
func onlyOneSaysWays(cmd *cobra.Command) error {
	var given []string
	for _, name := range []string{"chosen", "fastest", "try", "algos"} {
		if cmd.Flags().Changed(name) {
			given = append(given, "--"+name)
		}
	}
	if len(given) > 1 {
		return usagef("%s all say which ways are timed: give one", strings.Join(given, ", "))
	}
	return nil
}

// ways are what is timed for a size: what is worth a try or the one way that is known to be
// fastest (--chosen, --fastest); then the library. Ways that are named are timed alone.
func (f *sweepFlags) ways(topo *topology.Topology, spec collective.Spec, dtype collective.DType, size units.Bytes) (list []variant, err error) {
	switch {
	case len(f.tried) > 0:
		return f.tried, nil
	case len(f.algos) > 0:
		return f.everyWay(), nil
	case f.chosen || f.fastest != "":
		list, err = f.known(topo, spec, dtype, size)
	default:
		list = f.variants(spec.Kind, spec.Ranks, size)
	}
	if len(f.only) > 0 {
		list = slices.DeleteFunc(list, func(v variant) bool { return !slices.Contains(f.only, v.algo+"/"+v.mechanism()) })
	}
	return append(list, f.library(spec.Kind, size)...), err
}

// known is the way that was fastest, in the profile or in rows measured before; none where these
// do not have the case.
func (f *sweepFlags) known(topo *topology.Topology, spec collective.Spec, dtype collective.DType, size units.Bytes) (list []variant, err error) {
	v, ok := f.before[sweptKey{kind: spec.Kind, gpus: spec.Ranks, size: size}]
	if f.chosen {
		v, err = f.choose(topo, spec, dtype, size)
	} else if !ok {
		return nil, nil
	}
	v.how.Overlap, v.how.Specialise = true, !v.how.Copies && f.specialises(spec.Ranks, size)
	return []variant{v}, err
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
	return variant{algo: c.Algorithm, slices: max(c.Slices, 1), how: c.Method.Fitted(s, int64(size), f.multiprocessors)}, nil
}

// readFastest is the way that was fastest in each case of rows measured before, of any type.
func readFastest(name string) (map[sweptKey]variant, error) {
	rows, err := readSwept(name)
	if err != nil {
		return nil, err
	}
	best := map[sweptKey]swept{}
	for _, s := range rows {
		s.key.dtype = ""
		before, ok := best[s.key]
		if s.v.algo != ncclAlgo && s.wrong <= 0 && (!ok || s.us < before.us) {
			best[s.key] = s
		}
	}
	out := map[sweptKey]variant{}
	for k, s := range best {
		out[k] = s.v
	}
	return out, nil
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
