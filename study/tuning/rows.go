package tuning

import (
	"cmp"
	"math"
	"slices"

	"railyard/model/block"
	"railyard/model/collective"
	"railyard/model/measurement"
	"railyard/model/units"
)

// Row is a row that a sweep measured.
type Row struct {
	Key      Key
	Variant  Variant
	US       float64 // µs in a graph
	StreamUS float64 // µs launched one by one on streams; 0: not measured
	Wrong    int     // elements; −1: not checked
	Run      string  // "" in older files
}

// Key is what was asked for; Size is the power of two it was rounded down from.
type Key struct {
	DType string
	Kind  collective.Kind
	GPUs  int
	Size  units.Bytes
}

// Kinds are the collectives in the order of tables.
var Kinds = []collective.Kind{collective.AllReduce, collective.AllGather, collective.ReduceScatter, collective.Broadcast,
	collective.AllToAll}

// Compare orders keys as tables do.
func (k Key) Compare(o Key) int {
	return cmp.Or(-cmp.Compare(k.DType, o.DType), cmp.Compare(slices.Index(Kinds, k.Kind), slices.Index(Kinds, o.Kind)),
		-cmp.Compare(k.GPUs, o.GPUs), cmp.Compare(k.Size, o.Size))
}

// ReadRows reads the rows without errors.
func ReadRows(name string) (out []Row, err error) {
	err = measurement.FileLines(nil, name, func(l *measurement.Line) {
		if l.Cell("error") != "" {
			return
		}
		s := Row{Key: ReadKey(l), Run: l.Cell("run"), US: l.Number("time_us"), StreamUS: l.Number("stream_us"),
			Wrong: l.Whole("wrong", -1, math.MaxInt), Variant: Variant{Algorithm: l.Cell("algo"), Slices: count(l, "slices"),
				Windows: l.Cell("mechanism") == "windows"}}
		s.Variant.How.Blocks, s.Variant.How.Threads, s.Variant.How.Streams = count(l, "blocks"), count(l, "threads"), count(l, "streams")
		l.Given("slices", "blocks", "threads", "streams", "time_us", "wrong")
		if s.Variant.Algorithm != NCCL {
			if s.Variant.How.Mechanism, err = block.ParseMechanism(l.Cell("mechanism")); err != nil {
				l.Fail("mechanism", "%v", err)
			}
		}
		out = append(out, s)
	}, "collective", "gpus", "dtype", "size_bytes", "algo", "slices", "mechanism", "blocks", "threads", "streams", "time_us", "wrong",
		"error")
	return out, err
}

func count(l *measurement.Line, column string) int { return l.Whole(column, 0, math.MaxInt32) }

// ReadKey is what a line of a sweep, of ours or of another library, asked for.
func ReadKey(l *measurement.Line) Key {
	kind, err := collective.Parse(l.Cell("collective"))
	if err != nil {
		l.Fail("collective", "%v", err)
	}
	l.Given("gpus", "size_bytes")
	return Key{DType: l.Cell("dtype"), Kind: kind, GPUs: l.Count("gpus"), Size: RoundedUp(l.Size("size_bytes"))}
}

// RoundedUp is the power of two that three GPUs' sizes are rounded down from.
func RoundedUp(n units.Bytes) units.Bytes {
	p := units.Bytes(1)
	for p < n {
		p *= 2
	}
	return p
}
