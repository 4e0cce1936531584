package report

import (
	"fmt"
	"io"

	"github.com/jedib0t/go-pretty/v6/table"

	"railyard/model/measurement"
)

// WriteText writes every row, or a summary by collective, algorithm, protocol, launch and
// number of GPUs; then the whole, the worst row, and what was skipped or is uncertain.
func (c *Comparison) WriteText(w io.Writer, topology, profile string) error {
	out := &lines{w: w}
	if c.EachRow && len(c.Rows) > 0 {
		c.writeRows(out)
		out.printf("\n")
	} else if len(c.Rows) > 0 {
		t := newTable(out)
		t.AppendHeader(table.Row{"collective", "algo", "proto", "launch", "GPUs", "rows", "MAPE", "factor", "bias", "worst"})
		alignRight(t, 5, 6, 7, 8, 9)
		for _, g := range c.groups(summaryKey) {
			k, one := g.key, &Comparison{Rows: g.rows}
			e, bad := one.errors(), g.rows[one.worst()]
			t.AppendRow(table.Row{k.kind.String(), orDash(k.algo), orDash(k.proto), orDash(k.launch), countOrDash(k.gpus), len(e), percent(measurement.MAPE(e)),
				factor(measurement.GeomeanFactor(e)), factor(measurement.Bias(e)), fmt.Sprintf("%s at %v", signedPercent(bad.Error), bad.Measured.Size)})
		}
		t.Render()
		out.printf("\n")
	}
	c.writeSummary(out, topology, profile)
	skipped, warnings := map[string]int{}, map[string]int{}
	for _, s := range c.Skipped {
		skipped[s.Reason]++
	}
	for _, r := range c.Rows {
		for _, x := range r.Predicted.Warnings {
			warnings[x]++
		}
	}
	writeCounts(out, "skipped", skipped)
	writeCounts(out, "warning", warnings)
	return out.err
}

func (c *Comparison) writeSummary(out *lines, topology, profile string) {
	i := c.worst()
	if i < 0 {
		out.printf("%s, profile %s: 0 rows could be compared, %d skipped\n", topology, profile, len(c.Skipped))
		return
	}
	e, r := c.errors(), c.Rows[i]
	out.printf("%s, profile %s: %d rows, MAPE %s, geometric-mean factor %s, bias %s (below 1: predicted too fast)\n", topology, profile, len(e),
		percent(measurement.MAPE(e)), factor(measurement.GeomeanFactor(e)), factor(measurement.Bias(e)))
	out.printf("worst: %s, %v of %v: measured %v, predicted %v (%s)\n", position(r.File, r.Measured), r.Measured.Collective, r.Measured.Size,
		r.Measured.Time, r.Predicted.Time, signedPercent(r.Error))
	c.writeOwn(out)
}
