package main

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"railyard/capacity/step"
	"railyard/model/gpu"
	"railyard/model/topology"
	"railyard/model/workload"
	"railyard/study/measured"
	"railyard/topologies"
	"railyard/validation"
)

// publishedNotes say which utilisation others have published for a step's model, GPU and precision,
// and whether the step is faster by more than its band.
func publishedNotes(p *step.Predictor, r *step.Result) ([]string, error) {
	rows, err := measured.PublishedSteps(validation.Files, "steps.csv")
	if err != nil {
		return nil, err
	}
	least, most, count := math.Inf(1), 0.0, 0
	var sources []string
	for i := range rows {
		mfu, err := publishedMFU(&rows[i], p.Machine().GPU, r.Workload)
		if err != nil {
			return nil, fmt.Errorf("validation/steps.csv: %s: %w", rows[i].ID, err)
		}
		if mfu == 0 {
			continue
		}
		least, most, count = min(least, mfu), max(most, mfu), count+1
		if source := strings.Fields(rows[i].Source)[0]; !slices.Contains(sources, source) {
			sources = append(sources, source)
		}
	}
	if count == 0 {
		return nil, nil
	}
	text := fmt.Sprintf("published for %s in %s on %s: %.0f to %.0f %% MFU (%d steps; %s)", r.Workload.Name, r.Workload.Precision,
		p.Machine().GPU.Title, 100*least, 100*most, count, strings.Join(sources, ", "))
	if _, high := r.Band(); r.MFU()*r.Time.Seconds()/high.Seconds() > most {
		text += ": no published measurement reaches what is predicted here, even at the slow end of its band"
	}
	return []string{text}, nil
}

// publishedMFU is a published step's utilisation, 0 where it is of another model, GPU or precision.
func publishedMFU(s *measured.PublishedStep, g *gpu.GPU, of *workload.Workload) (float64, error) {
	if s.Workload != of.Name || strings.HasSuffix(s.GPU, ".yaml") {
		return 0, nil
	}
	w, err := workload.Get(s.Workload, s.Set...)
	if err != nil || w.Precision != of.Precision || w.Transformer != nil && w.Transformer.Layers != of.Transformer.Layers {
		return 0, err
	}
	name := s.GPU
	if name == "" {
		t, err := topology.Load(topologies.Source, s.Topology, topology.Options{Nodes: 1})
		if err != nil {
			return 0, err
		}
		own, err := gpu.Of(t)
		if err != nil {
			return 0, err
		}
		name = own.Name
	}
	l, err := step.ParseLayout(strings.NewReplacer("vpp*", "", "mb*", "").Replace(s.Layout))
	if err != nil || name != g.Name {
		return 0, err
	}
	return w.ModelFLOP() * float64(l.GlobalBatch) / float64(l.Ranks()) / s.Seconds / g.Peak[w.Precision], nil
}
