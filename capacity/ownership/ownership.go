// Package ownership computes what a cluster costs over time when it is bought, and when
// nodes like its own are rented: purchase, power, space, staff and maintenance against
// cloud hours, with the month from which owning is cheaper.
package ownership

import (
	"fmt"

	"railyard/capacity/inventory"
	"railyard/model/price"
)

// hoursAMonth is a twelfth of a year of 365.25 days.
const hoursAMonth = 365.25 * 24 / 12

// maxMonths bounds the horizon: no machine of this kind is kept for longer.
const maxMonths = 600

// Plan is how the cluster is used.
type Plan struct {
	Months      int
	Utilisation float64 // share of the time that it computes; rented nodes are paid only then
}

// Line is a line of the purchase.
type Line struct {
	Part   string
	Count  int
	Each   float64
	Watts  float64 // of all of them at full load
	Source string
}

// Total is what the line costs.
func (l Line) Total() float64 { return float64(l.Count) * l.Each }

// Bill is a cluster's cost.
type Bill struct {
	Currency             string
	Lines                []Line
	Purchase             float64
	NodesPart, NetPart   float64 // of the purchase
	Watts                float64 // of the machines at full load
	Month                Monthly
	Owned                []float64 // by month, from 0: all that was paid by its end
	Rents                []Rent
	GPUHour              float64 // of a GPU that computes, over all months
	Optics, CableCount   int     // transceivers, cables
	SwitchCount          int
	BisectionBytesPerSec float64
}

// Monthly is what a month costs.
type Monthly struct{ Energy, Space, Staff, Maintenance float64 }

// Sum is the whole month.
func (m Monthly) Sum() float64 { return m.Energy + m.Space + m.Staff + m.Maintenance }

// Rent is the same number of nodes, rented by the hour when they compute.
type Rent struct {
	Offer     string
	Source    string
	Month     float64
	BreakEven int // first month by whose end owning was cheaper; 0: not within the plan
}

// Check says what is impossible in a plan.
func (p Plan) Check() error {
	switch {
	case p.Months < 1 || p.Months > maxMonths:
		return fmt.Errorf("months: %d must be from 1 to %d", p.Months, maxMonths)
	case !(p.Utilisation > 0 && p.Utilisation <= 1):
		return fmt.Errorf("utilisation: %v must be above 0 and at most 1", p.Utilisation)
	}
	return nil
}

// Of prices an inventory by a book.
func Of(inv inventory.Inventory, b *price.Book, p Plan) (*Bill, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	bill := &Bill{Currency: b.Currency, BisectionBytesPerSec: float64(inv.Bisection)}
	nodes, err := bill.buy(inv, b)
	if err != nil {
		return nil, err
	}
	bill.run(b, nodes, p)
	bill.rent(inv, b, p)
	bill.GPUHour = bill.Owned[p.Months] / (float64(p.Months) * hoursAMonth * p.Utilisation * float64(inv.GPUs))
	return bill, nil
}

// buy adds the lines of the purchase and returns the number of nodes.
func (x *Bill) buy(inv inventory.Inventory, b *price.Book) (nodes int, err error) {
	for _, n := range inv.Nodes {
		p, err := b.Node(n.Template)
		if err != nil {
			return 0, err
		}
		x.add(Line{Part: fmt.Sprintf("node %s, %d GPUs", n.Template, n.GPUs), Count: n.Count}, p.Price, p.Watts, p.Source, &x.NodesPart)
		nodes += n.Count
	}
	for _, s := range inv.Switches {
		p, err := b.Switch(s.Class, s.Ports)
		if err != nil {
			return 0, err
		}
		part := fmt.Sprintf("%v switch, %d ports %s", s.Kind, p.Ports, s.Class)
		x.add(Line{Part: part, Count: s.Count}, p.Price, p.Watts, p.Source, &x.NetPart)
		x.SwitchCount += s.Count
	}
	for _, c := range inv.Cables {
		p, err := b.Cable(c.Class)
		if err != nil {
			return 0, err
		}
		where := "node to switch"
		if c.Trunk {
			where = "switch to switch"
		}
		x.add(Line{Part: fmt.Sprintf("link %s, %s", c.Class, where), Count: c.Count}, p.Price, p.Watts, p.Source, &x.NetPart)
		x.CableCount += c.Count
		if p.Optical {
			x.Optics += 2 * c.Count
		}
	}
	return nodes, nil
}

// add adds a line; price is of one, watts too.
func (x *Bill) add(l Line, price, watts float64, source string, part *float64) {
	l.Each, l.Watts, l.Source = price, float64(l.Count)*watts, source
	x.Lines = append(x.Lines, l)
	*part += l.Total()
	x.Purchase += l.Total()
	x.Watts += l.Watts
}

// run works out the months. Space is rented for full load, energy is paid as used.
func (x *Bill) run(b *price.Book, nodes int, p Plan) {
	r, kw := b.Running, x.Watts/1000
	load := p.Utilisation + (1-p.Utilisation)*r.Idle.Value
	x.Month = Monthly{
		Energy:      kw * load * r.PUE.Value * hoursAMonth * r.KWh.Value,
		Space:       kw * r.Space.Value,
		Staff:       float64(nodes) / r.StaffPer.Value * r.Staff.Value / 12,
		Maintenance: x.Purchase * r.Maintenance.Value / 12,
	}
	x.Owned = make([]float64, p.Months+1)
	for m := range x.Owned {
		x.Owned[m] = x.Purchase + float64(m)*x.Month.Sum()
	}
}

// rent compares with the offers that every kind of node of the cluster has.
func (x *Bill) rent(inv inventory.Inventory, b *price.Book, p Plan) {
	if len(inv.Nodes) == 0 {
		return
	}
	for _, offer := range b.Rent(inv.Nodes[0].Template) {
		r := Rent{Offer: offer.Offer, Source: offer.Source}
		all := true
		for _, n := range inv.Nodes {
			hour, ok := hourly(b, n.Template, offer.Offer)
			all = all && ok
			r.Month += float64(n.Count) * hour * hoursAMonth * p.Utilisation
		}
		if !all {
			continue
		}
		for m := 1; m <= p.Months && r.BreakEven == 0; m++ {
			if x.Owned[m] < float64(m)*r.Month {
				r.BreakEven = m
			}
		}
		x.Rents = append(x.Rents, r)
	}
}

func hourly(b *price.Book, template, offer string) (float64, bool) {
	for _, o := range b.Rent(template) {
		if o.Offer == offer {
			return o.Hour, true
		}
	}
	return 0, false
}
