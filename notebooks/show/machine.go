package show

import (
	"fmt"
	"math"

	"railyard/model/topology"
	"railyard/report/chart"
)

// PairRates is what one transfer between each two ranks gets, in GB/s.
func PairRates(t *topology.Topology) (*chart.Heat, error) {
	h := &chart.Heat{Frame: chart.Frame{Title: "One transfer between two ranks of " + t.Name(), Source: t.Description(), X: "to",
		Y: "from"}, Unit: "GB/s"}
	router := topology.NewRouter(t)
	for a := range t.NumRanks() {
		name := t.DeviceName(t.Ranks()[a])
		h.Names, h.Columns = append(h.Names, name), append(h.Columns, name)
		row := make([]float64, t.NumRanks())
		for b := range row {
			if a == b {
				row[b] = math.NaN()
				continue
			}
			r, err := router.Route(a, b)
			if err != nil {
				return nil, err
			}
			row[b] = r.Rate.GBps()
		}
		h.Values = append(h.Values, row)
	}
	return h, nil
}

// Hops is a table of the way from one rank to another: each link with its class, the
// share of the bytes that crosses it, and its rate.
func Hops(t *topology.Topology, from, to int) ([][]string, error) {
	r, err := topology.NewRouter(t).Route(from, to)
	if err != nil {
		return nil, err
	}
	rows := [][]string{{"link", "class", "share", "rate GB/s"}}
	for _, h := range r.Hops {
		rows = append(rows, []string{t.LinkName(h.Link), t.Class(h.Link).Name, fmt.Sprintf("%d/%d", h.Num, h.Den),
			fmt.Sprintf("%g", t.Rate(h.Link).GBps())})
	}
	return rows, nil
}
