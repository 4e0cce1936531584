package measurement

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// maxErrors bounds how many bad cells are reported at once.
const maxErrors = 20

// needed are the columns without which a file is no list of measurements.
var needed = []string{"collective", "size_bytes", "time_us"}

// ReadCSV reads measurements. Lines that begin with # before the header are comments.
// The header may be in any order; collective, size_bytes and time_us are needed; gpus,
// or gpus_per_node and nodes, id, system, algo, proto, launch, dtype and nccl_version
// are used where present; every column is carried through. Where time_us is empty the
// time is derived from algbw_GBps or busbw_GBps; a row without size or time is kept and
// marked Unusable. Anything else that is wrong is an error with file, line and column,
// all of them at once; with an error the set holds the rows that could be read.
func ReadCSV(r io.Reader, file string) (*Set, error) {
	in := csv.NewReader(r)
	in.FieldsPerRecord = -1
	in.Comment = '#'
	header, err := in.Read()
	switch {
	case errors.Is(err, io.EOF):
		return nil, fmt.Errorf("%s:1: the file is empty: the first line must name the columns, at least %s", file,
			strings.Join(needed, ", "))
	case err != nil:
		return nil, fmt.Errorf("%s: the header: %w", file, err)
	}
	in.Comment = 0 // from here on a leading # is data
	line, _ := in.FieldPos(0)
	for i, name := range header {
		header[i] = strings.TrimSpace(strings.TrimPrefix(name, "\ufeff"))
	}
	if err := checkHeader(header); err != nil {
		return nil, fmt.Errorf("%s:%d: %w", file, line, err)
	}
	p := &csvReader{set: &Set{File: file, Header: header}, at: map[string]int{}}
	for i, name := range header {
		p.at[name] = i
	}
	p.readRows(in)
	return p.set, errors.Join(p.errs...)
}

// checkHeader reports missing and repeated columns.
func checkHeader(header []string) error {
	var missing []string
	for _, need := range needed {
		if !slices.Contains(header, need) {
			missing = append(missing, fmt.Sprintf("%q", need))
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("there is no column %s; a measurement needs %s (found: %s)", strings.Join(missing, " and no "),
			strings.Join(needed, ", "), strings.Join(header, ", "))
	}
	for i, name := range header {
		if name == "" {
			return fmt.Errorf("column %d has no name", i+1)
		}
		if at := slices.Index(header, name); at < i {
			return fmt.Errorf("columns %d and %d are both named %q: rename one", at+1, i+1, name)
		}
	}
	return nil
}

// csvReader reads the rows below a header.
type csvReader struct {
	set  *Set
	at   map[string]int
	errs []error
	line int
	row  []string // the cells of the line that is being read
}

func (p *csvReader) readRows(in *csv.Reader) {
	for {
		cells, err := in.Read()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			p.errs = append(p.errs, fmt.Errorf("%s: %w", p.set.File, err))
			return
		}
		p.line, _ = in.FieldPos(0)
		p.row = cells
		if len(p.errs) >= maxErrors {
			p.errs = append(p.errs, fmt.Errorf("%s:%d: and perhaps more: reading ended after %d errors", p.set.File, p.line, len(p.errs)))
			return
		}
		before := len(p.errs)
		if m := p.measurement(); len(p.errs) == before {
			p.set.Rows = append(p.set.Rows, m)
		}
	}
}

func (p *csvReader) fail(column, format string, args ...any) {
	p.errs = append(p.errs, fmt.Errorf("%s:%d: %s: %s", p.set.File, p.line, column, fmt.Sprintf(format, args...)))
}

// cell is the text of a column, "" where the file does not have it.
func (p *csvReader) cell(column string) string {
	if i, ok := p.at[column]; ok {
		return strings.TrimSpace(p.row[i])
	}
	return ""
}
