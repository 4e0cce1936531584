package report

import (
	"cmp"
	"math"
	"slices"

	"railyard/model/cost"
	"railyard/model/measurement"
	"railyard/model/units"
)

// headlineRow is how far predictions are off on systems that no kernel has seen.
type headlineRow struct {
	Rows   string   `json:"rows" text:"rows"`
	Series int      `json:"series" text:"series"`
	Count  int      `json:"count" text:"rows"`
	Median float64  `json:"median_series_factor" text:"median series" as:"factor"`
	Factor float64  `json:"factor" text:"all rows" as:"factor"`
	Bias   float64  `json:"bias" text:"bias" as:"factor"`
	Own    *float64 `json:"nccl_model_factor" text:"NCCL's own model" as:"factor"`
	Ours   *float64 `json:"ours_on_these" text:"ours on its rows" as:"factor"`
	Inside float64  `json:"inside" text:"inside the band" as:"share"`
}

type sizeBand struct {
	name string
	to   units.Bytes
}

// sizeBands end where errors are told apart by size.
var sizeBands = []sizeBand{{"below 8 KiB", 8 * units.KiB}, {"to 256 KiB", 256 * units.KiB}, {"to 4 MiB", 4 * units.MiB},
	{"to 64 MiB", 64 * units.MiB}, {"above", math.MaxInt64}}

// headline are the errors of rows predicted without their system: in a box and between boxes, what they cross, which
// collective and which sizes. Series count the same, whatever number of rows they have.
func (c *Comparison) headline() []headlineRow {
	out := []headlineRow{c.headlineOf("all", func(ComparedRow) bool { return true })}
	for _, part := range []struct {
		name string
		in   func(ComparedRow) bool
	}{{"one node", ComparedRow.inBox}, {"several nodes", func(r ComparedRow) bool { return !r.inBox() }}} {
		out = append(out, c.headlineOf(part.name, part.in))
		for _, b := range sizeBands {
			out = append(out, c.headlineOf(part.name+", "+b.name, func(r ComparedRow) bool { return part.in(r) && r.sizeBand() == b.name }))
		}
	}
	for _, by := range []func(ComparedRow) string{
		func(r ComparedRow) string { return "over " + cmp.Or(r.Predicted.Over, "schedules of ours") },
		func(r ComparedRow) string { return r.Measured.Collective.String() },
		func(r ComparedRow) string { return "by kernels: " + cmp.Or(r.Predicted.Basis, "none") },
	} {
		values := map[string]bool{}
		for _, r := range c.Rows {
			values[by(r)] = true
		}
		for _, value := range sortedKeys(values) {
			out = append(out, c.headlineOf(value, func(r ComparedRow) bool { return by(r) == value }))
		}
	}
	return out
}

// sizeBand names the sizes that a row's errors are told apart by.
func (r ComparedRow) sizeBand() string {
	i := slices.IndexFunc(sizeBands, func(b sizeBand) bool { return r.Measured.Size < b.to })
	return sizeBands[i].name
}

// Residuals is a headline's rows one by one, in the order of their files: the columns that files share, then the sizes,
// medium and kernels that the headline tells rows apart by, then what was measured and predicted.
func (c *Comparison) Residuals() *CompareDocument {
	out := c.sharedColumns()
	slices.SortStableFunc(out.Rows, func(a, b ComparedRow) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Measured.Line, b.Measured.Line))
	})
	out.Header = append(out.Header, "sizes", "over", "kernels")
	for i := range out.Rows {
		r := &out.Rows[i]
		r.Measured.Columns = append(r.Measured.Columns, r.sizeBand(), r.Predicted.Over, r.Predicted.Basis)
	}
	return out.Document("all", "")
}

// inBox reports whether a row's messages crossed no network.
func (r ComparedRow) inBox() bool { return cost.ClassOf(r.Predicted.Over) != cost.Across }

func (c *Comparison) headlineOf(name string, in func(ComparedRow) bool) headlineRow {
	one := c.where(in)
	out := headlineRow{Rows: name, Count: len(one.Rows)}
	if len(one.Rows) == 0 {
		return out
	}
	var factors []float64
	for _, s := range one.Judge().Series {
		factors = append(factors, s.Factor)
	}
	ours, theirs := one.both()
	out.Series, out.Median, out.Factor = len(factors), measurement.Median(factors), measurement.GeomeanFactor(one.errors())
	out.Bias = *statistics(one.errors()).Bias
	out.Own, out.Ours = statistics(theirs).Geomean, statistics(ours).Geomean
	for i := range one.Rows {
		if one.Rows[i].inside() {
			out.Inside += 1 / float64(len(one.Rows))
		}
	}
	return out
}
