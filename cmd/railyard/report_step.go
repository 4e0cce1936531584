package main

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"

	"github.com/spf13/cobra"

	"railyard/capacity/search"
	"railyard/capacity/step"
	"railyard/model/price"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/model/workload"
	"railyard/report"
	"railyard/report/figures"
	"railyard/report/page"
	"railyard/report/table"
)

// scaling is the section about fewer nodes of the same kind, each with its own best layout.
func (f *reportFlags) scaling(cmd *cobra.Command, b *builder, d *report.StepDocument) error {
	all, err := f.training.topo.load()
	if err != nil {
		return err
	}
	var points []figures.ScalePoint
	size := &report.SizeDocument{Workload: d.Workload, Unit: d.Unit, Months: f.prices.plan.Months, Best: -1}
	for _, nodes := range halves(all.Healthy().NumNodes()) {
		x := f.training
		x.topo.nodes, x.topo.fail, x.topo.slow, x.topo.loads = nodes, nil, nil, nil
		x.layout = layoutFlags{zero: -1, global: f.training.layout.global, sequence: true}
		p, w, err := x.load()
		if err != nil {
			return err
		}
		point := figures.ScalePoint{GPUs: p.Machine().Topology.NumRanks(), UnitsPerSecond: d.UnitsPerSecond,
			Efficiency: d.ScalingEfficiency}
		if !reflect.DeepEqual(x, f.training) { // else it is what d says
			point.UnitsPerSecond, point.Efficiency, err = stepRate(cmd, x, p, w)
		}
		var unfit *search.Unfit
		if errors.As(err, &unfit) {
			continue // too few GPUs
		}
		if err != nil {
			return err
		}
		points = append(points, point)
		t, rate := p.Machine().Topology, point.UnitsPerSecond
		row := report.SizeRow{Design: units.Counted(t.NumNodes(), "node"), UnitsPerSecond: rate, OnFront: true}
		c, err := costOf(t, f.prices.file, f.prices.plan)
		var missing *price.Missing
		if err != nil && !errors.As(err, &missing) {
			return err
		}
		if err == nil {
			row.Priced, row.Total, size.Currency, size.Prices, size.Date = true, c.Total, c.Currency, c.Prices, c.PricesDate
		}
		size.Rows = append(size.Rows, row)
	}
	if len(points) < 2 {
		return nil
	}
	list := []figure{{name: "scaling", chart: figures.Scaling(d.Workload, d.Unit, "Predicted by railyard, the best layout for each "+
		"size; the same global batch", points), caption: "Sizes at which no layout fits are left out."}}
	if size.Rows[0].Priced {
		list = append(list, figure{name: "pareto", chart: figures.Pareto(size)})
	}
	return b.section("Scaling", []string{"The same node and network, each size with its own best layout."}, list, nil, nil)
}

// stepRate is the throughput of the best layout, and its scaling efficiency.
func stepRate(cmd *cobra.Command, f trainingFlags, p *step.Predictor, w *workload.Workload) (rate, efficiency float64, err error) {
	l, _, err := (&capacityStepFlags{training: f}).layout(cmd, p, w)
	if err != nil {
		return 0, 0, err
	}
	r, err := step.Run(p, w, l, step.Options{})
	if err != nil {
		return 0, 0, err
	}
	return r.UnitsPerSecond(), r.ScalingEfficiency(), nil
}

// halves are n and what halving it gives, ascending.
func halves(n int) []int {
	var out []int
	for k := n; k >= 1; k /= 2 {
		out = append([]int{k}, out...)
	}
	return out
}

// cost is the section about money.
func (f *reportFlags) cost(b *builder, t *topology.Topology) error {
	d, err := costOf(t.Healthy(), f.prices.file, f.prices.plan)
	var missing *price.Missing
	if errors.As(err, &missing) && f.prices.file == "" {
		return b.section("Cost", nil, nil, nil, []string{"Not priced: " + missing.Error() + "."})
	}
	if err != nil {
		return err
	}
	return b.section("Cost", []string{fmt.Sprintf("%s %s to buy, %s over %d months with power, space, staff and maintenance; %.1f kW at "+
		"full load.", d.Currency, table.Money(d.Purchase),
		table.Money(d.Total), d.Months, d.Watts/1000)},
		[]figure{{name: "cost", chart: figures.CostOverTime(d)}}, []page.Table{table.Of(d.Bill).Page("Purchase, " + d.Currency)}, nil)
}

func drawn(x figure) ([]byte, error) {
	write, err := x.svg("figure.svg")
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = write(&out)
	return out.Bytes(), err
}
