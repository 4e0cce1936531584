package report_test

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"math"
	"strings"
	"testing"

	"railyard/internal/golden"
	"railyard/model/collective"
	"railyard/model/measurement"
	"railyard/model/units"
	"railyard/report"
	"railyard/report/chart"
)

func figureFile(t *testing.T, f *report.Figure, file string) []byte {
	t.Helper()
	c, err := f.Chart()
	return drawn(t, c, err, file)
}

func drawn(t *testing.T, c chart.Chart, err error, file string) []byte {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	write, err := chart.Draw(c, file)
	if err != nil {
		t.Fatal(err)
	}
	return written(t, write)
}

// TestFigureGoldens fixes the pictures of one and of several cases, byte by byte.
func TestFigureGoldens(t *testing.T) {
	c := measuredRing(t)
	several, err := c.Figure("hgx-h200-4", "test")
	if err != nil {
		t.Fatal(err)
	}
	golden.Equal(t, "figure-several.svg", figureFile(t, several, "x.svg"))
	golden.Equal(t, "figure-run-busbw.svg", figureFile(t, runDocument().Figures()["busbw"], "x.svg"))
	if again := figureFile(t, several, "x.svg"); !bytes.Equal(again, figureFile(t, several, "x.svg")) {
		t.Error("the same figure gave other bytes")
	}
}

// TestFigureSaysWhatItShows looks for title, units, source, labels and each case.
func TestFigureSaysWhatItShows(t *testing.T) {
	f, err := measuredRing(t).Figure("hgx-h200-4", "test")
	if err != nil {
		t.Fatal(err)
	}
	svg := string(figureFile(t, f, "x.svg"))
	for _, want := range []string{"all_reduce Ring graph float 4 GPUs on hgx-h200-4", "time (us)", "bus bandwidth (GB/s)", "error (%)",
		"size (bytes; K = 1024)",
		"measured: h200-ring.csv; predicted: profile test", "LL128, MAPE", "Simple, MAPE", ">1K<", ">64M<", ">1G<", "measured",
		"predicted"} {
		if !strings.Contains(svg, want) {
			t.Errorf("the figure does not say %q", want)
		}
	}
}

// TestFigureShowsNCCL: where NCCL was measured beside a run, both figures show it, at its time and bus bandwidth.
func TestFigureShowsNCCL(t *testing.T) {
	for name, want := range map[string]float64{"time": 2500, "busbw": runDocument().Rows[0].BusBW / 2} {
		d := runDocument()
		if svg := string(figureFile(t, d.Figures()[name], "x.svg")); strings.Contains(svg, "NCCL") {
			t.Errorf("%s: NCCL is in a figure of a run without it", name)
		}
		us := 2 * d.Rows[0].MeasuredUS.Median
		d.Rows[0].Library.MeasuredUS = &us
		f := d.Figures()[name]
		if svg := string(figureFile(t, f, "x.svg")); !strings.Contains(svg, "NCCL, measured") || !strings.Contains(svg, "rings: NCCL, measured") {
			t.Errorf("%s: the figure does not say which points are NCCL's", name)
		}
		c, err := f.Chart()
		if err != nil {
			t.Fatal(err)
		}
		var got []chart.XY
		for _, l := range c.(*chart.Panels).Charts[:1] {
			for _, s := range l.(*chart.Lines).Series {
				if s.Style == chart.Rings {
					got = append(got, s.Points...)
				}
			}
		}
		if len(got) != 1 || got[0].X != float64(d.Rows[0].SizeBytes) || math.Abs(got[0].Y/want-1) > 1e-9 {
			t.Errorf("%s: rings at %v, want one at %v", name, got, want)
		}
	}
}

func TestFigurePNG(t *testing.T) {
	f := runDocument().Figures()["time"]
	img, err := png.Decode(bytes.NewReader(figureFile(t, f, "x.png")))
	if err != nil {
		t.Fatal(err)
	}
	if b := img.Bounds(); b.Dx() < 1000 || b.Dy() < 600 {
		t.Errorf("%v is too small to read", b)
	}
	for what, c := range map[string]color.RGBA{"white": {255, 255, 255, 255}, "predicted": chart.Palette[1], "measured": chart.Palette[7]} {
		if n := count(img, c); n < 50 {
			t.Errorf("%d pixels of %s", n, what)
		}
	}
}

func count(img image.Image, want color.RGBA) (n int) {
	b := img.Bounds()
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			if color.RGBAModel.Convert(img.At(x, y)) == want {
				n++
			}
		}
	}
	return n
}

func TestFigureRefuses(t *testing.T) {
	c0, err := runDocument().Figures()["time"].Chart()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := chart.Draw(c0, "x.pdf"); err == nil || !strings.Contains(err.Error(), "must end in .svg or .png") {
		t.Errorf("%v", err)
	}
	if _, err := (&report.Figure{}).Chart(); err == nil || !strings.Contains(err.Error(), "nothing to plot") {
		t.Errorf("%v", err)
	}
	c := &report.Comparison{}
	for n := range 7 {
		c.Rows = append(c.Rows, report.ComparedRow{Measured: measurement.Row{Collective: collective.AllReduce, GPUs: 2 + n, Size: 8,
			Time: 8}, Predicted: report.Predicted{Time: 8}})
	}
	if _, err := c.Figure("box", "test"); err == nil || !strings.Contains(err.Error(),
		`at most 6 cases, but there are 7, such as "all_reduce 2 GPUs"`) {
		t.Errorf("%v", err)
	}
}

// TestFigureRanges draws what is hard for axes: one size, one byte, huge sizes and
// errors, a collective without bus bandwidth, unknown numbers of GPUs.
func TestFigureRanges(t *testing.T) {
	row := func(kind collective.Kind, gpus int, size units.Bytes, measured, predicted units.Time) report.ComparedRow {
		return report.ComparedRow{File: "f", Measured: measurement.Row{Collective: kind, GPUs: gpus, Size: size, Time: measured},
			Predicted: report.Predicted{Time: predicted}}
	}
	for name, rows := range map[string][]report.ComparedRow{
		"one size":    {row(collective.AllReduce, 4, 1024, 5e6, 5e6)},
		"one byte":    {row(collective.AllReduce, 4, 1, 5e6, 6e6), row(collective.AllReduce, 4, 2, 5e6, 6e6)},
		"huge":        {row(collective.AllReduce, 4, 1, 1, 1e12), row(collective.AllReduce, 4, 1<<44, 1e15, 1e3)},
		"barrier":     {row(collective.Barrier, 4, 1, 5e6, 6e6)},
		"no GPUs":     {row(collective.Reduce, 0, 1<<20, 5e6, 6e6)},
		"empty sizes": {row(collective.AllReduce, 4, 0, 5e6, 5e6), row(collective.AllReduce, 4, 8, 5e6, 5e6)},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := (&report.Comparison{Rows: rows}).Figure("box", "test")
			if err != nil {
				t.Fatal(err)
			}
			svg := figureFile(t, f, "x.svg")
			if bytes.Contains(svg, []byte("NaN")) || bytes.Contains(svg, []byte("Inf")) {
				t.Error("the figure has places that are no numbers")
			}
			if len(figureFile(t, f, "x.png")) < 1000 {
				t.Error("an empty PNG")
			}
		})
	}
}
