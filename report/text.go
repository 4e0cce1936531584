package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// lines prints until the first error and keeps it: a full disk or a closed pipe must
// not end in a result that looks whole.
type lines struct {
	w   io.Writer
	err error
}

// Write implements io.Writer.
func (l *lines) Write(p []byte) (int, error) {
	if l.err != nil {
		return 0, l.err
	}
	n, err := l.w.Write(p)
	l.err = err
	return n, err
}

func (l *lines) printf(format string, args ...any) { fmt.Fprintf(l, format, args...) }

// newTable is the look of all text tables: columns of numbers to the right.
func newTable(w io.Writer) table.Writer {
	t := table.NewWriter()
	t.SetOutputMirror(w)
	style := table.StyleLight
	style.Options = table.OptionsNoBordersAndSeparators
	style.Format.Header = 0
	t.SetStyle(style)
	t.SuppressTrailingSpaces()
	return t
}

// alignRight sets columns, counted from 1, as numbers.
func alignRight(t table.Writer, columns ...int) {
	configs := make([]table.ColumnConfig, len(columns))
	for i, c := range columns {
		configs[i] = table.ColumnConfig{Number: c, Align: text.AlignRight, AlignHeader: text.AlignRight}
	}
	t.SetColumnConfigs(configs)
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func countOrDash(n int) string {
	if n == 0 {
		return "-"
	}
	return strconv.Itoa(n)
}

func percent(v float64) string { return fmt.Sprintf("%.1f %%", 100*v) }
func percentOrDash(v float64) string {
	if v == 0 {
		return "-"
	}
	return percent(v)
}

func signedPercent(v float64) string { return fmt.Sprintf("%+.1f %%", 100*v) }
func factor(v float64) string        { return fmt.Sprintf("%.3f", v) }
func hundredths(v float64) string    { return fmt.Sprintf("%.2f", v) }

// number prints a value with all its digits and no exponent.
func number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// positive is a number that is above 0 where it is known, else nothing.
func positive(v float64) string {
	if v > 0 {
		return number(v)
	}
	return ""
}

// Thousands is a whole number of at least 0 with its thousands set apart: 435,012.
func Thousands(v float64) string {
	s := number(math.Round(v))
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Rate is a throughput to four digits: 435,000 from 1,000 on, 12.35 below.
func Rate(v float64) string {
	if v < 1000 {
		return fmt.Sprintf("%.4g", v)
	}
	unit := math.Pow10(max(int(math.Log10(v))-3, 0))
	return Thousands(math.Round(v/unit) * unit)
}

// Milliseconds is a time for people: seconds from ten on.
func Milliseconds(ms float64) string {
	if ms >= 10_000 {
		return fmt.Sprintf("%.2f s", ms/1000)
	}
	return fmt.Sprintf("%.1f ms", ms)
}

// writeCounts prints each text once, with the number of results it is about.
func writeCounts(l *lines, what string, counts map[string]int) {
	for _, x := range sortedKeys(counts) {
		l.printf("%s (%d): %s\n", what, counts[x], x)
	}
}

func writeCSV(w io.Writer, rows [][]string) error {
	out := csv.NewWriter(w)
	if err := out.WriteAll(rows); err != nil {
		return err
	}
	return out.Error()
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
