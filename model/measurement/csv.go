package measurement

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"railyard/model/collective"
	"railyard/model/units"
)

// maxErrors bounds how many bad cells are reported at once.
const maxErrors = 20

// ReadCSV reads measurements. The header may be in any order; collective, size_bytes
// and time_us are needed (time_us may be empty where algbw_GBps is given); gpus, or
// gpus_per_node and nodes, algo, proto, launch and dtype are used where present; all
// other columns are carried through. All bad cells are reported with file and line.
func ReadCSV(r io.Reader, file string) (*Set, error) {
	in := csv.NewReader(r)
	in.FieldsPerRecord = -1
	header, err := in.Read()
	if err != nil {
		return nil, fmt.Errorf("%s: no header: %w", file, err)
	}
	p := &csvReader{file: file, set: &Set{File: file, Header: header}, at: map[string]int{}}
	for i, name := range header {
		header[i] = strings.TrimSpace(strings.TrimPrefix(name, "\ufeff"))
		p.at[header[i]] = i
	}
	for _, need := range []string{"collective", "size_bytes", "time_us"} {
		if _, ok := p.at[need]; !ok {
			return nil, fmt.Errorf("%s:1: there is no column %q; a measurement needs collective, size_bytes and time_us (found: %s)", file, need, strings.Join(header, ", "))
		}
	}
	for {
		cells, err := in.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		line, _ := in.FieldPos(0)
		p.row(line, cells)
		if len(p.errs) >= maxErrors {
			break
		}
	}
	return p.set, errors.Join(p.errs...)
}

type csvReader struct {
	file string
	set  *Set
	at   map[string]int
	errs []error
	line int
	row0 []string
}

func (p *csvReader) fail(column, format string, args ...any) {
	p.errs = append(p.errs, fmt.Errorf("%s:%d: %s: %s", p.file, p.line, column, fmt.Sprintf(format, args...)))
}

func (p *csvReader) cell(column string) string {
	if i, ok := p.at[column]; ok && i < len(p.row0) {
		return strings.TrimSpace(p.row0[i])
	}
	return ""
}

// number reads a non-negative number; an empty cell is 0.
func (p *csvReader) number(column string) float64 {
	text := p.cell(column)
	if text == "" {
		return 0
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || v < 0 || math.IsInf(v, 0) || math.IsNaN(v) {
		p.fail(column, "%q is not a number of zero or more", text)
		return 0
	}
	return v
}

func (p *csvReader) row(line int, cells []string) {
	p.line, p.row0 = line, cells
	if len(cells) != len(p.set.Header) {
		p.fail("row", "%d cells for %d columns", len(cells), len(p.set.Header))
		return
	}
	kind, err := collective.Parse(p.cell("collective"))
	if err != nil {
		p.fail("collective", "%v", err)
	}
	r := Row{Line: line, Collective: kind, Algo: p.cell("algo"), Proto: p.cell("proto"), Launch: p.cell("launch"), DType: p.cell("dtype"), Columns: slices.Clone(cells)}
	size, err := strconv.ParseInt(p.cell("size_bytes"), 10, 64)
	if err != nil || size < 0 {
		p.fail("size_bytes", "%q is not a number of bytes", p.cell("size_bytes"))
	}
	r.Size = units.Bytes(size)
	us := p.number("time_us")
	if us == 0 {
		if bw := p.number("algbw_GBps"); bw > 0 {
			us = float64(size) / bw / 1e3
		}
	}
	if us > 1e12 {
		p.fail("time_us", "%v is more than eleven days", us)
		us = 0
	}
	r.Time = units.FromMicroseconds(us)
	r.Nodes, r.GPUs = int(p.number("nodes")), int(p.number("gpus"))
	if per := int(p.number("gpus_per_node")); r.GPUs == 0 && per > 0 {
		r.GPUs = per * max(r.Nodes, 1)
	}
	p.set.Rows = append(p.set.Rows, r)
}
