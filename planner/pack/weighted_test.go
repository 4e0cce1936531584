package pack

import (
	"fmt"
	"testing"

	"railyard/model/collective"
	"railyard/model/topology"
)

// Behind one switch weighted stars are optimal, whatever the rates of the links.
func TestWeightedStarsBehindASwitch(t *testing.T) {
	for _, rates := range [][]int{{10, 10, 10, 10}, {10, 20, 40, 40}, {12, 25, 50, 100, 100, 50, 25, 12}, {5, 100, 100, 100, 100},
		{30, 60, 60, 90, 90, 90, 30, 60, 20}} {
		text := fmt.Sprintf("schema: railyard.topology/v1\nname: s\nsource: test\ndate: 2026-11-22\ndevices: [{id: \"gpu[0-%d]\", kind: "+
			"gpu}, {id: sw, kind: nvswitch}]\nclasses:\n", len(rates)-1)
		links := "links:\n"
		for v, rate := range rates {
			text += fmt.Sprintf("  c%d: {medium: nvlink, rate: %dGB/s, latency: 1us, source: test, date: 2026-11-22}\n", v, rate)
			links += fmt.Sprintf("  - {from: gpu%d, to: sw, class: c%d}\n", v, v)
		}
		topo, err := topology.Parse("s.yaml", []byte(text+links), nil, topology.Options{})
		if err != nil {
			t.Fatal(err)
		}
		p, err := ForTopology(topo, collective.AllReduce, 0, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Verify(fromTopology(t, topo), 0); err != nil {
			t.Error(err)
		}
		if p.Rate != p.Bound.Rate || p.Height > 1 {
			t.Errorf("%v: %.2f %% of the bound by %s of height %d", rates, 100*p.Share, p.Method, p.Height)
		}
	}
}
