package report

import (
	"fmt"
	"image/color"
	"strings"

	"railyard/report/chart"
)

// mostLoss is where the second panel ends, in per cent: from there on it does not matter.
const mostLoss = 100

// What a chart of crossovers can tell apart.
const (
	maxTopologies = 6
	maxBest       = 14
)

// Chart is, above, a band for each topology, coloured by the best algorithm at each size; below, how much longer the runner-up takes.
func (d *CrossoverDocument) Chart(tool string) (chart.Chart, error) {
	if len(d.Topologies) == 0 {
		return nil, fmt.Errorf("there is nothing to draw: no topology")
	}
	if len(d.Topologies) > maxTopologies {
		return nil, fmt.Errorf("a chart shows at most %d topologies, but there are %d", maxTopologies, len(d.Topologies))
	}
	bands, err := d.bands()
	if err != nil {
		return nil, err
	}
	charts := []chart.Chart{bands}
	if l := d.losses(); len(l.Series) > 0 {
		charts = append(charts, l)
	}
	return &chart.Panels{Charts: charts,
		Frame: chart.Frame{Title: "Best schedule of " + d.Collective + " against size",
			Source: fmt.Sprintf("simulated by %s; %s; losses are cut at %d %%", tool, d.profiles(), mostLoss)}}, nil
}

// bands are the sizes at which each algorithm is best.
func (d *CrossoverDocument) bands() (*chart.Timeline, error) {
	out := &chart.Timeline{Frame: chart.Frame{X: sizeAxis, Sizes: true}}
	colours := map[string]color.RGBA{}
	for i := range d.Topologies {
		t := &d.Topologies[i]
		for k, b := range t.Bands {
			if _, known := colours[b.Best]; !known {
				n := len(colours)
				if n == maxBest {
					return nil, fmt.Errorf("a chart shows at most %d algorithms and protocols: narrow them with --algo or --proto", n)
				}
				colours[b.Best] = chart.Available[n%len(chart.Available)]
				if n >= len(chart.Available) {
					colours[b.Best] = paler(colours[b.Best])
				}
			}
			end := b.To
			if k+1 < len(t.Bands) {
				end = t.Bands[k+1].From
			}
			out.Spans = append(out.Spans, chart.Span{Lane: t.name(), Kind: b.Best, From: float64(b.From),
				To: float64(max(end, b.From+b.From/32)), Colour: colours[b.Best]})
		}
	}
	return out, nil
}

// paler is a colour half way to white.
func paler(c color.RGBA) color.RGBA {
	half := func(v uint8) uint8 { return uint8((int(v) + 255) / 2) }
	return color.RGBA{R: half(c.R), G: half(c.G), B: half(c.B), A: 255}
}

// losses are what runners-up lose; topologies are told apart without colour, which already means the algorithm.
func (d *CrossoverDocument) losses() *chart.Lines {
	out := &chart.Lines{FromZero: true, Frame: chart.Frame{X: sizeAxis, Y: "runner-up's loss (%)", Sizes: true}}
	for i := range d.Topologies {
		t := &d.Topologies[i]
		grey := uint8(60 * (i / 2))
		s := chart.Series{Name: t.name(), Style: []chart.Style{chart.Line, chart.Dashed}[i%2],
			Colour: color.RGBA{R: grey, G: grey, B: grey, A: 255}}
		for _, r := range t.Rows {
			if r.RunnerUp != "" {
				s.Points = append(s.Points, chart.XY{X: float64(r.SizeBytes), Y: min(100*r.RunnerLoss, mostLoss)})
			}
		}
		if len(s.Points) > 0 {
			out.Series = append(out.Series, s)
		}
	}
	return out
}

// profiles says which topology was simulated with which profile.
func (d *CrossoverDocument) profiles() string {
	var names []string
	of := map[string][]string{}
	for _, t := range d.Topologies {
		if of[t.Profile] == nil {
			names = append(names, t.Profile)
		}
		of[t.Profile] = append(of[t.Profile], t.Topology)
	}
	if len(names) == 1 {
		return "profile " + names[0]
	}
	for i, n := range names {
		names[i] = fmt.Sprintf("profile %s: %s", n, strings.Join(of[n], ", "))
	}
	return strings.Join(names, "; ")
}
