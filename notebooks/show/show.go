// Package show is what the notebooks share: questions to the packages of the house that
// take more than a call or two, and their answers as tables and charts. Functions return
// errors; cells hand them to Must, since a cell that fails has to say so.
package show

import (
	"io"
	"slices"
	"strconv"
	"strings"

	"railyard/model/units"
	"railyard/report/table"
)

// Must is v; an error ends the cell.
func Must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// SVG is a picture's text, from what chart.Draw, topoview.Draw and Figure.Draw return
// for a name that ends in .svg.
func SVG(write func(io.Writer) error, err error) string {
	var b strings.Builder
	if err == nil {
		err = write(&b)
	}
	return Must(b.String(), err)
}

// Table prints rows below a header in columns; those of numbers stand to the right.
func Table(w io.Writer, rows [][]string) error {
	if len(rows) == 0 {
		return nil
	}
	t := table.Shown{Heads: rows[0], Rows: rows[1:], Right: make([]bool, len(rows[0]))}
	for k := range t.Right {
		t.Right[k] = !slices.ContainsFunc(t.Rows, func(cells []string) bool {
			_, err := strconv.ParseFloat(strings.TrimRight(cells[k], " %x"), 64)
			return err != nil
		})
	}
	_, err := io.WriteString(w, t.Text())
	return err
}

// Sizes are from, from·factor, … up to to.
func Sizes(from, to units.Bytes, factor int) []units.Bytes {
	var out []units.Bytes
	for s := from; s <= to && s > 0 && factor > 1; s *= units.Bytes(factor) {
		out = append(out, s)
	}
	return out
}
