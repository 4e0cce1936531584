package report

import (
	"fmt"
	"io"
	"slices"
	"sort"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
)

// newTable is the look of all text tables.
func newTable(w io.Writer) table.Writer {
	t := table.NewWriter()
	t.SetOutputMirror(w)
	style := table.StyleLight
	style.Options = table.OptionsNoBordersAndSeparators
	style.Format.Header = 0
	t.SetStyle(style)
	return t
}

func orAny(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func splitName(s string) []string { return strings.Split(s, "|") }

func percent(v float64) string { return fmt.Sprintf("%.1f %%", 100*v) }

// writeWarnings prints each warning once, with the number of results it is about.
func writeWarnings(w io.Writer, counts map[string]int) {
	var list []string
	for x := range counts {
		list = append(list, x)
	}
	sort.Strings(list)
	for _, x := range list {
		fmt.Fprintf(w, "warning (%d): %s\n", counts[x], x)
	}
}

// busiest sorts links by utilisation, busiest first.
func busiest(links []LinkLoad) []LinkLoad {
	out := slices.Clone(links)
	sort.SliceStable(out, func(i, j int) bool { return out[i].Utilisation > out[j].Utilisation })
	return out
}
