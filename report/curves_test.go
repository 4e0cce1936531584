package report_test

import (
	"bytes"
	"image/png"
	"testing"

	"railyard/report"
)

func TestCurvesPNG(t *testing.T) {
	f := report.Curves{Source: "test", Panels: []report.CurvesPanel{
		{Title: "a", X: "GPUs", Y: "seconds", Curves: []report.Curve{{Name: "folded", X: []float64{256, 1024}, Y: []float64{.1, 2}}}},
		{Title: "b", X: "slices", Y: "seconds", Curves: []report.Curve{{Name: "folded", X: []float64{1, 64}, Y: []float64{1, 1}}}}}}
	var first, second bytes.Buffer
	if err := f.WritePNG(&first); err != nil {
		t.Fatal(err)
	}
	if err := f.WritePNG(&second); err != nil || !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Errorf("the same figure gave other bytes: %v", err)
	}
	img, err := png.Decode(&first)
	if err != nil || img.Bounds().Dx() < 1000 {
		t.Errorf("%v, %v", img, err)
	}
}

// A logarithmic axis has no place for zero.
func TestCurvesRejectWhatTheyCannotShow(t *testing.T) {
	for _, c := range [][]report.Curve{nil, {{Name: "zero", X: []float64{0, 1}, Y: []float64{1, 1}}}, make([]report.Curve, 7)} {
		f := report.Curves{Panels: []report.CurvesPanel{{Title: "a", Curves: c}}}
		if f.WritePNG(&bytes.Buffer{}) == nil {
			t.Errorf("%d curves were drawn", len(c))
		}
	}
}
