package main

import (
	"strconv"
	"testing"

	"railyard/internal/long"
	"railyard/model/measurement"
	"railyard/model/units"
)

// The profiles as shipped fit the measurements that they were made from.
func TestPredictionsFitTheirMeasurements(t *testing.T) {
	v, err := newValidator()
	if err != nil {
		t.Fatal(err)
	}
	d, err := v.compare()
	if err != nil {
		t.Fatal(err)
	}
	var named, large, single, several []float64
	rows := d.All().Rows
	for _, r := range rows {
		m := r.Measured
		switch published := r.File == "validation/published.csv"; {
		case !published && m.Launch == "graph" && m.Algo != "default" && m.Size >= units.KiB:
			named = append(named, r.Error)
			if m.Size >= units.MiB {
				large = append(large, r.Error)
			}
		case published && m.Nodes <= 1 && m.Size >= 8000:
			single = append(single, r.Error)
		case published && m.Nodes > 1:
			several = append(several, r.Error)
		}
	}
	if len(rows) < 2500 || len(named) != 240 || len(large) != 120 {
		t.Errorf("%d rows, %d named, %d of them large", len(rows), len(named), len(large))
	}
	for _, c := range []struct {
		name      string
		got, goal float64
	}{
		{"H200 named, MAPE", measurement.MAPE(named), 0.03},
		{"H200 named from 1 MiB, MAPE", measurement.MAPE(large), 0.03},
		{"published, one node, factor", measurement.GeomeanFactor(single), 1.08},
		{"published, several nodes, factor", measurement.GeomeanFactor(several), 1.20},
	} {
		if c.got > c.goal {
			t.Errorf("%s: %.3f, goal %.2f", c.name, c.got, c.goal)
		}
	}
}

// Rows that the kernels were not fitted on are predicted as well as has been reached; the
// goals of whole series over networks are not yet (docs/validation.md).
func TestRowsLeftOutMeetTheGoals(t *testing.T) {
	long.Only(t)
	v, err := newValidator()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what                   string
		group                  func(measurement.Row) string
		named, single, several float64 // MAPE of H200; factors of what is published
	}{
		{"every fifth row", func(m measurement.Row) string { return strconv.Itoa(m.Line % 5) }, 0.035, 1.08, 1.10},
		{"its number of GPUs", func(m measurement.Row) string { return strconv.Itoa(m.GPUs) }, 0.055, 1.18, 2},
		{"its whole series", func(m measurement.Row) string { return m.ID }, 0.30, 1.12, 1.45},
	} {
		all, err := v.leftOut(c.group)
		if err != nil {
			t.Fatal(err)
		}
		var named, single, several []float64
		for _, r := range all.Rows {
			m := r.Measured
			switch published := r.File == "validation/published.csv"; {
			case !published && m.Launch == "graph" && m.Algo != "default" && m.Size >= units.KiB:
				named = append(named, r.Error)
			case published && m.Nodes <= 1 && m.Size >= 8000:
				single = append(single, r.Error)
			case published && m.Nodes > 1:
				several = append(several, r.Error)
			}
		}
		if got := measurement.MAPE(named); len(named) != 240 || got > c.named {
			t.Errorf("%s left out: H200 named: %d rows, MAPE %.3f", c.what, len(named), got)
		}
		if got := measurement.GeomeanFactor(single); got > c.single {
			t.Errorf("%s left out: published, one node: factor %.3f", c.what, got)
		}
		if got := measurement.GeomeanFactor(several); got > c.several {
			t.Errorf("%s left out: published, several nodes: factor %.3f", c.what, got)
		}
	}
}
