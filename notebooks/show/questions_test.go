package show

import (
	"math"
	"slices"
	"strings"
	"testing"

	"railyard/model/collective"
	"railyard/model/measurement"
	"railyard/model/units"
	"railyard/planner"
	"railyard/report/chart"
)

// drawn fails where a chart cannot be drawn: no points, spans that end before they begin.
func drawn(t *testing.T, c chart.Chart) {
	t.Helper()
	if _, err := chart.Draw(c, ".svg"); err != nil {
		t.Error(err)
	}
}

func TestPlan(t *testing.T) {
	box := Must(Site{Name: "dgx-h100"}.Topology())
	p, err := Plan(box, collective.AllReduce, Sizes(units.KiB, units.GiB, 1024)...)
	if err != nil {
		t.Fatal(err)
	}
	rows := p.Table()
	if len(rows) != 4 || rows[3][0] != "1GiB" || !strings.HasPrefix(rows[3][5], "link ") {
		t.Errorf("%v", rows)
	}
	lines := p.Bandwidth()
	drawn(t, lines)
	bound, other, best := lines.Series[0].Points, lines.Series[1].Points, lines.Series[2].Points
	for i := range best {
		if best[i].Y > bound[i].Y*1.000001 || other[i].Y > best[i].Y*1.000001 {
			t.Errorf("%v: runner-up %v, best %v, bound %v", best[i].X, other[i].Y, best[i].Y, bound[i].Y)
		}
	}
	// 2·7/8 of 1 GiB in the time of the last row.
	if want := 1.75 * float64(units.GiB) / p.Rows[2].Prediction.Time.Seconds() / 1e9; math.Abs(best[2].Y/want-1) > 1e-6 {
		t.Errorf("bus bandwidth %v, want %v", best[2].Y, want)
	}
	bars := p.Considered(2)
	drawn(t, bars)
	fastest, chosen := math.Inf(1), math.NaN()
	for _, b := range bars.Bars {
		fastest = min(fastest, b.Parts[0].Value)
		if b.Parts[0].Name == "chosen" {
			chosen = b.Parts[0].Value
		}
	}
	if chosen != fastest || len(bars.Bars) < 2 {
		t.Errorf("chosen %v of %d, the fastest takes %v", chosen, len(bars.Bars), fastest)
	}
}

func TestTimeline(t *testing.T) {
	p := Must(Plan(Must(Site{Name: "dgx-h100", Nodes: 2}.Topology()), collective.AllReduce, 64*units.KiB))
	x, err := p.Timeline(0)
	if err != nil {
		t.Fatal(err)
	}
	drawn(t, x)
	kinds, last := map[string]int{}, 0.0
	for _, s := range x.Spans {
		kinds[s.Kind]++
		last = max(last, s.To)
	}
	if total := p.Rows[0].Prediction.Time.Microseconds(); last > total || last < total/2 {
		t.Errorf("messages end at %v of %v us", last, total)
	}
	if kinds["inside the node"] == 0 || kinds["over the network"] == 0 || len(kinds) != 2 {
		t.Errorf("%v: 16 ranks on two nodes, reduced in %s", kinds, planner.Name(p.Rows[0].Schedule))
	}
}

func TestPairRates(t *testing.T) {
	h, err := PairRates(Must(Site{Name: "dgx1-v100"}.Topology()))
	if err != nil {
		t.Fatal(err)
	}
	drawn(t, h)
	// The published cube-mesh: gpu0 has two links to gpu3 and gpu4, one to gpu1 and gpu2.
	if got := h.Values[0]; !math.IsNaN(got[0]) || !slices.Equal(got[1:5], []float64{25, 25, 50, 50}) || got[5] >= 16 {
		t.Errorf("%v", got)
	}
}

func TestHops(t *testing.T) {
	rows, err := Hops(Must(Site{Name: "dgx-h100"}.Topology()), 0, 5)
	if err != nil || len(rows) != 9 || !slices.Equal(rows[1], []string{"gpu0->nvswitch0", "nvlink4", "5/18", "125"}) {
		t.Errorf("%v, %v", rows, err)
	}
}

func TestSite(t *testing.T) {
	top, err := Site{Name: "dgx-h100", Nodes: 2, GPUs: 4, Faults: []string{"gpu:node0/gpu1"}}.Topology()
	if err != nil || top.NumRanks() != 7 || len(top.LostRanks()) != 1 {
		t.Errorf("%v, %v", top, err)
	}
	for _, bad := range []Site{{Name: "no-such"}, {Name: "dgx2", Faults: []string{"gpu"}}, {Name: "dgx2", Faults: []string{"gpu:gpu99"}},
		{Name: "dgx2", Set: []string{"no.such=1"}}} {
		if _, err := bad.Topology(); err == nil {
			t.Errorf("%+v: no error", bad)
		}
		if _, err := bad.Step("llama-3-8b", "dp8"); err == nil {
			t.Errorf("%+v: no error from a step", bad)
		}
	}
	if _, err := (Site{Name: "dgx-h100"}).Step("llama-3-8b", "dp9"); err == nil {
		t.Error("9 replicas on 8 GPUs")
	}
}

func TestStepBars(t *testing.T) {
	r, err := Site{Name: "superpod-h100", Nodes: 4}.Step("llama-3-8b", "dp32 tp1 pp1 zero3 mb1 gb128 full")
	if err != nil {
		t.Fatal(err)
	}
	b, err := StepBars([]string{"x"}, r)
	if err != nil {
		t.Fatal(err)
	}
	drawn(t, b)
	sum := 0.0
	for _, p := range b.Bars[0].Parts {
		sum += p.Value
	}
	if want := r.Time.Seconds() * 1e3; math.Abs(sum-want) > 1e-6*want {
		t.Errorf("parts add up to %v of %v ms", sum, want)
	}
	if _, err := StepBars([]string{"a", "b"}, r); err == nil {
		t.Error("two names for a step")
	}
}

// TestCompare holds the figures of the notebook against those of `lab validate`
// (docs/validation.md).
func TestCompare(t *testing.T) {
	runs := Only(Must(Measurements("h200-nccl.csv")), func(r measurement.Row) bool {
		return r.Launch == "graph" && r.Algo != "default" && r.Size >= units.KiB
	})
	c, err := Compare(Site{Name: "hgx-h200-4"}, "h200", runs)
	if err != nil {
		t.Fatal(err)
	}
	var errors []float64
	for _, r := range c.Rows {
		errors = append(errors, r.Error)
	}
	if got := measurement.MAPE(errors); len(errors) != 240 || got > 0.03 {
		t.Errorf("%d rows, MAPE %.3f", len(errors), got)
	}
	l := Distributions(c, "x")
	drawn(t, l)
	for _, s := range l.Series {
		if last := s.Points[len(s.Points)-1]; last.Y != 1 || len(s.Points) != 240 {
			t.Errorf("%s: %d points end at %v", s.Name, len(s.Points), last)
		}
	}
	if _, err := Compare(Site{Name: "hgx-h200-4"}, "no-such", runs); err == nil {
		t.Error("an unknown profile")
	}
	if _, err := Measurements("no-such.csv"); err == nil {
		t.Error("an unknown file")
	}
}
