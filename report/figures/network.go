package figures

import (
	"fmt"
	"math"

	"railyard/report/chart"
)

// Times and Bandwidths are curves over size: µs, and GB/s of bus bandwidth.
func Times(what, source string, curves []chart.Series) chart.Chart {
	return &chart.Lines{Series: curves, Frame: chart.Frame{Title: "Time of " + what, X: "size (bytes)", Y: "time (us)", LogX: true,
		LogY:   true,
		Source: source}}
}

// Bandwidths are described at Times.
func Bandwidths(what, source string, curves []chart.Series) chart.Chart {
	return &chart.Lines{Series: curves, FromZero: true, Frame: chart.Frame{Title: "Bus bandwidth of " + what, X: "size (bytes)",
		Y: "bus bandwidth (GB/s)", LogX: true, Source: source}}
}

// Errors is how far predictions are from measurements, per cent, by size.
func Errors(what, source string, errors []chart.XY) chart.Chart {
	s := chart.Series{Name: "prediction over measurement", Style: chart.Dots, Colour: chart.Measured, Points: errors}
	zero := chart.Series{Name: "exact", Style: chart.Dashed, Colour: chart.Limit}
	for _, p := range errors {
		zero.Points = append(zero.Points, chart.XY{X: p.X})
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
