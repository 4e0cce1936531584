package collective

import (
	"fmt"
	"slices"
	"strings"
)

var names = [...]string{"all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce",
	"all_to_all", "all_to_allv", "gather", "scatter", "send_recv", "barrier"}

// String is the name in snake case.
func (k Kind) String() string { return names[k] }

// All are the collectives, in the order of the constants.
func All() []Kind {
	out := make([]Kind, len(names))
	for i := range out {
		out[i] = Kind(i)
	}
	return out
}

// Names are the names of all, in the same order.
func Names() []string { return slices.Clone(names[:]) }

var separators = strings.NewReplacer("_", "", "-", "", " ", "")

// Parse reads a collective's name in any of the field's spellings: all_reduce,
// allreduce, all-reduce, AllReduce, alltoall, sendrecv.
func Parse(s string) (Kind, error) {
	if i := slices.Index(names[:], s); i >= 0 {
		return Kind(i), nil
	}
	plain := strings.ToLower(separators.Replace(s))
	for i, n := range names {
		if strings.ReplaceAll(n, "_", "") == plain {
			return Kind(i), nil
		}
	}
	return 0, fmt.Errorf("unknown collective %q: must be one of %s", s, strings.Join(names[:], ", "))
}

// BusFactor is nccl-tests' ratio of bus bandwidth to algorithm bandwidth for n ranks
// (nccl-tests doc/PERFORMANCE.md). A barrier moves no bytes: 0.
func (k Kind) BusFactor(n int) float64 {
	f := float64(n)
	switch k {
	case AllReduce:
		return 2 * (f - 1) / f
	case AllGather, ReduceScatter, AllToAll, AllToAllV, Gather, Scatter:
		return (f - 1) / f
	case Barrier:
		return 0
	}
	return 1
}

// DType is an element type.
type DType uint8

// The element types.
const (
	Float32 DType = iota
	Float64
	Float16
	BFloat16
	Int32
	Int64
	Float8E4M3
	Float8E5M2
)

var dtypes = [...]struct {
	name string
	size int
}{{"float32", 4}, {"float64", 8}, {"float16", 2}, {"bfloat16", 2}, {"int32", 4}, {"int64", 8}, {"float8_e4m3", 1}, {"float8_e5m2", 1}}

// String is the type's name.
func (d DType) String() string { return dtypes[d].name }

// Size is the bytes of an element.
func (d DType) Size() int { return dtypes[d].size }

// ParseDType reads a type's name, nccl-tests' spellings (float, double, half) too.
func ParseDType(s string) (DType, error) {
	switch strings.ToLower(s) {
	case "float", "f32":
		return Float32, nil
	case "double", "f64":
		return Float64, nil
	case "half", "f16":
		return Float16, nil
	case "bf16":
		return BFloat16, nil
	case "e4m3", "f8e4m3":
		return Float8E4M3, nil
	case "e5m2", "f8e5m2":
		return Float8E5M2, nil
	}
	for i, d := range dtypes {
		if d.name == strings.ToLower(s) {
			return DType(i), nil
		}
	}
	return 0, fmt.Errorf("unknown type %q: must be float32, float64, float16, bfloat16, int32, int64, float8_e4m3 or float8_e5m2", s)
}

// ReduceOp combines two contributions.
type ReduceOp uint8

// The reductions. Avg is a sum divided by the number of ranks, once, at the end.
const (
	Sum ReduceOp = iota
	Prod
	Min
	Max
	Avg
)

var opNames = [...]string{"sum", "prod", "min", "max", "avg"}

// String is the operation's name.
func (o ReduceOp) String() string { return opNames[o] }

// ParseOp reads a reduction's name.
func ParseOp(s string) (ReduceOp, error) {
	for i, n := range opNames {
		if n == strings.ToLower(s) {
			return ReduceOp(i), nil
		}
	}
	return 0, fmt.Errorf("unknown reduction %q: must be one of %s", s, strings.Join(opNames[:], ", "))
}

// MarshalText writes the name.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads a name as Parse does.
func (k *Kind) UnmarshalText(b []byte) (err error) {
	*k, err = Parse(string(b))
	return err
}
