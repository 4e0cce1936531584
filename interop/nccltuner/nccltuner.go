// Package nccltuner writes what makes NCCL follow a plan: a tuner plugin, the table of NCCL's example
// plugin and a shell file with NCCL's environment. The table's rules, and its
// traps, are those of https://github.com/NVIDIA/nccl, plugins/tuner/example/plugin.c
// (2.30): the first row that matches wins; where none does, the plugin leaves NCCL a
// single channel; what it cannot read it takes for all_reduce, ring or simple.
package nccltuner

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"railyard/model/collective"
	"railyard/model/units"
)

// Row is a range of sizes with what shall run there. Nodes and Ranks are −1 where the
// row is for communicators of any size.
type Row struct {
	Kind                collective.Kind
	Min, Max            units.Bytes // inclusive; as nccl-tests counts sizes
	Algorithm, Protocol string      // as NCCL's plugin writes them: ring, nvls_tree; ll128
	Channels            int
	Nodes, Ranks        int
	Own                 bool   // what NCCL would choose by itself
	Note                string // why, or what had to be replaced
	Proofs              []Proof
}

// maxBytes ends the last range.
const maxBytes = units.Bytes(math.MaxInt64)

// names are the collectives that the plugin knows.
var names = map[collective.Kind]string{
	collective.AllReduce: "allreduce", collective.AllGather: "allgather", collective.ReduceScatter: "reducescatter",
	collective.Broadcast: "broadcast", collective.Reduce: "reduce",
}

// Kinds are the collectives that can be tuned, in the table's order.
var Kinds = []collective.Kind{collective.AllReduce, collective.AllGather, collective.ReduceScatter, collective.Broadcast, collective.Reduce}

// Algorithms and protocols, as the plugin writes them and as NCCL_ALGO and NCCL_PROTO do.
var (
	algorithms = map[string]string{"ring": "Ring", "tree": "Tree", "nvls": "NVLS", "nvls_tree": "NVLSTree", "pat": "PAT",
		"collnet_direct": "CollnetDirect", "collnet_chain": "CollnetChain"}
	protocols = map[string]string{"ll": "LL", "ll128": "LL128", "simple": "Simple"}
)

// check refuses rows that the example plugin would take for something else.
func (r *Row) check() error {
	if r.Channels < 1 || r.Channels > 64 {
		return fmt.Errorf("%d channels: must be from 1 to 64; -1 would mean one", r.Channels)
	}
	return r.names()
}

// names refuses rows that no plugin could follow.
func (r *Row) names() error {
	switch {
	case names[r.Kind] == "":
		return fmt.Errorf("%v cannot be tuned: the plugin would take it for all_reduce", r.Kind)
	case algorithms[r.Algorithm] == "":
		return fmt.Errorf("algorithm %q is not one of %s: the plugin would take it for ring", r.Algorithm, keys(algorithms))
	case protocols[r.Protocol] == "":
		return fmt.Errorf("protocol %q is not one of %s: the plugin would take it for simple", r.Protocol, keys(protocols))
	case r.Min < 0 || r.Min > r.Max:
		return fmt.Errorf("sizes from %d to %d are no range", r.Min, r.Max)
	case r.Nodes < -1 || r.Nodes == 0 || r.Ranks < -1 || r.Ranks == 0:
		return fmt.Errorf("%d nodes and %d ranks: must be positive, or -1 for any", r.Nodes, r.Ranks)
	}
	return nil
}

func keys(m map[string]string) string {
	return strings.Join(slices.Sorted(maps.Keys(m)), ", ")
}

// Ranges makes rows for all sizes of choices that were made at some (their Min, in
// ascending order): each holds up to the next, the first from 0 on and the last for ever.
// Equal neighbours become one.
func Ranges(at []Row) []Row {
	var out []Row
	for _, r := range at {
		if n := len(out); n > 0 && out[n-1].sameChoice(&r) {
			out[n-1].Proofs = append(out[n-1].Proofs, r.Proofs...)
			continue
		}
		if n := len(out); n > 0 {
			out[n-1].Max = r.Min - 1
		} else {
			r.Min = 0
		}
		r.Max = maxBytes
		out = append(out, r)
	}
	return out
}

// Within are the rows without what lies beyond the sizes that they were held against NCCL's own choice at: there it stays NCCL's.
func Within(rows []Row) []Row {
	out := slices.Clone(rows)
	for i := range out {
		r := &out[i]
		if n := len(r.Proofs); n > 0 && r.Min == 0 {
			r.Min = r.Proofs[0].Size
		}
		if n := len(r.Proofs); n > 0 && r.Max == maxBytes {
			r.Max = r.Proofs[n-1].Size
		}
	}
	return out
}

func (r *Row) sameChoice(o *Row) bool {
	return r.Kind == o.Kind && r.Algorithm == o.Algorithm && r.Protocol == o.Protocol && r.Channels == o.Channels &&
		r.Nodes == o.Nodes && r.Ranks == o.Ranks && r.Own == o.Own
}

// small is the size up to which rows for any communicator take LL.
const small = 32 * units.KiB

// CatchAll are the rows for communicators and collectives that were not planned:
// without them NCCL would have one channel there. Ring with LL and Simple always exist.
func CatchAll(channels int) []Row {
	var out []Row
	for _, k := range Kinds {
		out = append(out,
			Row{Kind: k, Min: 0, Max: small, Algorithm: "ring", Protocol: "ll", Channels: channels, Nodes: -1, Ranks: -1},
			Row{Kind: k, Min: small + 1, Max: maxBytes, Algorithm: "ring", Protocol: "simple", Channels: channels, Nodes: -1, Ranks: -1})
	}
	return out
}

// nearest is what comes closest in NCCL to a planner's algorithm.
var nearest = map[string]struct{ algorithm, note string }{
	"ring":               {"ring", ""},
	"simple_ring":        {"ring", ""},
	"alternating_ring":   {"ring", "NCCL's rings cross NICs as its own search finds, not alternating"},
	"double_binary_tree": {"tree", "NCCL's trees are binary between nodes only and chains inside a node"},
	"knomial":            {"tree", "NCCL has no k-nomial trees: its double binary tree comes nearest"},
	"quadrinomial":       {"tree", "NCCL has no k-nomial trees: its double binary tree comes nearest"},
	"hierarchical_tree":  {"tree", "NCCL's chains inside a node replace the direct exchange"},
	"breadth_first":      {"ring", "NCCL cannot run packed trees: its rings come nearest"},
	"packed_trees":       {"ring", "NCCL cannot run packed trees: its rings come nearest"},
	"in_network":         {"nvls", ""},

	"hierarchical_in_network": {"nvls_tree", "NCCL combines across nodes in trees, not in rings"},
	"rerouted_in_network":     {"nvls_tree", "NCCL combines across nodes in trees, not in rings"},

	"direct":   {"nvls", "NCCL has no one-shot exchange: NVLS, where switches reduce, comes nearest"},
	"two_shot": {"nvls", "NCCL has no direct reduce-scatter and all-gather: NVLS comes nearest"},
}

// Nearest is what NCCL has that comes closest to a planner's algorithm, for which it
// runs a collective at all; the note says what is different.
func Nearest(algorithm string, k collective.Kind, nvls bool) (name, note string) {
	n, ok := nearest[algorithm]
	if !ok {
		n.algorithm, n.note = "ring", fmt.Sprintf("NCCL cannot run %s: its rings come nearest", algorithm)
	}
	switch {
	case n.algorithm == "nvls" && (!nvls || k == collective.Broadcast || k == collective.Reduce),
		n.algorithm == "nvls_tree" && (!nvls || k != collective.AllReduce):
		return "ring", fmt.Sprintf("NCCL cannot run %s here: its rings come nearest", algorithm)
	case n.algorithm == "tree" && k != collective.AllReduce:
		return "ring", fmt.Sprintf("NCCL runs trees for all_reduce only: for %v its rings come nearest", k)
	}
	return n.algorithm, n.note
}
