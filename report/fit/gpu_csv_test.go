package fit

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"railyard/model/gpu"
	"railyard/model/units"
)

// ReadMatMuls reads measured products: gpu,type,m,n,k,us.
func ReadMatMuls(r io.Reader, file string) ([]MatMul, error) {
	var out []MatMul
	err := eachRow(r, file, []string{"gpu", "type", "m", "n", "k", "us"}, 2, func(text []string, v []float64) error {
		p, err := gpu.ParsePrecision(text[1])
		out = append(out, MatMul{GPU: text[0], Type: p, M: v[0], N: v[1], K: v[2], Time: units.FromMicroseconds(v[3])})
		return err
	})
	return out, err
}

// ReadAttention reads measured attention: gpu,kernel,pass,batch,sequence,heads,kv_heads,head_dim,us.
func ReadAttention(r io.Reader, file string) ([]Attention, error) {
	var out []Attention
	header := []string{"gpu", "kernel", "pass", "batch", "sequence", "heads", "kv_heads", "head_dim", "us"}
	err := eachRow(r, file, header, 3, func(text []string, v []float64) error {
		if text[2] != "forward" && text[2] != "backward" {
			return fmt.Errorf("pass %q is not forward or backward", text[2])
		}
		out = append(out, Attention{GPU: text[0], Kernel: text[1], Backward: text[2] == "backward", Batch: v[0], Sequence: v[1], Heads: v[2],
			KV: v[3], HeadDim: v[4], Time: units.FromMicroseconds(v[5])})
		return nil
	})
	return out, err
}

// eachRow visits the rows of a CSV file with this header, of whose columns the first
// ones are text and the others positive numbers.
func eachRow(r io.Reader, file string, header []string, texts int, visit func([]string, []float64) error) error {
	in := csv.NewReader(r)
	in.ReuseRecord = true
	for line := 1; ; line++ {
		row, err := in.Read()
		switch {
		case err == io.EOF && line > 1:
			return nil
		case err == io.EOF:
			return fmt.Errorf("%s: empty: the first line must be %s", file, strings.Join(header, ","))
		case err != nil:
			return fmt.Errorf("%s: %w", file, err)
		case line == 1 && !slices.Equal(row, header):
			return fmt.Errorf("%s:1: the first line must be %s", file, strings.Join(header, ","))
		case line == 1:
			continue
		}
		numbers := make([]float64, len(row)-texts)
		for i, cell := range row[texts:] {
			if numbers[i], err = strconv.ParseFloat(cell, 64); err != nil || !(numbers[i] > 0) || math.IsInf(numbers[i], 0) {
				return fmt.Errorf("%s:%d: %s must be a positive number, not %q", file, line, header[texts+i], cell)
			}
		}
		if err := visit(row[:texts], numbers); err != nil {
			return fmt.Errorf("%s:%d: %w", file, line, err)
		}
	}
}
