package report

import (
	"railyard/report/table"
)

// CostDocument is what a cluster costs over time, bought and rented.
type CostDocument struct {
	Schema        string     `json:"schema" const:"railyard.cost/v1" doc:"what a cluster costs over time, bought and rented"`
	Topology      string     `json:"topology"`
	Nodes         int        `json:"nodes"`
	GPUs          int        `json:"gpus"`
	Prices        string     `json:"prices"`
	PricesDate    string     `json:"prices_date"`
	Currency      string     `json:"currency" text:"currency"`
	Months        int        `json:"months"`
	Utilisation   float64    `json:"utilisation" text:"use" as:"share"`
	Bill          []CostLine `json:"purchase_lines" title:"Purchase"`
	Purchase      float64    `json:"purchase" text:"purchase" as:"money"`
	Network       float64    `json:"network_purchase" text:"of which network" as:"money"`
	Watts         float64    `json:"watts" text:"power at full load" as:"kW"`
	Switches      int        `json:"switches" text:"switches"`
	Cables        int        `json:"cables" text:"cables"`
	Optics        int        `json:"optics" text:"optics"`
	BisectionGBps float64    `json:"bisection_GBps,omitempty" text:"bisection bandwidth" doc:"halves of the nodes, or of one's GPUs"`
	Energy        float64    `json:"energy_month" text:"energy a month" as:"money"`
	Space         float64    `json:"space_month" text:"space a month" as:"money"`
	Staff         float64    `json:"staff_month" text:"staff a month" as:"money"`
	Maintenance   float64    `json:"maintenance_month" text:"maintenance a month" as:"money"`
	Total         float64    `json:"total" text:"in all" as:"money"`
	GPUHour       float64    `json:"gpu_hour" text:"an hour of a GPU that computes" as:"money"`
	Rents         []CostRent `json:"rents" title:"Rented instead"`
	Owned         []float64  `json:"owned_by_month" as:"money"`
}

// CostLine is a line of the purchase.
type CostLine struct {
	Part   string  `json:"part" text:"part"`
	Count  int     `json:"count" text:"count"`
	Each   float64 `json:"each" text:"each" as:"money"`
	Total  float64 `json:"total" text:"total" as:"money"`
	Watts  float64 `json:"watts" text:"power" as:"kW"`
	Source string  `json:"source"`
}

// CostRent is an offer of rented nodes.
type CostRent struct {
	Offer     string  `json:"offer" text:"offer"`
	Month     float64 `json:"month" text:"a month" as:"money"`
	Total     float64 `json:"total" text:"in all" as:"money"`
	BreakEven int     `json:"break_even_month" text:"owning is cheaper from month" zero:"later" doc:"0: later"`
	Source    string  `json:"source"`
}

// costMonth is what is paid by the end of a month.
type costMonth struct {
	Month  int         `json:"month"`
	Owned  float64     `json:"owned"`
	Rented table.Extra `json:"-"`
}

// Lines of the CSV are months: owned, and each offer.
func (d *CostDocument) Lines() any {
	out := make([]costMonth, len(d.Owned))
	for m, owned := range d.Owned {
		out[m] = costMonth{Month: m, Owned: owned}
		for _, r := range d.Rents {
			out[m].Rented = append(out[m].Rented, table.Member{Key: "rented " + r.Offer, Value: float64(m) * r.Month})
		}
	}
	return out
}
