package show

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"railyard/model/measurement"
	"railyard/model/units"
	"railyard/report/chart"
	"railyard/report/fit"
)

// Calibration is a profile that was fitted on links alone, beside all-reduces of the same
// machine that the fit has not seen.
type Calibration struct {
	*fit.Result
	Links  []measurement.Link
	Unseen []Case
	source string
}

// Calibrate fits a profile for the GPUs of a site on dir/links-GPUS.csv, which `railyard
// probe` wrote on the date, and predicts the kernels of dir/prototype.csv with it.
func Calibrate(s Site, dir, date string) (*Calibration, error) {
	t, err := s.Topology()
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, fmt.Sprintf("links-%d.csv", t.NumRanks()))
	c := &Calibration{source: fmt.Sprintf("%s/%s, %s", filepath.Base(dir), filepath.Base(file), date)}
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if c.Links, err = measurement.ReadLinks(f, file); err != nil {
		return nil, err
	}
	if c.Result, err = fit.FromLinks("probe", c.source, date, c.Links, t); err != nil {
		return nil, err
	}
	if c.Unseen, err = readCases(filepath.Join(dir, "prototype.csv"), t.NumRanks()); err != nil {
		return nil, err
	}
	for i := range c.Unseen {
		if err := c.Unseen[i].predict(t, c.Profile); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// Messages are the measured times of messages of some kinds over their sizes, each with
// its best number of blocks.
func (c *Calibration) Messages(kinds ...string) *chart.Lines {
	l := &chart.Lines{Frame: chart.Frame{Title: "What messages cost", Source: "measured: " + c.source, X: "bytes to each peer",
		Y: "time (us)", LogX: true, LogY: true}}
	for _, kind := range kinds {
		best := map[units.Bytes]float64{}
		var sizes []units.Bytes
		for _, m := range c.Links {
			if m.Kind != kind {
				continue
			}
			if t, known := best[m.Bytes]; !known {
				sizes = append(sizes, m.Bytes)
				best[m.Bytes] = m.Value
			} else {
				best[m.Bytes] = min(t, m.Value)
			}
		}
		slices.Sort(sizes)
		s := chart.Series{Name: kind}
		for _, b := range sizes {
			s.Points = append(s.Points, chart.XY{X: float64(b), Y: best[b]})
		}
		l.Series = append(l.Series, s)
	}
	return l
}

// Curves is a table of the fitted costs: α of a message and the share of the line rate
// that is reached, for each protocol and from each size on.
func (c *Calibration) Curves() [][]string {
	rows := [][]string{{"medium", "protocol", "from", "alpha us", "± us", "of line rate"}}
	for _, curve := range c.Profile.Curves {
		for _, s := range curve.Segments {
			share := s.Efficiency
			if share == 0 {
				share = 1
			}
			rows = append(rows, []string{curve.Medium, curve.Protocol, s.From.String(), fmt.Sprintf("%.2f", s.Alpha.Microseconds()),
				fmt.Sprintf("%.2f", s.AlphaCI.Microseconds()), fmt.Sprintf("%.0f %%", 100*share)})
		}
	}
	return rows
}

// Predictions are the unseen all-reduces, predicted beside measured.
func (c *Calibration) Predictions() *chart.Lines {
	l := &chart.Lines{Frame: chart.Frame{Title: "All-reduces that the fit has not seen", Source: "measured: prototype.csv; predicted: " +
		c.source,
		X: "size (bytes)", Y: "time (us)", LogX: true, LogY: true}}
	cases := slices.Clone(c.Unseen)
	slices.SortStableFunc(cases, func(a, b Case) int {
		return cmp.Or(cmp.Compare(a.Kernel, b.Kernel), cmp.Compare(a.Size, b.Size))
	})
	for i := 0; i < len(cases); {
		name, colour := cases[i].Kernel, chart.Available[len(l.Series)/2%len(chart.Available)]
		predicted, measured := chart.Series{Name: name + ", predicted", Colour: colour}, chart.Series{Name: name + ", measured",
			Colour: colour, Style: chart.Dots}
		for ; i < len(cases) && cases[i].Kernel == name; i++ {
			x := float64(cases[i].Size)
			predicted.Points = append(predicted.Points, chart.XY{X: x, Y: cases[i].Predicted.Microseconds()})
			measured.Points = append(measured.Points, chart.XY{X: x, Y: cases[i].Measured.Microseconds()})
		}
		l.Series = append(l.Series, predicted, measured)
	}
	return l
}

// Errors are those of the unseen all-reduces.
func (c *Calibration) Errors() []float64 {
	var out []float64
	for i := range c.Unseen {
		out = append(out, c.Unseen[i].Error())
	}
	return out
}
