package main

import (
	"errors"

	"github.com/spf13/cobra"

	"railyard/capacity/inventory"
	"railyard/capacity/ownership"
	"railyard/model/price"
	"railyard/model/topology"
	"railyard/report"
)

// priceFlags say what things cost and how long they are kept.
type priceFlags struct {
	file string
	plan ownership.Plan
}

func (f *priceFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.file, "prices", "", "price book (YAML; default: the shipped list prices)")
	cmd.Flags().IntVar(&f.plan.Months, "months", 36, "how long the cluster is kept")
	cmd.Flags().Float64Var(&f.plan.Utilisation, "utilisation", 0.8, "share of the time that it computes; rented nodes are paid only then")
}

// difference is the price of a change. What the shipped book does not know is a note; what
// the user's lacks is an error.
func (f *priceFlags) difference(d *report.WhatIfDocument, a, b *topology.Topology, faster []string) error {
	book, err := price.Read(f.file)
	if err != nil {
		return err
	}
	bills := make([]*ownership.Bill, 2)
	for i, t := range []*topology.Topology{a.Healthy(), b.Healthy()} {
		bills[i], err = ownership.Of(inventory.Of(t), book, f.plan)
		var missing *price.Missing
		if errors.As(err, &missing) && f.file == "" {
			d.Notes = append(d.Notes, "no price: "+missing.Error()+" (name your own with --prices)")
			return nil
		}
		if err != nil {
			return err
		}
	}
	if len(faster) > 0 {
		d.Notes = append(d.Notes, "no price: faster links are not in the price book: change to a topology whose links are of another class (--to)")
		return nil
	}
	d.Cost = &report.CostDifference{Currency: book.Currency, Prices: book.Name, Date: book.Date, Months: f.plan.Months, Before: bills[0].Purchase, After: bills[1].Purchase,
		TotalBefore: bills[0].Owned[f.plan.Months], TotalAfter: bills[1].Owned[f.plan.Months]}
	return nil
}
