package show

import (
	"bytes"
	"math"
	"slices"

	"railyard/model/cost"
	"railyard/model/measurement"
	"railyard/report"
	"railyard/report/chart"
	"railyard/sim/nccl"
	"railyard/validation"
)

// Measurements is a file of the package validation.
func Measurements(name string) (*measurement.Set, error) {
	data, err := validation.Files.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return measurement.ReadCSV(bytes.NewReader(data), "validation/"+name)
}

// Only are the rows of a set that are wanted.
func Only(set *measurement.Set, wanted func(measurement.Row) bool) *measurement.Set {
	out := *set
	out.Rows = nil
	for _, r := range set.Rows {
		if wanted(r) {
			out.Rows = append(out.Rows, r)
		}
	}
	return &out
}

// Compare predicts measured runs of NCCL on a site, each with its own number of GPUs, by
// a fitted profile. Runs that a host launched one by one have a launch floor, which only
// `railyard compare` knows: take those in CUDA graphs.
func Compare(s Site, machine string, set *measurement.Set) (*report.Comparison, error) {
	site, err := cost.GetMachine(machine)
	if err != nil {
		return nil, err
	}
	runtimes := map[int]*nccl.Runtime{}
	return report.Compare(set, func(m measurement.Row) (report.Predicted, error) {
		r, known := runtimes[m.GPUs]
		if !known {
			part := s
			part.GPUs = m.GPUs
			t, err := part.Topology()
			if err != nil {
				return report.Predicted{}, err
			}
			if r, err = nccl.NewRuntime(t, site.NCCL(), cost.GeneralNCCL(), nccl.Options{NVLS: nccl.Off}); err != nil {
				return report.Predicted{}, err
			}
			runtimes[m.GPUs] = r
		}
		x, err := r.Predict(nccl.Ask{Kind: m.Collective, Algorithm: m.Algo, Protocol: m.Proto, Size: m.Size, Graph: m.Launch == "graph"})
		return report.Predicted{Time: x.Time, Own: x.Own, Schedule: x.Algorithm + "/" + x.Protocol, Profile: site.Name,
			Warnings: x.Warnings}, err
	}), nil
}

// Distributions are the cumulative distributions of the errors of a comparison, in per
// cent whatever their sign: the profile's beside those of NCCL's own model.
func Distributions(c *report.Comparison, source string) *chart.Lines {
	l := &chart.Lines{Frame: chart.Frame{Title: "How far predictions are off", Source: source, X: "error (%)", Y: "share of the runs"}}
	for _, kind := range []struct {
		name  string
		of    func(report.ComparedRow) float64
		style chart.Series
	}{
		{"fitted profile", func(r report.ComparedRow) float64 { return r.Error }, chart.Series{Colour: chart.Ours}},
		{"NCCL's own model", func(r report.ComparedRow) float64 {
			return float64(r.Predicted.Own)/float64(r.Measured.Time) - 1
		}, chart.Series{Colour: chart.NCCL}},
	} {
		var errors []float64
		for _, r := range c.Rows {
			if r.Predicted.Own > 0 {
				errors = append(errors, 100*math.Abs(kind.of(r)))
			}
		}
		slices.Sort(errors)
		s := chart.Series{Name: kind.name, Colour: kind.style.Colour, Style: chart.Steps}
		for i, e := range errors {
			s.Points = append(s.Points, chart.XY{X: e, Y: float64(i+1) / float64(len(errors))})
		}
		l.Series = append(l.Series, s)
	}
	return l
}
