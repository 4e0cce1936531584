package network

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"railyard/model/cost"
	"railyard/model/measurement"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/sim"
)

// rows are messages that take 20 µs and nine tenths of the line rate: alone, and all at once as the topology says.
func rows(t *topology.Topology, together func(distance int) units.Time) (list []measurement.Link) {
	router := topology.NewRouter(t)
	for a := range t.NumRanks() {
		for b := a + 1; b < t.NumRanks(); b++ {
			route, err := router.Route(a, b)
			if err != nil {
				panic(err)
			}
			for _, size := range []units.Bytes{8, units.MiB, 4 * units.MiB} {
				us := 20.
				if size > 8 {
					us += size.Over(route.Rate).Microseconds() / 0.9
				}
				list = append(list, measurement.Link{Kind: "net_pair", Src: fmt.Sprint(a), Dst: fmt.Sprint(b), Bytes: size, Value: us,
					Unit: "us"})
			}
		}
	}
	for distance := 1; distance < t.NumRanks(); distance++ {
		for a := range t.NumRanks() {
			list = append(list, measurement.Link{Kind: "net_all", Src: fmt.Sprint(a), Dst: fmt.Sprint((a + distance) % t.NumRanks()),
				Bytes: 4 * units.MiB, Value: together(distance).Microseconds(), Unit: "us"})
		}
	}
	return list
}

// TestOversubscription: a ring whose neighbours share a leaf has an uplink for each flow that leaves it; spread over the leaves
// two flows share one, which the profile of the same messages says, and so does what all send at once.
func TestOversubscription(t *testing.T) {
	took := map[string]units.Time{}
	for _, placement := range []string{"near", "spread"} {
		topo, err := emulated(placement)
		if err != nil {
			t.Fatal(err)
		}
		alone := (4*units.MiB).Over(125e6).Microseconds()/0.9 + 20 // µs, on an uplink of 1 Gbit/s
		c, err := Of(rows(topo, func(int) units.Time { return units.Time(2*alone) * units.Microsecond }),
			cost.Level{Fresh: cost.Pass{Combine: 1e12}, Input: cost.Pass{Copy: 1e12}}, topo, []int{0, 1, 2, 3}, 64*units.MiB)
		if err != nil {
			t.Fatal(err)
		}
		want := map[string][]float64{"near": {1, 2, 1}, "spread": {2, 0.5, 2}}[placement]
		for i, x := range c.Ratios {
			if got := x.Predicted.Microseconds() / alone; math.Abs(got-want[i]) > 0.01 || x.Distance != i+1 {
				t.Errorf("%s, %d places on: %.3f times an uplink's, want %v", placement, x.Distance, got, want[i])
			}
			if got := x.Measured.Microseconds() / alone; math.Abs(got-2) > 0.01 {
				t.Errorf("%s, %d places on: measured %.3f times an uplink's, want 2", placement, x.Distance, got)
			}
		}
		list, err := cases(topo, 1)
		if err != nil {
			t.Fatal(err)
		}
		r, err := sim.Run(topo, list[0].Schedule, 16*units.MiB, c.Profile, sim.Options{})
		if err != nil {
			t.Fatal(err)
		}
		took[placement] = r.Time
	}
	if slower := float64(took["spread"]) / float64(took["near"]); slower < 1.98 || slower > 2.02 {
		t.Errorf("the ring over shared uplinks takes %.3f times as long, want 2", slower)
	}
}

// TestOfNothing says what lacks.
func TestOfNothing(t *testing.T) {
	topo, err := emulated("near")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Of(nil, cost.Level{}, topo, []int{0, 1, 2, 3}, units.MiB); err == nil || !strings.Contains(err.Error(), "no rows net_pair") {
		t.Errorf("%v", err)
	}
}
