package main

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"railyard/capacity/inventory"
	"railyard/capacity/ownership"
	"railyard/cmd/internal/cli"
	"railyard/model/price"
	"railyard/model/topology"
	"railyard/report"
)

// priceFlags say what things cost and how long they are kept.
type priceFlags struct {
	File        string  `flag:"prices book"`
	Months      int     `flag:"prices months,default=36"`
	Utilisation float64 `flag:"prices utilisation,default=0.8"`
}

func (f *priceFlags) plan() ownership.Plan {
	return ownership.Plan{Months: f.Months, Utilisation: f.Utilisation}
}

func (f *priceFlags) check() error {
	if err := f.plan().Check(); err != nil {
		return cli.Usagef("--prices %v", err)
	}
	return nil
}

// reorder puts switches and cables of the class that a book has for a network's new rate
// into an order list. Adapters are in the price of nodes, which stays.
func reorder(list *inventory.Inventory, t *topology.Topology, class string, book *price.Book) error {
	i := slices.IndexFunc(t.Classes(), func(c topology.Class) bool { return c.Name == class })
	if t.Classes()[i].Medium != topology.Network {
		return fmt.Errorf("faster %s is in no price book: change to the nodes that have it (--to)", class)
	}
	gbps := fmt.Sprintf("%.0f", float64(t.Classes()[i].Rate)*8/1e9)
	for _, c := range book.Cables {
		if strings.TrimLeft(c.Class, "abcdefghijklmnopqrstuvwxyz") == gbps {
			list.Rename(class, c.Class)
			return nil
		}
	}
	return fmt.Errorf("price book %s has no class of %s Gb/s, which %s would be", book.Name, gbps, class)
}

// difference is the price of a change that buys something, or that was asked for. What the shipped book does not know is a note; what
// the user's lacks is an error.
func (f *priceFlags) difference(d *report.WhatIfDocument, a, b *topology.Topology, faster []string, asked bool) error {
	lists := []inventory.Inventory{inventory.Of(a.Healthy()), inventory.Of(b.Healthy())}
	if !asked && len(faster) == 0 && reflect.DeepEqual(lists[0], lists[1]) {
		return nil
	}
	book, err := price.Read(f.File)
	if err != nil {
		return err
	}
	for _, change := range faster {
		class, _, _ := strings.Cut(change, "=")
		if err := reorder(&lists[1], b.Healthy(), class, book); err != nil {
			d.Notes = append(d.Notes, "no price: "+err.Error())
			return nil
		}
	}
	bills := make([]*ownership.Bill, 2)
	for i := range bills {
		bills[i], err = ownership.Of(lists[i], book, f.plan())
		var missing *price.Missing
		if errors.As(err, &missing) && f.File == "" {
			d.Notes = append(d.Notes, "no price: "+missing.Error()+" (name your own with --prices book=FILE)")
			return nil
		}
		if err != nil {
			return err
		}
	}
	d.Cost = &report.CostDifference{Currency: book.Currency, Prices: book.Name, Date: book.Date, Months: f.Months,
		Before: bills[0].Purchase, After: bills[1].Purchase,
		TotalBefore: bills[0].Owned[f.Months], TotalAfter: bills[1].Owned[f.Months]}
	return nil
}
