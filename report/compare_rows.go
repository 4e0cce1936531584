package report

import (
	"fmt"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"railyard/model/units"
)

// verdict says whether what was measured is within what is normal, "" where nothing says
// what is.
func (r ComparedRow) verdict() string {
	if r.Predicted.High == 0 {
		return ""
	}
	var words []string
	for _, x := range []struct {
		time  units.Time
		where string
	}{{r.Measured.Time, ""}, {r.Measured.InPlace, "in place "}} {
		switch {
		case x.time > r.Predicted.High:
			words = append(words, x.where+"slow")
		case x.time > 0 && x.time < r.Predicted.Low:
			words = append(words, x.where+"fast")
		}
	}
	if len(words) == 0 {
		return "normal"
	}
	return strings.Join(words, ", ")
}

// writeRows lists every row with what is normal for it.
func (c *Comparison) writeRows(out *lines) {
	for _, g := range c.groups(keyOf) {
		out.printf("%v", g.key.kind)
		if g.key.gpus > 0 {
			out.printf(" on %s", units.Counted(g.key.gpus, "GPU"))
		}
		if g.key.nodes > 1 {
			out.printf(" of %d nodes", g.key.nodes)
		}
		out.printf("\n\n")
		t := newTable(out)
		t.AppendHeader(table.Row{"size", "algo", "measured(us)", "in place", "normal(us)", "busbw(GB/s)", "in place", "normal", "is"})
		alignRight(t, 1, 3, 4, 5, 6, 7, 8)
		for _, r := range g.rows {
			t.AppendRow(table.Row{r.Measured.Size.String(), r.Predicted.Schedule, micros(r.Measured.Time), micros(r.Measured.InPlace), band(r.Predicted.Low.Microseconds(), r.Predicted.High.Microseconds()),
				gigabytes(r, r.Measured.Time), gigabytes(r, r.Measured.InPlace), band(r.busBW(r.Predicted.High), r.busBW(r.Predicted.Low)), r.verdict()})
		}
		t.Render()
		out.printf("\n")
	}
	c.writeVerdicts(out)
}

// writeVerdicts counts them.
func (c *Comparison) writeVerdicts(out *lines) {
	count := map[string]int{}
	for _, r := range c.Rows {
		v := r.verdict()
		switch {
		case strings.Contains(v, "slow"):
			v = "slow"
		case strings.Contains(v, "fast"):
			v = "fast"
		}
		count[v]++
	}
	if len(c.Rows) > count[""] {
		out.printf("%d of %d rows are normal (within twice the mean error of the prediction), %d slow, %d fast\n", count["normal"], len(c.Rows)-count[""], count["slow"], count["fast"])
	}
}

// busBW is the bus bandwidth at which a row takes a time, 0 where it is not known.
func (r ComparedRow) busBW(t units.Time) float64 {
	if t <= 0 || r.Measured.GPUs == 0 {
		return 0
	}
	return r.Measured.Collective.BusFactor(r.Measured.GPUs) * float64(r.Measured.Size) / t.Seconds() / 1e9
}

func gigabytes(r ComparedRow, t units.Time) string {
	if v := r.busBW(t); v > 0 {
		return fmt.Sprintf("%.2f", v)
	}
	return "–"
}

func micros(t units.Time) string {
	if t == 0 {
		return "–"
	}
	return fmt.Sprintf("%.1f", t.Microseconds())
}

// band is a range with as many decimals as nccl-tests give of its size.
func band(low, high float64) string {
	switch {
	case high == 0:
		return "–"
	case high < 10:
		return fmt.Sprintf("%.2f–%.2f", low, high)
	}
	return fmt.Sprintf("%.1f–%.1f", low, high)
}
