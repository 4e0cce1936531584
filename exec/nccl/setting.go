package nccl

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"railyard/model/collective"
	"railyard/model/units"
)

// Setting is how communicators are made.
type Setting struct {
	Algorithm string // "" (NCCL chooses), ring or tree
	Protocol  string // "" (NCCL chooses), ll, ll128 or simple
	Windows   bool   // buffers are registered as symmetric windows
}

var (
	algorithms = []string{"ring", "tree"}
	protocols  = []string{"ll", "ll128", "simple"}
)

// ParseSetting reads "default" (NCCL chooses), "windows" (NCCL chooses, on registered
// windows), an algorithm, or an algorithm and a protocol such as "ring/ll128".
func ParseSetting(text string) (Setting, error) {
	algorithm, protocol, _ := strings.Cut(strings.ToLower(text), "/")
	switch {
	case text == "windows":
		return Setting{Windows: true}, nil
	case text == "default":
		return Setting{}, nil
	case strings.HasPrefix(algorithm, "nvls") || strings.HasPrefix(algorithm, "collnet"):
		return Setting{}, fmt.Errorf("algorithm %s uses multicast, which railyard does not: take ring or tree", algorithm)
	case !slices.Contains(algorithms, algorithm):
		return Setting{}, fmt.Errorf("unknown setting %q: must be default, windows, or %s with %s, such as ring/ll128", text,
			strings.Join(algorithms, " or "), strings.Join(protocols, ", "))
	case protocol != "" && !slices.Contains(protocols, protocol):
		return Setting{}, fmt.Errorf("unknown protocol %q in %q: must be %s", protocol, text, strings.Join(protocols, ", "))
	}
	return Setting{Algorithm: algorithm, Protocol: protocol}, nil
}

// Names are what NCCL was asked for, as nccl-tests' files name it: an algorithm and a
// protocol, "default" where it chose.
func (s Setting) Names() (algorithm, protocol string) {
	return cmp.Or(s.Algorithm, "default"), cmp.Or(s.Protocol, "default")
}

// environment is what is set while communicators are made.
func (s Setting) environment() map[string]string {
	return map[string]string{"NCCL_ALGO": s.Algorithm, "NCCL_PROTO": s.Protocol}
}

// Case is a collective that is measured.
type Case struct {
	Kind       collective.Kind
	Size       units.Bytes // as nccl-tests counts
	DType      collective.DType
	Op         collective.ReduceOp
	Root       int
	InPlace    bool
	Stream     bool // launched by the host one by one instead of in a graph
	Warmup     int  // operations before timing
	Iterations int  // operations in a graph, or between two marks of the stream
	Replays    int  // graphs, or runs of iterations, that are timed
}

// Result is what a case took: one time for each replay, of one operation, the slowest
// GPU's.
type Result struct {
	Times    []time.Duration
	Estimate units.Time // NCCL's own (ncclGroupSimulateEnd); 0: it gives none
	Wrong    int64      // elements that differ from the exact result; −1: not checked
	Ran      int        // operations that ran in all, those that are not timed too
}

// Supported are the collectives that NCCL has, all_to_all as grouped sends and receives.
func Supported(k collective.Kind) bool {
	switch k {
	case collective.AllReduce, collective.AllGather, collective.ReduceScatter, collective.Broadcast, collective.Reduce, collective.AllToAll:
		return true
	}
	return false
}

// counts are the elements that a rank sends and receives, and NCCL's count argument.
func (c Case) counts(ranks int) (send, recv, argument int64, err error) {
	total := int64(c.Size) / int64(c.DType.Size())
	share := total / int64(ranks)
	if share < 1 && c.Kind != collective.AllReduce && c.Kind != collective.Broadcast && c.Kind != collective.Reduce || total < 1 {
		return 0, 0, 0, fmt.Errorf("%v: %v are too few for %d ranks of %v", c.Kind, c.Size, ranks, c.DType)
	}
	switch c.Kind {
	case collective.AllGather:
		return share, share * int64(ranks), share, nil
	case collective.ReduceScatter:
		return share * int64(ranks), share, share, nil
	case collective.AllToAll:
		return share * int64(ranks), share * int64(ranks), share, nil
	}
	return total, total, total, nil
}
