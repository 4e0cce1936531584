package main

import (
	"github.com/spf13/cobra"

	"railyard/capacity/inventory"
	"railyard/capacity/ownership"
	"railyard/cmd/internal/cli"
	"railyard/model/price"
	"railyard/model/topology"
	"railyard/report"
)

func newCapacityCost() *cobra.Command {
	var topo topoFlags
	var format cli.FormatFlag
	var prices priceFlags
	cmd := &cobra.Command{
		Use:   "cost TOPOLOGY",
		Short: "What a cluster costs over time: purchase, power, space, staff, against rented nodes",
		Example: `  railyard capacity cost -t superpod-h100 --nodes 32
  railyard capacity cost -t dgx-a100 --months 60 --utilisation 0.5 --prices my-offers.yaml`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := format.Check(); err != nil {
				return err
			}
			if err := prices.check(); err != nil {
				return err
			}
			t, err := topo.load()
			if err != nil {
				return err
			}
			d, err := costOf(t, prices.file, prices.plan)
			if err != nil {
				return err
			}
			return format.Emit(cmd, d)
		},
	}
	topo.add(cmd)
	format.Add(cmd)
	prices.add(cmd)
	return cmd
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
	d := &report.CostDocument{Schema: "railyard.cost/v1", Topology: t.Name(), Nodes: t.NumNodes(), GPUs: t.NumRanks(), Prices: book.Name, PricesDate: book.Date,
		Currency: bill.Currency, Months: plan.Months, Utilisation: plan.Utilisation, Purchase: bill.Purchase, Network: bill.NetPart, Watts: bill.Watts,
		Switches: bill.SwitchCount, Cables: bill.CableCount, Optics: bill.Optics, BisectionGBps: bill.BisectionBytesPerSec / 1e9,
		Energy: bill.Month.Energy, Space: bill.Month.Space, Staff: bill.Month.Staff, Maintenance: bill.Month.Maintenance,
		Total: bill.Owned[plan.Months], GPUHour: bill.GPUHour, Owned: bill.Owned, Rents: []report.CostRent{}}
	for _, l := range bill.Lines {
		d.Bill = append(d.Bill, report.CostLine{Part: l.Part, Count: l.Count, Each: l.Each, Total: l.Total(), Watts: l.Watts, Source: l.Source})
	}
	for _, r := range bill.Rents {
		d.Rents = append(d.Rents, report.CostRent{Offer: r.Offer, Month: r.Month, Total: float64(plan.Months) * r.Month, BreakEven: r.BreakEven, Source: r.Source})
	}
	return d, nil
}
