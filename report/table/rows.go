package table

import (
	"encoding/csv"
	"io"
	"reflect"
)

// Rows writes rows as CSV, each as soon as it is there; a row is a struct of plain fields with these tags.
type Rows[R any] struct {
	out     *csv.Writer
	columns []column
}

// NewRows writes the header.
func NewRows[R any](w io.Writer) (*Rows[R], error) {
	r := &Rows[R]{out: csv.NewWriter(w), columns: columnsOf(reflect.TypeFor[R](), reflect.Value{})}
	names := make([]string, len(r.columns))
	for i := range names {
		names[i] = r.columns[i].csvName()
	}
	return r, r.line(names)
}

// Write writes a row.
func (r *Rows[R]) Write(row *R) error {
	cells := make([]string, len(r.columns))
	for i := range cells {
		c := &r.columns[i]
		cells[i] = c.exact(c.value(reflect.ValueOf(row)))
	}
	return r.line(cells)
}

// line writes a line through to the file.
func (r *Rows[R]) line(cells []string) error {
	if err := r.out.Write(cells); err != nil {
		return err
	}
	r.out.Flush()
	return r.out.Error()
}

// WriteRows writes rows that are all there.
func WriteRows[R any](w io.Writer, rows []R) error {
	out, err := NewRows[R](w)
	for i := 0; i < len(rows) && err == nil; i++ {
		err = out.Write(&rows[i])
	}
	return err
}
