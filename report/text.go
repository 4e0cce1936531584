package report

import (
	"fmt"
	"io"
	"maps"
	"slices"

	"railyard/report/table"
)

// lines prints until the first error and keeps it: a full disk or a closed pipe must not end in a result that looks whole.
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

func percent(v float64) string { return table.Percent(v) }
func factor(v float64) string  { return fmt.Sprintf("%.3f", v) }
func money(v float64) string   { return table.Money(v) }

// writeCounts prints each text once, with the number of results it is about.
func writeCounts(l *lines, what string, counts map[string]int) {
	for _, x := range sortedKeys(counts) {
		l.printf("%s (%d): %s\n", what, counts[x], x)
	}
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
