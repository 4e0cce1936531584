package report

import (
	"fmt"
	"io"

	"github.com/jedib0t/go-pretty/v6/table"

	"railyard/model/units"
)

// CostDocument is schema railyard.cost/v1: what a cluster costs over time, bought and rented.
type CostDocument struct {
	Schema        string     `json:"schema"`
	Topology      string     `json:"topology"`
	Nodes         int        `json:"nodes"`
	GPUs          int        `json:"gpus"`
	Prices        string     `json:"prices"`
	PricesDate    string     `json:"prices_date"`
	Currency      string     `json:"currency"`
	Months        int        `json:"months"`
	Utilisation   float64    `json:"utilisation"`
	Lines         []CostLine `json:"purchase_lines"`
	Purchase      float64    `json:"purchase"`
	Network       float64    `json:"network_purchase"`
	Watts         float64    `json:"watts"`
	Switches      int        `json:"switches"`
	Cables        int        `json:"cables"`
	Optics        int        `json:"optics"`
	BisectionGBps float64    `json:"bisection_GBps"`
	Energy        float64    `json:"energy_month"`
	Space         float64    `json:"space_month"`
	Staff         float64    `json:"staff_month"`
	Maintenance   float64    `json:"maintenance_month"`
	Total         float64    `json:"total"`
	GPUHour       float64    `json:"gpu_hour"`
	Rents         []CostRent `json:"rents"`
	Owned         []float64  `json:"owned_by_month"`
}

// CostLine is a line of the purchase.
type CostLine struct {
	Part   string  `json:"part"`
	Count  int     `json:"count"`
	Each   float64 `json:"each"`
	Total  float64 `json:"total"`
	Watts  float64 `json:"watts"`
	Source string  `json:"source"`
}

// CostRent is an offer of rented nodes; BreakEven is the first month by whose end owning
// was cheaper, 0 where that is not within the months.
type CostRent struct {
	Offer     string  `json:"offer"`
	Month     float64 `json:"month"`
	Total     float64 `json:"total"`
	BreakEven int     `json:"break_even_month"`
	Source    string  `json:"source"`
}

// Write writes the document as text, json or csv (the months: owned, and each offer).
func (d *CostDocument) Write(w io.Writer, format string) error {
	switch format {
	case "json":
		return WriteJSON(w, d)
	case "csv":
		return writeCSV(w, d.months())
	}
	out := &lines{w: w}
	out.printf("%s: %s, %s, %s, %s, %d optics; prices in %s from %q of %s\n\n", d.Topology, units.Counted(d.Nodes, "node"), units.Counted(d.GPUs, "GPU"), units.Counted(d.Switches, "switch"), units.Counted(d.Cables, "cable"), d.Optics, d.Currency, d.Prices, d.PricesDate)
	d.writePurchase(out)
	out.printf("\nPower %.1f kW at full load, %.1f GB/s between the halves of the cluster\n", d.Watts/1000, d.BisectionGBps)
	out.printf("A month at %g %% use: energy %s, space %s, staff %s, maintenance %s\n", 100*d.Utilisation, money(d.Energy), money(d.Space), money(d.Staff), money(d.Maintenance))
	out.printf("%s: %s, %.2f for an hour of a GPU that computes\n", units.Counted(d.Months, "month"), money(d.Total), d.GPUHour)
	for _, r := range d.Rents {
		when := fmt.Sprintf("owning is cheaper from month %d", r.BreakEven)
		if r.BreakEven == 0 {
			when = fmt.Sprintf("renting stays cheaper for %d months", d.Months)
		}
		out.printf("rented %s: %s a month, %s in all; %s\n", r.Offer, money(r.Month), money(r.Total), when)
	}
	return out.err
}

func (d *CostDocument) writePurchase(out *lines) {
	t := newTable(out)
	t.AppendHeader(table.Row{"part", "count", "each", "total", "kW"})
	alignRight(t, 2, 3, 4, 5)
	for _, l := range d.Lines {
		t.AppendRow(table.Row{l.Part, l.Count, money(l.Each), money(l.Total), fmt.Sprintf("%.1f", l.Watts/1000)})
	}
	t.AppendRow(table.Row{"purchase", "", "", money(d.Purchase), fmt.Sprintf("%.1f", d.Watts/1000)})
	t.Render()
	if d.Purchase > 0 {
		out.printf("the network is %.1f %% of it\n", 100*d.Network/d.Purchase)
	}
}

func (d *CostDocument) months() [][]string {
	head := []string{"month", "owned"}
	for _, r := range d.Rents {
		head = append(head, "rented "+r.Offer)
	}
	rows := [][]string{head}
	for m, owned := range d.Owned {
		row := []string{fmt.Sprint(m), number(owned)}
		for _, r := range d.Rents {
			row = append(row, number(float64(m)*r.Month))
		}
		rows = append(rows, row)
	}
	return rows
}

// money is an amount with thousands set apart, without cents from 1,000 on.
func money(v float64) string {
	if v < 1000 {
		return fmt.Sprintf("%.2f", v)
	}
	return Thousands(v)
}
