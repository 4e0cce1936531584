package show

import (
	"bytes"
	"math"
	"slices"

	"railyard/model/cost"
	"railyard/model/measurement"
	"railyard/model/topology"
	"railyard/report"
	"railyard/report/chart"
	"railyard/sim/nccl"
	"railyard/study/measured"
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
	m, err := cost.GetMachine(machine)
	if err != nil {
		return nil, err
	}
	cases := measured.NewCases(func(_, gpus int) (*topology.Topology, error) {
		part := s
		part.GPUs = gpus
		return part.Topology()
	}, m.NCCL())
	cases.Options.NVLS = nccl.Off
	return report.Compare(set, cases.Predict), nil
}

// Distributions are the cumulative distributions of the errors of a comparison, in per
// cent whatever their sign: the profile's beside those of NCCL's own model.
func Distributions(c *report.Comparison, source string) *chart.Lines {
	l := &chart.Lines{Frame: chart.Frame{Title: "How far predictions are off", Source: source, X: "error (%)", Y: "share of the runs"}}
	for _, model := range []struct {
		name   string
		colour chart.Role
		off    func(report.ComparedRow) float64
	}{
		{"fitted profile", chart.Ours, func(r report.ComparedRow) float64 { return r.Error }},
		{"NCCL's own model", chart.NCCL,
			func(r report.ComparedRow) float64 { return float64(r.Predicted.Own)/float64(r.Measured.Time) - 1 }},
	} {
		var errors []float64
		for _, r := range c.Rows {
			if r.Predicted.Own > 0 {
				errors = append(errors, 100*math.Abs(model.off(r)))
			}
		}
		slices.Sort(errors)
		l.Series = append(l.Series, chart.Cumulative(model.name, model.colour, errors))
	}
	return l
}
