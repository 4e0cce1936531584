package report_test

import (
	"bytes"
	"fmt"
	"image/png"
	"strings"
	"testing"

	"railyard/internal/golden"
	"railyard/report"
	"railyard/report/chart"
	"railyard/report/table"
)

// crossoverDocument has a topology with three bands, one of them of a single size, and
// one without a runner-up.
func crossoverDocument() *report.CrossoverDocument {
	size := func(bytes int64, schedule string, us float64, runner string, loss float64) report.CrossoverSize {
		return report.CrossoverSize{SizeBytes: bytes, Schedule: schedule, TimeUS: us, BusBW: 1.75 * float64(bytes) / us / 1e3,
			RunnerUp: runner, RunnerLoss: loss}
	}
	band := func(from, to int64, best string) report.Band {
		return report.Band{SizeRange: report.SizeRange{From: from, To: to}, Best: best}
	}
	d := &report.CrossoverDocument{Schema: "railyard.crossover/v1", Collective: "all_reduce", Topologies: []report.CrossoverTopology{
		{Topology: "box", Hash: "00ff", Profile: "line", Ranks: 8, Bands: []report.Band{band(1024, 69999, "direct/ll"),
			band(70000, 1<<30-1, "ring"), band(1<<30, 1<<30, "two_shot")},
			Rows: []report.CrossoverSize{size(1024, "direct/ll", 4.5, "ring", 2.5), size(1<<16, "direct/ll", 6, "ring", 0.0125),
				size(1<<20, "ring×4", 9, "direct/ll", 0.5), size(1<<30, "two_shot", 4000, "ring", 0)}},
		{Topology: "other", Hash: "00aa", Profile: "test", Ranks: 2, Bands: []report.Band{band(1024, 1<<30, "ring")},
			Rows: []report.CrossoverSize{size(1024, "ring", 3, "", 0), size(1<<30, "ring", 3000, "", 0)}},
	}}
	d.Topologies[0].Bands[1].About = true
	for i := range d.Topologies {
		d.Topologies[i].Close()
	}
	return d
}

func crossoverFile(t *testing.T, file string) []byte {
	t.Helper()
	c, err := crossoverDocument().Chart("railyard test")
	return drawn(t, c, err, file)
}

func TestCrossoverGoldens(t *testing.T) {
	d := crossoverDocument()
	golden.Equal(t, "crossover.txt", written(t, emitted(table.Text, d)))
	golden.Equal(t, "crossover.csv", written(t, emitted(table.CSV, d)))
	svg := crossoverFile(t, "x.svg")
	golden.Equal(t, "crossover.svg", svg)
	if !bytes.Equal(svg, crossoverFile(t, "x.svg")) {
		t.Error("the same document gave other bytes")
	}
	for _, want := range []string{"Best schedule of all_reduce against size", "size (bytes; K = 1024)", "runner-up&#39;s loss (%)",
		"losses are cut at 100 %", "box, 8 ranks", "other, 2 ranks",
		"direct/ll", "two_shot", ">1K<", ">1G<", "simulated by railyard test; profile line: box; profile test: other"} {
		if !bytes.Contains(svg, []byte(want)) && !bytes.Contains(svg, []byte(strings.ReplaceAll(want, "&#39;", "'"))) {
			t.Errorf("the chart does not say %q", want)
		}
	}
}

func TestCrossoverPNG(t *testing.T) {
	img, err := png.Decode(bytes.NewReader(crossoverFile(t, "x.png")))
	if err != nil {
		t.Fatal(err)
	}
	colours := map[[3]uint32]int{}
	for x := range img.Bounds().Dx() {
		for y := range img.Bounds().Dy() {
			r, g, b, _ := img.At(x, y).RGBA()
			colours[[3]uint32{r >> 8, g >> 8, b >> 8}]++
		}
	}
	for _, i := range []int{1, 6, 0} { // the colours of three bands
		if c := chart.Palette[i]; colours[[3]uint32{uint32(c.R), uint32(c.G), uint32(c.B)}] < 100 {
			t.Errorf("colour %d of the palette is not to be seen", i)
		}
	}
}

func TestCrossoverChartErrors(t *testing.T) {
	many := func(topologies, algorithms int) *report.CrossoverDocument {
		d := &report.CrossoverDocument{Collective: "all_reduce"}
		for range topologies {
			x := report.CrossoverTopology{Topology: "box"}
			for i := range algorithms {
				x.Bands = append(x.Bands, report.Band{SizeRange: report.SizeRange{From: 1 << i, To: 2<<i - 1}, Best: fmt.Sprintf("a%d", i)})
			}
			d.Topologies = append(d.Topologies, x)
		}
		return d
	}
	for _, c := range []struct {
		d    *report.CrossoverDocument
		want string
	}{
		{many(0, 0), "nothing to draw"},
		{many(7, 1), "at most 6 topologies, but there are 7"},
		{many(1, 15), "at most 14 algorithms"},
	} {
		if _, err := c.d.Chart("test"); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
	c, err := many(6, 14).Chart("test")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := chart.Draw(c, "x.svg"); err != nil {
		t.Error(err)
	}
}
