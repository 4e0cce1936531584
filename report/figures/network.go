package figures

import (
	"fmt"
	"math"

	"railyard/report/chart"
)

// Curve is time and bus bandwidth of a collective over sizes.
type Curve struct {
	Name   string
	Style  chart.Style
	Role   chart.Role
	Points []CurvePoint
}

// CurvePoint is one size: bytes, microseconds and GB/s of bus bandwidth.
type CurvePoint struct{ Bytes, TimeUS, BusBW float64 }

// Curves are the figures of time and of bus bandwidth over size.
func Curves(what, source string, list []Curve) (times, bandwidths chart.Chart) {
	t := &chart.Lines{Frame: chart.Frame{Title: "Time of " + what, X: "size (bytes)", Y: "time (us)", LogX: true, LogY: true,
		Source: source}}
	b := &chart.Lines{FromZero: true, Frame: chart.Frame{Title: "Bus bandwidth of " + what, X: "size (bytes)", Y: "bus bandwidth (GB/s)",
		LogX: true, Source: source}}
	for _, c := range list {
		ts, bs := chart.Series{Name: c.Name, Style: c.Style, Colour: c.Role}, chart.Series{Name: c.Name, Style: c.Style, Colour: c.Role}
		for _, p := range c.Points {
			if p.TimeUS > 0 {
				ts.Points = append(ts.Points, chart.XY{X: p.Bytes, Y: p.TimeUS})
				bs.Points = append(bs.Points, chart.XY{X: p.Bytes, Y: p.BusBW})
			}
		}
		t.Series, b.Series = append(t.Series, ts), append(b.Series, bs)
	}
	return t, b
}

// Errors is how far predictions are from measurements, per cent, by size.
func Errors(what, source string, sizes, errors []float64) chart.Chart {
	s := chart.Series{Name: "prediction over measurement", Style: chart.Dots, Colour: chart.Measured}
	zero := chart.Series{Name: "exact", Style: chart.Dashed, Colour: chart.Limit}
	for i, x := range sizes {
		s.Points = append(s.Points, chart.XY{X: x, Y: 100 * errors[i]})
		zero.Points = append(zero.Points, chart.XY{X: x})
	}
	return &chart.Lines{Series: []chart.Series{zero, s}, Frame: chart.Frame{Title: "Error of the prediction, " + what, X: "size (bytes)",
		Y: "error (%)", LogX: true, Source: source}}
}

// Map is which schedule is best where: size × GPUs.
func Map(what, source string, sizes, gpus []string, best [][]string) chart.Chart {
	h := &chart.Heat{Frame: chart.Frame{Title: "Best schedule of " + what, X: "size", Y: "GPUs", Source: source}, Columns: sizes,
		Names: gpus, Kinds: []string{}}
	index := map[string]int{}
	for _, row := range best {
		values := make([]float64, len(row))
		for i, name := range row {
			if name == "" {
				values[i] = math.NaN()
				continue
			}
			if _, ok := index[name]; !ok {
				index[name] = len(h.Kinds)
				h.Kinds = append(h.Kinds, name)
			}
			values[i] = float64(index[name])
		}
		h.Values = append(h.Values, values)
	}
	return h
}

// Use is a row of links with their utilisation, from 0 to 1; NaN where there is none.
type Use struct {
	Name  string
	Links []float64
}

// Utilisation is the heat map of links.
func Utilisation(what, source string, rows []Use) chart.Chart {
	h := &chart.Heat{
		Frame: chart.Frame{Title: "How much links are used: " + what, X: "link of that kind", Y: "from → to", Source: source},
		Low:   0, High: 1, Unit: "of the rate"}
	width := 0
	for _, r := range rows {
		width = max(width, len(r.Links))
	}
	for i := range width {
		h.Columns = append(h.Columns, fmt.Sprint(i))
	}
	for _, r := range rows {
		values := make([]float64, width)
		for i := range values {
			values[i] = math.NaN()
			if i < len(r.Links) {
				values[i] = r.Links[i]
			}
		}
		h.Names, h.Values = append(h.Names, r.Name), append(h.Values, values)
	}
	return h
}

// Balance is what each rank sends.
func Balance(what, source string, bytes []float64) chart.Chart {
	s := chart.Series{Name: "sent by rank", Colour: chart.Ours, Style: chart.Dots}
	mean := chart.Series{Name: "mean", Colour: chart.Limit, Style: chart.Dashed}
	sum := 0.0
	for _, b := range bytes {
		sum += b / 1e6 / float64(len(bytes))
	}
	for r, b := range bytes {
		s.Points = append(s.Points, chart.XY{X: float64(r), Y: b / 1e6})
		mean.Points = append(mean.Points, chart.XY{X: float64(r), Y: sum})
	}
	return &chart.Lines{FromZero: true, Series: []chart.Series{mean, s},
		Frame: chart.Frame{Title: "Load balance: " + what, X: "rank", Y: "sent (MB)", Source: source}}
}
