package show

import (
	"fmt"

	"railyard/capacity/inventory"
	"railyard/capacity/ownership"
	"railyard/model/collective"
	"railyard/model/price"
	"railyard/model/units"
	"railyard/planner"
	"railyard/report/chart"
	"railyard/study"
)

// Question is something that takes a time on a site.
type Question struct {
	Name string
	Time func(Site) (units.Time, error)
}

// Collective asks for the best plan of a collective, or for that of one algorithm.
func Collective(kind collective.Kind, size units.Bytes, algorithm string) Question {
	name := fmt.Sprintf("%v of %v", kind, size)
	if algorithm != "" {
		name += ", " + algorithm
	}
	return Question{name, func(s Site) (units.Time, error) {
		a, err := s.Ask(kind, study.Search{Algorithm: algorithm}, study.Detail{}, size)
		if err != nil {
			return 0, err
		}
		return a.Rows[0].Prediction.Time, nil
	}}
}

// Training asks for a training step of a shipped workload.
func Training(work, layout string) Question {
	return Question{"step of " + work, func(s Site) (units.Time, error) {
		r, err := s.Step(work, layout)
		if err != nil {
			return 0, err
		}
		return r.Time, nil
	}}
}

// Fabric is a network that could be bought: its bill by the shipped price book, and the
// answers to questions in their order.
type Fabric struct {
	Name  string
	Bill  *ownership.Bill
	Times []units.Time
}

// Fabrics ask all questions of a site with each oversubscription of its first level of
// switches.
func Fabrics(s Site, oversubscriptions []int, use ownership.Plan, questions ...Question) ([]Fabric, error) {
	book, err := price.Default()
	if err != nil {
		return nil, err
	}
	var out []Fabric
	for _, n := range oversubscriptions {
		site := s
		site.Set = append(s.Set[:len(s.Set):len(s.Set)], fmt.Sprintf("oversubscription=%d", n))
		t, err := site.Topology()
		if err != nil {
			return nil, err
		}
		f := Fabric{Name: fmt.Sprintf("%d:1", n)}
		if f.Bill, err = ownership.Of(inventory.Of(t), book, use); err != nil {
			return nil, err
		}
		for _, q := range questions {
			x, err := q.Time(site)
			if err != nil {
				return nil, fmt.Errorf("%s: %s: %w", f.Name, q.Name, err)
			}
			f.Times = append(f.Times, x)
		}
		out = append(out, f)
	}
	return out, nil
}

// FabricTable is what each fabric costs and how long the questions take on it.
func FabricTable(fabrics []Fabric, questions ...Question) [][]string {
	header := []string{"oversubscription", "switches", "optics", "network kUSD", "kW"}
	for _, q := range questions {
		header = append(header, q.Name+" (ms)")
	}
	rows := [][]string{header}
	for _, f := range fabrics {
		row := []string{f.Name, fmt.Sprintf("%.0f", float64(f.Bill.SwitchCount)), fmt.Sprintf("%.0f", float64(f.Bill.Optics)),
			fmt.Sprintf("%.0f", f.Bill.NetPart/1e3), fmt.Sprintf("%.0f", f.Bill.Watts/1e3)}
		for _, t := range f.Times {
			row = append(row, fmt.Sprintf("%.2f", t.Seconds()*1e3))
		}
		rows = append(rows, row)
	}
	return rows
}

// TimeOverPrice is the time of every question on each fabric, against that on the first
// one, over what the network costs.
func TimeOverPrice(fabrics []Fabric, questions ...Question) *chart.Lines {
	l := &chart.Lines{Frame: chart.Frame{Title: "What a cheaper network costs in time", Source: planner.Tool +
		"; prices: the shipped price book",
		X: "switches, links and optics (million USD)", Y: "time against " + fabrics[0].Name}, FromZero: true}
	for i, q := range questions {
		s := chart.Series{Name: q.Name}
		for _, f := range fabrics {
			p := chart.XY{X: f.Bill.NetPart / 1e6, Y: float64(f.Times[i]) / float64(fabrics[0].Times[i])}
			if i == 0 {
				p.Label = f.Name
			}
			s.Points = append(s.Points, p)
		}
		l.Series = append(l.Series, s)
	}
	return l
}

// Ownership is what was paid by the end of each month: bought, and rented at each offer.
func Ownership(b *ownership.Bill) *chart.Lines {
	l := &chart.Lines{Frame: chart.Frame{Title: "Bought or rented", Source: "the shipped price book, in " + b.Currency, X: "months",
		Y: "paid so far (million " + b.Currency + ")"}, FromZero: true}
	owned := chart.Series{Name: "bought", Colour: chart.Ours, Style: chart.Steps}
	for m, paid := range b.Owned {
		owned.Points = append(owned.Points, chart.XY{X: float64(m), Y: paid / 1e6})
	}
	l.Series = append(l.Series, owned)
	for i, r := range b.Rents {
		s := chart.Series{Name: "rented, " + r.Offer, Colour: chart.Available[(i+1)%len(chart.Available)], Style: chart.Dashed}
		for m := range b.Owned {
			s.Points = append(s.Points, chart.XY{X: float64(m), Y: float64(m) * r.Month / 1e6})
		}
		l.Series = append(l.Series, s)
	}
	return l
}
