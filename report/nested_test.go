package report

import (
	"math"
	"strconv"
	"testing"
)

// TestGroupsAreBelievedAsMuchAsTheyAgree: a group of many rows keeps its mean, one of a few is nearer its neighbours the less
// these differ, and one of which nothing is known is at their mean.
func TestGroupsAreBelievedAsMuchAsTheyAgree(t *testing.T) {
	tree := func(apart float64) (*nested, []float64) {
		n := &nested{}
		for i, off := range []float64{-1, 1, -1, 1} {
			for j, also := range []float64{-0.05, 0.05} {
				n.group("f"+strconv.Itoa(i), "place", strconv.Itoa(j)).rows = estimate{0.2 + apart*off + also*apart, 1e-5}
			}
		}
		n.group("odd", "place", "one").rows = estimate{0.8, 0.01}
		return n, n.spreads(3)
	}
	at := func(n *nested, spreads []float64, path ...string) float64 {
		return n.at(path, spreads, estimate{0, 1}).mean
	}
	alike, spreads := tree(0.01)
	unlike, wide := tree(0.3)
	if got := at(alike, spreads, "f1", "place"); math.Abs(got-0.21) > 0.01 {
		t.Errorf("a group of sure rows at 0.21 is thought to be at %.3f", got)
	}
	near, far := at(alike, spreads, "odd", "place"), at(unlike, wide, "odd", "place")
	if near < 0.2 || far < near || far > 0.8 {
		t.Errorf("a few rows at 0.8 are thought to be at %.3f beside groups that are alike, at %.3f beside others", near, far)
	}
	if got := at(alike, spreads, "new", "place"); got < 0.2 || got > 0.4 {
		t.Errorf("an unknown group is thought to be at %.3f, those that are known are at 0.2 and one at 0.8", got)
	}
	if got := at(&nested{}, []float64{1, 1, 1}, "new", "place"); got != 0 {
		t.Errorf("without any rows a group is at %g, not at what is thought of all", got)
	}
}

// TestLeftOutSeesNothingOfItsSource: what is predicted without a source does not change with its steps, and that of others does.
func TestLeftOutSeesNothingOfItsSource(t *testing.T) {
	predicted := func(times float64) map[string]float64 {
		d := &StepValidation{}
		for i, id := range []string{"a-1", "a-2", "b-1", "b-2", "c-1", "c-2"} {
			r := StepValidationRow{ID: id, Share: "one overhead h100", Predicted: 11, Adds: 1, Published: 10.5 + 0.2*float64(i)}
			if id[0] == 'c' {
				r.Share = "two overhead h100" // no other source tells it
			}
			if id[0] == 'a' {
				r.Published *= times
			}
			d.Rows = append(d.Rows, r)
		}
		d.Finish()
		out := map[string]float64{}
		for _, r := range d.Rows {
			out[r.ID] = (1 + *r.LeftOut) * r.Published
		}
		return out
	}
	once, twice := predicted(1), predicted(1.3)
	for id := range once {
		if same := math.Abs(twice[id]-once[id]) < 1e-9; same != (id[0] == 'a') {
			t.Errorf("%s, left out, is predicted at %.4f, and at %.4f where source a takes 1.3 times as long", id, once[id], twice[id])
		}
	}
}

// TestUnseenBands: a GPU's steps are off by what its software adds otherwise than on others where they are left out, and by the rate under
// load besides; sources of one GPU tell one another.
func TestUnseenBands(t *testing.T) {
	d := &StepValidation{}
	for i, id := range []string{"a-1", "b-1", "c-1", "d-1"} {
		r := StepValidationRow{ID: id, Class: "dense", Share: "one overhead a100", Predicted: 11, Adds: 1, Published: 11}
		if i > 1 {
			r.Share, r.Published = "one overhead h100", 14
		}
		d.Rows = append(d.Rows, r)
	}
	d.Finish()
	known, unseen, loads := d.Bands()["dense"], d.UnseenBands(0)["dense"], d.UnseenBands(0.3)["dense"]
	if known > 0.08 || unseen < 0.15 || math.Abs(loads-math.Hypot(unseen, 0.3)) > 0.011 {
		t.Errorf("bands of %.2f, %.2f on a GPU left out, %.2f with its rate under load", known, unseen, loads)
	}
}
