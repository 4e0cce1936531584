package nccl

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"railyard/exec/cuda"
	"railyard/model/collective"
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

// Case is a collective on a whole buffer of so many elements, as nccl-tests counts them.
type Case struct {
	collective.Spec
	Count int64
	DType collective.DType
	Op    collective.ReduceOp
}

// Supported are the collectives that NCCL has, all_to_all as grouped sends and receives.
func Supported(k collective.Kind) bool {
	switch k {
	case collective.AllReduce, collective.AllGather, collective.ReduceScatter, collective.Broadcast, collective.Reduce, collective.AllToAll:
		return true
	}
	return false
}

// argument is NCCL's count.
func (c Case) argument() (int64, error) {
	count := c.Count
	if c.Kind == collective.AllGather || c.Kind == collective.ReduceScatter || c.Kind == collective.AllToAll {
		count /= int64(c.Ranks)
	}
	if count < 1 {
		return 0, fmt.Errorf("%v: %d elements are too few for %d ranks", c.Kind, c.Count, c.Ranks)
	}
	return count, nil
}

// Exact reports whether NCCL's result is the same however it adds: but for averages, which it multiplies before, and types that the
// check does not know.
func (c Case) Exact() bool {
	return cuda.Supports(c.DType) == nil && !(c.Kind.Reduces() && c.Op == collective.Avg)
}
