package nccl

import (
	"encoding/binary"
	"math"

	"railyard/model/collective"
)

// value is element i of a rank's input: small integers, so that sums are exact.
func value(rank int, i int64) float32 { return float32((int64(rank)*31+i*7)%64 + 1) }

// input fills a rank's send buffer with float32.
func input(rank int, count int64) []byte {
	out := make([]byte, 4*count)
	for i := range count {
		binary.LittleEndian.PutUint32(out[4*i:], math.Float32bits(value(rank, i)))
	}
	return out
}

// expected is element i of a rank's output; ok is false where the rank has none.
func expected(c Case, ranks, rank int, share, i int64) (v float32, ok bool) {
	switch c.Kind {
	case collective.AllReduce:
		return reduced(c.Op, ranks, i), true
	case collective.Reduce:
		return reduced(c.Op, ranks, i), rank == c.Root
	case collective.ReduceScatter:
		return reduced(c.Op, ranks, int64(rank)*share+i), true
	case collective.AllGather:
		return value(int(i/share), i%share), true
	case collective.AllToAll:
		return value(int(i/share), int64(rank)*share+i%share), true
	}
	return value(c.Root, i), true // broadcast
}

func reduced(op collective.ReduceOp, ranks int, i int64) float32 {
	v := value(0, i)
	for r := 1; r < ranks; r++ {
		x := value(r, i)
		switch op {
		case collective.Prod:
			v *= x
		case collective.Min:
			v = min(v, x)
		case collective.Max:
			v = max(v, x)
		default:
			v += x
		}
	}
	if op == collective.Avg {
		v /= float32(ranks)
	}
	return v
}

// wrong counts the elements of a rank's output that differ; avg may be off by rounding.
func wrong(c Case, ranks, rank int, share int64, out []byte) (n int64) {
	for i := range int64(len(out)) / 4 {
		want, ok := expected(c, ranks, rank, share, i)
		got := math.Float32frombits(binary.LittleEndian.Uint32(out[4*i:]))
		if ok && !(math.Abs(float64(got-want)) <= tolerance(c.Op)*math.Abs(float64(want))) {
			n++
		}
	}
	return n
}

// tolerance is two units in the last place for averages, as nccl-tests allows.
func tolerance(op collective.ReduceOp) float64 {
	if op == collective.Avg {
		return 2.0 / (1 << 23)
	}
	return 0
}
