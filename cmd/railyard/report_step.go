package main

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/spf13/cobra"

	"railyard/capacity/search"
	"railyard/capacity/step"
	"railyard/model/price"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/report"
	"railyard/report/figures"
	"railyard/report/page"
	"railyard/report/table"
)

// scaling is the section about fewer nodes of the same kind, each with its own best layout.
func (f *reportFlags) scaling(cmd *cobra.Command, d *report.StepDocument) (s page.Section, err error) {
	all, err := f.Training.Topo.load()
	if err != nil {
		return s, err
	}
	var points []figures.ScalePoint
	size := &report.SizeDocument{Workload: d.Workload, Unit: d.Unit, Months: f.Prices.Months, Best: -1}
	for _, nodes := range halvings(all.Healthy().NumNodes()) {
		x := f.Training
		x.Topo.Nodes, x.Topo.Fail, x.Topo.Slow, x.Topo.Loads = nodes, nil, nil, nil
		x.Layout = layoutFlags{Given: search.Space{Zero: -1, GlobalBatch: f.Training.Layout.Given.GlobalBatch}, Sequence: true}
		t, err := x.Topo.load()
		if err != nil {
			return s, err
		}
		point := figures.ScalePoint{GPUs: t.NumRanks(), UnitsPerSecond: d.UnitsPerSecond, Efficiency: d.ScalingEfficiency}
		if !reflect.DeepEqual(x, f.Training) { // else it is what d says
			_, r, _, err := x.step(cmd, step.Options{})
			var unfit *search.Unfit
			if errors.As(err, &unfit) {
				continue // too few GPUs
			}
			if err != nil {
				return s, err
			}
			point.UnitsPerSecond, point.Efficiency = r.UnitsPerSecond(), r.ScalingEfficiency()
		}
		points = append(points, point)
		row := report.SizeRow{Design: units.Counted(t.NumNodes(), "node"), UnitsPerSecond: point.UnitsPerSecond, Pareto: true}
		c, err := costOf(t, f.Prices.File, f.Prices.plan())
		var missing *price.Missing
		if err != nil && !errors.As(err, &missing) {
			return s, err
		}
		if err == nil {
			row.Priced, row.Total, size.Currency, size.Prices, size.Date = true, c.Total, c.Currency, c.Prices, c.PricesDate
		}
		size.Rows = append(size.Rows, row)
	}
	if len(points) < 2 {
		return s, nil
	}
	list := []page.Figure{{Name: "scaling", Chart: figures.Scaling(d.Workload, d.Unit, "Predicted by railyard, the best layout for each "+
		"size; the same global batch", points), Caption: "Sizes at which no layout fits are left out."}}
	if size.Rows[0].Priced {
		list = append(list, page.Figure{Name: "pareto", Chart: figures.Pareto(size)})
	}
	return page.Section{Heading: "Scaling", Text: []string{"The same node and network, each size with its own best layout."},
		Figures: list}, nil
}

// halvings are n and what halving it gives, ascending.
func halvings(n int) []int {
	var out []int
	for k := n; k >= 1; k /= 2 {
		out = append([]int{k}, out...)
	}
	return out
}

// cost is the section about money.
func (f *reportFlags) cost(t *topology.Topology) (s page.Section, err error) {
	s.Heading = "Cost"
	d, err := costOf(t.Healthy(), f.Prices.File, f.Prices.plan())
	var missing *price.Missing
	if errors.As(err, &missing) && f.Prices.File == "" {
		s.Notes = []string{"Not priced: " + missing.Error() + "."}
		return s, nil
	}
	if err != nil {
		return s, err
	}
	s.Text = []string{fmt.Sprintf("%s %s to buy, %s over %d months with power, space, staff and maintenance; %.1f kW at full load.",
		d.Currency,
		table.Money(d.Purchase), table.Money(d.Total), d.Months, d.Watts/1000)}
	s.Figures = []page.Figure{{Name: "cost", Chart: figures.CostOverTime(d)}}
	s.Tables = []page.Table{table.Of(d.Bill).Page("Purchase, " + d.Currency)}
	return s, nil
}
