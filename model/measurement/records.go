package measurement

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Record is a line of a CSV file, whose cells are known by the names of their columns; "" in columns that the file lacks.
type Record struct {
	Line  int // of the file
	cells map[string]string
}

// Cell is a record's text in a column, without blanks around it.
func (r Record) Cell(column string) string { return r.cells[column] }

// Records reads a CSV whose first line names its columns, in any order, at least those that are needed. Lines that begin with # are
// left out.
func Records(in io.Reader, file string, needed ...string) ([]Record, error) {
	r := csv.NewReader(in)
	r.Comment = '#'
	header, err := r.Read()
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	for _, column := range needed {
		if !slices.Contains(header, column) {
			return nil, fmt.Errorf("%s:1: the first line must name the columns, at least %s", file, strings.Join(needed, ", "))
		}
	}
	var out []Record
	for {
		cells, err := r.Read()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		line, _ := r.FieldPos(0)
		x := Record{line, map[string]string{}}
		for i, column := range header {
			x.cells[column] = strings.TrimSpace(cells[i])
		}
		out = append(out, x)
	}
}
