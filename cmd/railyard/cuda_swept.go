package main

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"

	"railyard/exec/cuda"
	"railyard/model/collective"
	"railyard/model/units"
)

// swept is a row that cuda-sweep measured.
type swept struct {
	key    sweptKey
	v      variant
	us     float64
	stream float64 // launched one by one on streams; 0: not measured
	wrong  int     // elements; −1: not checked
	run    string  // "" in older files
}

// sweptKey is what was asked for; size is the power of two it was rounded down from.
type sweptKey struct {
	dtype string
	kind  collective.Kind
	gpus  int
	size  units.Bytes
}

// sweptKinds are the collectives in the order of tables.
var sweptKinds = []collective.Kind{collective.AllReduce, collective.AllGather, collective.ReduceScatter, collective.Broadcast, collective.AllToAll}

func (k sweptKey) compare(o sweptKey) int {
	return cmp.Or(-cmp.Compare(k.dtype, o.dtype), cmp.Compare(slices.Index(sweptKinds, k.kind), slices.Index(sweptKinds, o.kind)), -cmp.Compare(k.gpus, o.gpus), cmp.Compare(k.size, o.size))
}

// readSwept reads the rows without errors.
func readSwept(name string) (out []swept, err error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	lines, rows, err := namedColumns(file, name, "collective", "gpus", "dtype", "size_bytes", "algo", "slices", "mechanism", "blocks", "threads", "streams", "time_us", "wrong", "error")
	if err != nil {
		return nil, err
	}
	for i, r := range rows {
		if r["error"] != "" {
			continue
		}
		s := swept{key: sweptKey{dtype: r["dtype"]}, run: r["run"], v: variant{algo: r["algo"], windows: r["mechanism"] == "windows"}}
		if s.key.kind, err = collective.Parse(r["collective"]); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, lines[i], err)
		}
		var bytes int
		for _, n := range []struct {
			to     *int
			column string
		}{{&s.key.gpus, "gpus"}, {&bytes, "size_bytes"}, {&s.v.slices, "slices"}, {&s.v.how.Blocks, "blocks"}, {&s.v.how.Threads, "threads"}, {&s.v.how.Streams, "streams"}, {&s.wrong, "wrong"}} {
			if *n.to, err = strconv.Atoi(r[n.column]); err != nil {
				return nil, fmt.Errorf("%s:%d: %s: %w", name, lines[i], n.column, err)
			}
		}
		if s.us, err = strconv.ParseFloat(r["time_us"], 64); err != nil {
			return nil, fmt.Errorf("%s:%d: time_us: %w", name, lines[i], err)
		}
		if text := r["stream_us"]; text != "" {
			if s.stream, err = strconv.ParseFloat(text, 64); err != nil {
				return nil, fmt.Errorf("%s:%d: stream_us: %w", name, lines[i], err)
			}
		}
		s.key.size = roundedUp(units.Bytes(bytes))
		if s.v.algo != ncclAlgo {
			if s.v.how, err = cuda.ParseMechanism(s.v.how, r["mechanism"]); err != nil {
				return nil, fmt.Errorf("%s:%d: %w", name, lines[i], err)
			}
		}
		out = append(out, s)
	}
	return out, nil
}

// roundedUp is the power of two that three GPUs' sizes are rounded down from.
func roundedUp(n units.Bytes) units.Bytes {
	p := units.Bytes(1)
	for p < n {
		p *= 2
	}
	return p
}

// namedColumns reads a CSV by its header's names, with the lines of the rows.
func namedColumns(in io.Reader, name string, columns ...string) (lines []int, rows []map[string]string, err error) {
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
