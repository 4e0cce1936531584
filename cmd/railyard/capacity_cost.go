package main

import (
	"errors"

	"github.com/spf13/cobra"

	"railyard/capacity/inventory"
	"railyard/capacity/ownership"
	"railyard/cmd/internal/cli"
	"railyard/model/price"
	"railyard/model/topology"
	"railyard/report"
)

// cost prices the cluster that the topology is.
func (f *sizeQuestion) cost(cmd *cobra.Command) error {
	idle := cli.NoEffect(cmd, "on the price of a topology: leave it, or the topology, out", "node", "counts", "network", "target",
		"workload", "workload-set", "profile", "gpu", "runtime", "layout", "fix", "journal", "shard", "load")
	if err := errors.Join(idle, f.Prices.check()); err != nil {
		return err
	}
	t, err := f.Training.Topo.load()
	if err != nil {
		return err
	}
	d, err := costOf(t, f.Prices.File, f.Prices.plan())
	if err != nil {
		return err
	}
	return f.Format.Emit(cmd, d)
}

// costOf prices a topology.
func costOf(t *topology.Topology, prices string, plan ownership.Plan) (*report.CostDocument, error) {
	book, err := price.Read(prices)
	if err != nil {
		return nil, err
	}
	bill, err := ownership.Of(inventory.Of(t), book, plan)
	if err != nil {
		return nil, err
	}
	d := &report.CostDocument{Schema: "railyard.cost/v1", Topology: t.Name(), Nodes: t.NumNodes(), GPUs: t.NumRanks(), Prices: book.Name,
		PricesDate: book.Date,
		Currency:   bill.Currency, Months: plan.Months, Utilisation: plan.Utilisation, Purchase: bill.Purchase, Network: bill.NetPart,
		Watts:    bill.Watts,
		Switches: bill.SwitchCount, Cables: bill.CableCount, Optics: bill.Optics, BisectionGBps: bill.BisectionBytesPerSec / 1e9,
		Energy: bill.Month.Energy, Space: bill.Month.Space, Staff: bill.Month.Staff, Maintenance: bill.Month.Maintenance,
		Total: bill.Owned[plan.Months], GPUHour: bill.GPUHour, Owned: bill.Owned, Rents: []report.CostRent{}}
	for _, l := range bill.Lines {
		d.Bill = append(d.Bill, report.CostLine{Part: l.Part, Count: l.Count, Each: l.Each, Total: l.Total(), Watts: l.Watts,
			Source: l.Source})
	}
	for _, r := range bill.Rents {
		d.Rents = append(d.Rents, report.CostRent{Offer: r.Offer, Month: r.Month, Total: float64(plan.Months) * r.Month,
			BreakEven: r.BreakEven, Source: r.Source})
	}
	return d, nil
}
