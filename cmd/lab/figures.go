package main

import (
	"fmt"
	"path/filepath"

	"railyard/cmd/internal/cli"
	"railyard/report"
	"railyard/study/tuning"
)

// draw makes a figure for each collective on 4 and 2 GPUs.
func (f *tablesFlags) draw(cases []*compared) error {
	for _, gpus := range gpuNumbers(cases) {
		for _, kind := range tuning.Kinds {
			ours, library, limit := report.Series{Name: "ours"}, report.Series{Name: "NCCL"}, report.Series{Name: "limit at line rate"}
			factor := kind.BusFactor(gpus)
			for _, c := range cases {
				if c.key.GPUs != gpus || c.key.Kind != kind || c.key.DType != "float32" {
					continue
				}
				point := func(measured, predicted float64) report.Point {
					return report.Point{Size: c.key.Size, MeasuredUS: measured, PredictedUS: predicted,
						BusBW: float64(c.key.Size) / measured / 1e3 * factor}
				}
				ours.Points = append(ours.Points, point(c.best.US, c.probe))
				if c.library > 0 {
					library.Points = append(library.Points, point(c.nccl, c.library))
				}
				if c.bound > 0 {
					limit.Points = append(limit.Points, point(c.bound, c.bound))
				}
			}
			if len(ours.Points) == 0 {
				continue
			}
			figure := &report.Figure{Title: fmt.Sprintf("%v, float32, %d GPUs of %s", kind, gpus, f.Topology), NoErrors: true,
				Source: fmt.Sprintf("measured %s in one run, CUDA graph, median; ours predicted by the probe's profile, NCCL by its "+
					"kernels' model", f.Date),
				Series: []report.Series{ours, library, limit}}
			name := filepath.Join(f.Figures, fmt.Sprintf("h200-%v-%d.svg", kind, gpus))
			c, err := figure.Chart()
			if err != nil {
				return err
			}
			if err := cli.WriteChart(name, c); err != nil {
				return err
			}
		}
	}
	return nil
}
