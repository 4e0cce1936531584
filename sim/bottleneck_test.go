package sim

import (
	"strings"
	"testing"

	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/planner"
	"railyard/topologies"
)

// What limits is what most of the time goes to, whatever share of the links is used.
func TestBottleneck(t *testing.T) {
	topo, err := topology.Load(topologies.Source, "hgx-h200-4", topology.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := planner.Build(topo, collective.Spec{Kind: collective.AllReduce, Ranks: 4}, "direct", planner.Options{Slices: 1})
	if err != nil {
		t.Fatal(err)
	}
	const fast, slow = 1e14, 1e9
	for want, c := range map[string]struct {
		launch, alpha units.Time
		reduce, rate  units.Rate
	}{
		"launch: ":                                {launch: units.Second, reduce: fast, rate: fast},
		"latency: 1 dependent step; the":          {alpha: units.Second, reduce: fast, rate: fast},
		"adding and copying within ranks: ":       {reduce: slow, rate: fast},
		"transfers below line rates; the busiest": {reduce: fast, rate: slow},
		"link ": {reduce: fast, rate: fast},
	} {
		r, err := Run(topo, s, 64*units.MiB, &cost.Profile{Name: want, Launch: c.launch, Reduce: c.reduce, Copy: fast,
			Curves: []cost.Curve{{Medium: "nvlink", Protocol: "any", Segments: []cost.Segment{{Alpha: c.alpha, Rate: c.rate}}}}}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(r.Bottleneck, want) {
			t.Errorf("%+v: limited by %s, want %s", c, r.Bottleneck, want)
		}
	}
}
