package main

import (
	"math"

	"railyard/model/cost"
	"railyard/model/measurement"
	"railyard/model/units"
	"railyard/report"
	"railyard/report/fit"
)

// misses are how far predictions are off on the systems of all rows but one.
func misses(all *report.Comparison, but string) []fit.Miss {
	var out []fit.Miss
	for _, r := range all.Rows {
		if p := r.Predicted; p.Basis != "" && measuredOn(r.Measured) != but {
			out = append(out, fit.Miss{Across: cost.BandMedium(p.Over, r.Measured.Nodes), Basis: p.Basis, System: measuredOn(r.Measured),
				Ranks: r.Measured.GPUs, Size: r.Measured.Size, Off: -math.Log1p(r.Error)})
		}
	}
	return out
}

// banded gives the rows of each system the bands of what the others are off by.
func banded(all *report.Comparison) {
	bands := map[string]*cost.Profile{}
	for i := range all.Rows {
		p, m := &all.Rows[i].Predicted, &all.Rows[i].Measured
		system := measuredOn(*m)
		if bands[system] == nil {
			bands[system] = &cost.Profile{Bands: fit.Bands(misses(all, system))}
		}
		if b := bands[system].Band(cost.BandMedium(p.Over, m.Nodes), p.Basis, m.GPUs); b != nil {
			f := b.Factor(m.Size)
			p.Low, p.High = units.Time(float64(p.Time)/f), units.Time(float64(p.Time)*f)
		}
	}
}

// measuredOn is what a row was measured on.
func measuredOn(m measurement.Row) string {
	if m.System != "" {
		return m.System
	}
	return m.ID
}
