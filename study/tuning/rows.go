package tuning

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strconv"

	"railyard/model/block"
	"railyard/model/collective"
	"railyard/model/measurement"
	"railyard/model/units"
)

// Row is a row that a sweep measured.
type Row struct {
	Key      Key
	Way      Way
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
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	rows, err := measurement.Records(file, name, "collective", "gpus", "dtype", "size_bytes", "algo", "slices", "mechanism", "blocks",
		"threads", "streams", "time_us", "wrong", "error")
	if err != nil {
		return nil, err
	}
	for _, r := range rows {
		if r.Cell("error") != "" {
			continue
		}
		s := Row{Key: Key{DType: r.Cell("dtype")}, Run: r.Cell("run"), Way: Way{Algorithm: r.Cell("algo"),
			Windows: r.Cell("mechanism") == "windows"}}
		if s.Key.Kind, err = collective.Parse(r.Cell("collective")); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, r.Line, err)
		}
		var bytes int
		for _, n := range []struct {
			to     *int
			column string
		}{{&s.Key.GPUs, "gpus"}, {&bytes, "size_bytes"}, {&s.Way.Slices, "slices"}, {&s.Way.How.Blocks, "blocks"},
			{&s.Way.How.Threads, "threads"}, {&s.Way.How.Streams, "streams"}, {&s.Wrong, "wrong"}} {
			if *n.to, err = strconv.Atoi(r.Cell(n.column)); err != nil {
				return nil, fmt.Errorf("%s:%d: %s: %w", name, r.Line, n.column, err)
			}
		}
		if s.US, err = strconv.ParseFloat(r.Cell("time_us"), 64); err != nil {
			return nil, fmt.Errorf("%s:%d: time_us: %w", name, r.Line, err)
		}
		if text := r.Cell("stream_us"); text != "" {
			if s.StreamUS, err = strconv.ParseFloat(text, 64); err != nil {
				return nil, fmt.Errorf("%s:%d: stream_us: %w", name, r.Line, err)
			}
		}
		s.Key.Size = RoundedUp(units.Bytes(bytes))
		if s.Way.Algorithm != NCCL {
			if s.Way.How.Mechanism, err = block.ParseMechanism(r.Cell("mechanism")); err != nil {
				return nil, fmt.Errorf("%s:%d: %w", name, r.Line, err)
			}
		}
		out = append(out, s)
	}
	return out, nil
}

// RoundedUp is the power of two that three GPUs' sizes are rounded down from.
func RoundedUp(n units.Bytes) units.Bytes {
	p := units.Bytes(1)
	for p < n {
		p *= 2
	}
	return p
}
