// Package show is what the notebooks share: questions to the packages of the house that
// take more than a call or two, and their answers as tables and charts. Functions return
// errors; cells hand them to Must, since a cell that fails has to say so.
package show

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"railyard/model/units"
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
	var b strings.Builder
	tw := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, cells := range padded(rows) {
		fmt.Fprintln(tw, strings.Join(cells, "\t")+"\t")
	}
	tw.Flush()
	for line := range strings.Lines(b.String()) {
		if _, err := fmt.Fprintln(w, strings.TrimRight(line, " \n")); err != nil {
			return err
		}
	}
	return nil
}

// padded fills up columns of words on their right, for a writer that aligns all on it.
func padded(rows [][]string) [][]string {
	if len(rows) == 0 {
		return nil
	}
	width, words := make([]int, len(rows[0])), make([]bool, len(rows[0]))
	for i, cells := range rows {
		for k, c := range cells {
			width[k] = max(width[k], len([]rune(c)))
			_, err := strconv.ParseFloat(strings.TrimRight(c, " %x"), 64)
			words[k] = words[k] || i > 0 && err != nil
		}
	}
	out := make([][]string, len(rows))
	for i, cells := range rows {
		for k, c := range cells {
			if words[k] {
				c = fmt.Sprintf("%-*s", width[k], c)
			}
			out[i] = append(out[i], c)
		}
	}
	return out
}

// Sizes are from, from·factor, … up to to.
func Sizes(from, to units.Bytes, factor int) []units.Bytes {
	var out []units.Bytes
	for s := from; s <= to && s > 0 && factor > 1; s *= units.Bytes(factor) {
		out = append(out, s)
	}
	return out
}

func number(format string, v float64) string { return fmt.Sprintf(format, v) }
