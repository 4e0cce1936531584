package main

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/spf13/cobra"

	"railyard/capacity/step"
	"railyard/internal/long"
	"railyard/model/gpu"
	"railyard/report"
	"railyard/report/table"
)

// TestStepsOfUnfittedGPUs: steps of GPUs on which nothing is fitted are predicted, none is refused, and docs/capacity-validation.md says how well.
func TestStepsOfUnfittedGPUs(t *testing.T) {
	cmd := &cobra.Command{}
	cmd.SetContext(t.Context())
	v, err := newStepFiles("../../validation/steps-blackwell-ultra.csv").validate(cmd)
	if err != nil {
		t.Fatal(err)
	}
	off, inside := 0., 0
	for i := range v.Rows {
		r := &v.Rows[i]
		if r.Refused {
			t.Errorf("%s ran, and would be refused: %s", r.ID, r.Note)
		}
		off += math.Abs(r.Error()) / float64(len(v.Rows))
		if r.Published >= r.Low && r.Published <= r.High {
			inside++
		}
	}
	said := fmt.Sprintf("%.1f %% off in the mean", 100*off)
	share := fmt.Sprintf("%.0f %% inside the band", 100*float64(inside)/float64(len(v.Rows)))
	page, err := os.ReadFile("../../docs/capacity-validation.md")
	if err != nil || !bytes.Contains(page, []byte(said)) || !bytes.Contains(page, []byte(share)) {
		t.Errorf("docs/capacity-validation.md does not say %q and %q of these %d steps (%v)", said, share, len(v.Rows), err)
	}
}

// bandsHold wants bands to be what steps say of which some were left out.
func bandsHold(t *testing.T, out string, bands map[step.Class]float64, said map[string]float64) {
	t.Helper()
	for class, wide := range bands {
		if off := math.Abs(said[string(class)] - wide); off > 0.03 {
			t.Errorf("the band of %s is ± %.2f, steps whose %s are left out say %.2f", class, wide, out, said[string(class)])
		}
	}
}

// TestCapacityDocumentsAreCurrent: the pages in docs are what the commands write (the errors on published steps stand
// there), and no published step is predicted wrong by a factor of three.
func TestCapacityDocumentsAreCurrent(t *testing.T) {
	long.Only(t)
	cmd := &cobra.Command{}
	cmd.SetContext(t.Context())
	v, err := newStepFiles("").validate(cmd)
	if err != nil {
		t.Fatal(err)
	}
	for i := range v.Rows {
		if v.Rows[i].Refused {
			t.Errorf("%s ran, and would be refused: %s", v.Rows[i].ID, v.Rows[i].Note)
		}
		if !v.Rows[i].Stepped {
			t.Errorf("%s is in the fit, and its GPU %s is not said to be stepped", v.Rows[i].ID, v.Rows[i].GPU)
		}
		if r := &v.Rows[i]; r.PublishedGiB > 0 && r.MemoryGiB > step.Excess*r.PublishedGiB {
			t.Errorf("%s had %.1f GiB, we count %.1f", r.ID, r.PublishedGiB, r.MemoryGiB)
		}
		if e := v.Rows[i].Error(); math.IsNaN(e) || math.Abs(math.Log1p(e)) > math.Log(3) {
			t.Errorf("%s: error %.2f: %s", v.Rows[i].ID, e, v.Rows[i].Note)
		}
	}
	for _, name := range gpu.Names() {
		has := slices.ContainsFunc(v.Rows, func(r report.StepValidationRow) bool { return r.GPU == name })
		if g, err := gpu.Get(name); err != nil || g.Stepped != has {
			t.Errorf("%s is said to be stepped or not, and steps on it are in the fit: %v (%v)", name, has, err)
		}
	}
	bandsHold(t, "sources", step.Bands, v.Bands())
	bandsHold(t, "GPUs", step.UnseenBands, v.UnseenBands(gpu.LoadsApart()))
	inside := 0
	for i := range v.Rows {
		if r := &v.Rows[i]; r.Published >= r.Low && r.Published <= r.High {
			inside++
		}
	}
	if share := float64(inside) / float64(len(v.Rows)); share < 0.85 {
		t.Errorf("%.0f %% of the published steps are inside their bands", 100*share)
	}
	current := func(name string, got []byte, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		if want, err := os.ReadFile("../../docs/" + name); err != nil || !bytes.Equal(got, want) {
			t.Errorf("docs/%s is not what the command writes: run lab steps -o docs, lab scenarios -o docs (%v)", name, err)
		}
	}
	validation, err := os.ReadFile("../../docs/capacity-validation.md")
	if err == nil {
		validation, err = table.Fill(validation, v.Blocks())
	}
	current("capacity-validation.md", validation, err)
	page, err := scenarios("../../docs")
	current(scenariosPage, page, err)
}
