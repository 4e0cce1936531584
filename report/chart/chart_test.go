package chart

import (
	"bytes"
	"encoding/csv"
	"encoding/xml"
	"errors"
	"image/color"
	"image/png"
	"io"
	"math"
	"strings"
	"testing"

	_ "railyard/internal/long" // accepts -long
)

var source = Frame{Title: "a title", Source: "a source line", X: "size (bytes)", Y: "time (us)"}

func samples() map[string]Chart {
	log := source
	log.LogX, log.LogY = true, true
	return map[string]Chart{
		"lines": &Lines{Frame: log, Series: []Series{
			{Name: "predicted", Points: []XY{{X: 1024, Y: 2}, {X: 1 << 20, Y: 9}}, Colour: Ours},
			{Name: "measured", Points: []XY{{X: 1024, Y: 2.2}, {X: 1 << 20, Y: 9.5, Label: "here"}}, Style: Dots, Colour: Measured},
			{Name: "limit", Points: []XY{{X: 1024, Y: 1}, {X: 1 << 20, Y: 8}}, Style: Dashed, Colour: Limit}}},
		"distribution": Distribution(source, "all-reduce", []float64{1, 2, 2, 3, 10}),
		"bars": &Bars{Frame: source, Bars: []Bar{{Name: "dgx1",
			Parts: []Part{{Name: "compute", Value: 3, Colour: Compute}, {Name: "exposed", Value: 1, Colour: Exposed}}}}},
		"waterfall": Waterfall(source, []Part{{Name: "forward", Value: 1, Colour: Compute},
			{Name: "all-reduce", Value: 2, Colour: Exposed}}, "step"),
		"timeline": &Timeline{Frame: source, Spans: []Span{{Lane: "rank 0", Kind: "compute", From: 0, To: 2, Colour: Compute},
			{Lane: "rank 1", Kind: "compute", From: 1, To: 3, Colour: Compute}}},
		"heat": &Heat{Frame: source, Columns: []string{"a", "b"}, Names: []string{"x", "y"},
			Values: [][]float64{{0, 1}, {math.NaN(), 0.5}}, Unit: "GB/s"},
		"panels": &Panels{Frame: source, Charts: []Chart{
			&Timeline{Frame: Frame{X: "size (bytes)", Sizes: true}, Spans: []Span{{Lane: "box", Kind: "ring", From: 1024, To: 1 << 20,
				Colour: Ours}}},
			&Lines{Frame: Frame{X: "size (bytes)", Y: "loss (%)", Sizes: true, LogY: true},
				Series: []Series{{Name: "loss", Style: Smooth, Points: []XY{{X: 1, Y: 3}, {X: 1 << 20, Y: 3}}}}}}},
		"side by side": &Panels{Frame: source, Across: true, Charts: []Chart{
			&Lines{Frame: Frame{X: "size (bytes)", Sizes: true}, Series: []Series{{Name: "one size", Points: []XY{{X: 1, Y: 3}}}}},
			&Lines{Frame: source, Series: []Series{{Name: "other", Points: []XY{{X: 1, Y: 3}, {X: 2, Y: 3}}}}}}},
		"map of kinds": &Heat{Frame: source, Columns: []string{"a", "b"}, Names: []string{"x"}, Values: [][]float64{{0, 1}},
			Kinds: []string{"ring", "tree"}},
	}
}

func TestChartsInEveryFormat(t *testing.T) {
	for name, c := range samples() {
		t.Run(name, func(t *testing.T) {
			svg := drawn(t, c, "f.svg")
			if !bytes.Equal(svg, drawn(t, c, "f.svg")) {
				t.Error("drawn twice, two figures")
			}
			texts := svgTexts(t, svg)
			for _, want := range []string{"a title", "a source line", "size (bytes)"} {
				if !strings.Contains(texts, want) {
					t.Errorf("the figure does not say %q: %q", want, texts)
				}
			}
			img, err := png.Decode(bytes.NewReader(drawn(t, c, "f.png")))
			if err != nil {
				t.Fatal(err)
			}
			coloured := 0
			for y := img.Bounds().Min.Y; y < img.Bounds().Max.Y; y++ {
				for x := img.Bounds().Min.X; x < img.Bounds().Max.X; x++ {
					if p := color.RGBAModel.Convert(img.At(x, y)).(color.RGBA); p.R != p.G || p.G != p.B {
						coloured++
					}
				}
			}
			if coloured < 200 {
				t.Errorf("only %d pixels have a colour", coloured)
			}
			rows, err := csv.NewReader(bytes.NewReader(drawn(t, c, "f.csv"))).ReadAll()
			if err != nil || len(rows) < 2 {
				t.Errorf("CSV: %v, %v", rows, err)
			}
		})
	}
}

func drawn(t *testing.T, c Chart, file string) []byte {
	t.Helper()
	write, err := Draw(c, file)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := write(&out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// svgTexts parses the file and returns all that is written in it.
func svgTexts(t *testing.T, svg []byte) string {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(svg))
	var out strings.Builder
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return out.String()
		}
		if err != nil {
			t.Fatal(err)
		}
		if text, ok := token.(xml.CharData); ok {
			out.Write(text)
		}
	}
}

func TestWhatCannotBeShown(t *testing.T) {
	log := source
	log.LogY = true
	for name, c := range map[string]Chart{
		"zero on a log axis": &Lines{Frame: log, Series: []Series{{Points: []XY{{X: 1, Y: 0}}}}},
		"NaN":                &Lines{Frame: source, Series: []Series{{Points: []XY{{X: 1, Y: math.NaN()}}}}},
		"nothing":            &Lines{Frame: source},
		"no bars":            &Bars{Frame: source},
		"negative part":      &Bars{Frame: source, Bars: []Bar{{Parts: []Part{{Value: -1}}}}},
		"backwards":          &Timeline{Frame: source, Spans: []Span{{From: 2, To: 1}}},
		"too many spans":     &Timeline{Frame: source, Spans: make([]Span, maxSpans+1)},
		"ragged heat":        &Heat{Frame: source, Columns: []string{"a"}, Names: []string{"x"}, Values: [][]float64{{1, 2}}},
		"unknown kind": &Heat{Frame: source, Columns: []string{"a"}, Names: []string{"x"}, Values: [][]float64{{3}},
			Kinds: []string{"ring"}},
	} {
		if _, err := Draw(c, "f.svg"); err == nil {
			t.Errorf("%s: drawn", name)
		}
	}
	if _, err := Draw(samples()["bars"], "f.gif"); err == nil {
		t.Error("a format that is not there was accepted")
	}
}

func TestNumber(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 0.25: "0.25", 9999: "9999", 10000: "10k", 2.5e6: "2.5M", 3e9: "3G", 1.2e13: "12T"} {
		if got := number(v); got != want {
			t.Errorf("%v is %q, want %q", v, got, want)
		}
	}
}
