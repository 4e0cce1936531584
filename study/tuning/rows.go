package tuning

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"

	"railyard/model/block"
	"railyard/model/collective"
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
	lines, rows, err := NamedColumns(file, name, "collective", "gpus", "dtype", "size_bytes", "algo", "slices", "mechanism", "blocks",
		"threads", "streams", "time_us", "wrong", "error")
	if err != nil {
		return nil, err
	}
	for i, r := range rows {
		if r["error"] != "" {
			continue
		}
		s := Row{Key: Key{DType: r["dtype"]}, Run: r["run"], Way: Way{Algorithm: r["algo"], Windows: r["mechanism"] == "windows"}}
		if s.Key.Kind, err = collective.Parse(r["collective"]); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, lines[i], err)
		}
		var bytes int
		for _, n := range []struct {
			to     *int
			column string
		}{{&s.Key.GPUs, "gpus"}, {&bytes, "size_bytes"}, {&s.Way.Slices, "slices"}, {&s.Way.How.Blocks, "blocks"},
			{&s.Way.How.Threads, "threads"}, {&s.Way.How.Streams, "streams"}, {&s.Wrong, "wrong"}} {
			if *n.to, err = strconv.Atoi(r[n.column]); err != nil {
				return nil, fmt.Errorf("%s:%d: %s: %w", name, lines[i], n.column, err)
			}
		}
		if s.US, err = strconv.ParseFloat(r["time_us"], 64); err != nil {
			return nil, fmt.Errorf("%s:%d: time_us: %w", name, lines[i], err)
		}
		if text := r["stream_us"]; text != "" {
			if s.StreamUS, err = strconv.ParseFloat(text, 64); err != nil {
				return nil, fmt.Errorf("%s:%d: stream_us: %w", name, lines[i], err)
			}
		}
		s.Key.Size = RoundedUp(units.Bytes(bytes))
		if s.Way.Algorithm != NCCL {
			if s.Way.How.Mechanism, err = block.ParseMechanism(r["mechanism"]); err != nil {
				return nil, fmt.Errorf("%s:%d: %w", name, lines[i], err)
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

// NamedColumns reads a CSV by its header's names, with the lines of the rows.
func NamedColumns(in io.Reader, name string, columns ...string) (lines []int, rows []map[string]string, err error) {
	r := csv.NewReader(in)
	r.Comment = '#'
	header, err := r.Read()
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	for _, c := range columns {
		if !slices.Contains(header, c) {
			return nil, nil, fmt.Errorf("%s: no column %s", name, c)
		}
	}
	for {
		cells, err := r.Read()
		if err == io.EOF {
			return lines, rows, nil
		}
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", name, err)
		}
		line, _ := r.FieldPos(0)
		row := map[string]string{}
		for i, c := range header {
			row[c] = cells[i]
		}
		lines, rows = append(lines, line), append(rows, row)
	}
}
