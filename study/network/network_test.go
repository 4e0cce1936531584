package network

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"railyard/model/measurement"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/sim"
)

// inMemory are rows of what ranks of so many processes reach in their memory, in GB/s.
func inMemory(processes int, input, copied, combined float64) (list []measurement.Link) {
	for p := range processes {
		for kind, rate := range map[string]float64{measurement.NetInput: input, measurement.NetCopy: copied,
			measurement.NetCombine: combined} {
			list = append(list, measurement.Link{Kind: kind, Src: fmt.Sprint(p), Dst: fmt.Sprint(p), Bytes: 64 * units.MiB, Value: rate,
				Unit: "GBps"})
		}
	}
	return list
}

// rows are messages that take 20 µs and nine tenths of the line rate: alone, and all at once as the topology says.
func rows(t *topology.Topology, together func(distance, from int) units.Time) (list []measurement.Link) {
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
				list = append(list, measurement.Link{Kind: measurement.NetPair, Src: fmt.Sprint(a), Dst: fmt.Sprint(b), Bytes: size,
					Value: us,
					Unit:  "us"})
			}
		}
	}
	for distance := 1; distance < t.NumRanks(); distance++ {
		for a := range t.NumRanks() {
			list = append(list, measurement.Link{Kind: measurement.NetAll, Src: fmt.Sprint(a),
				Dst:   fmt.Sprint((a + distance) % t.NumRanks()),
				Bytes: 4 * units.MiB, Value: together(distance, a).Microseconds(), Unit: "us"})
		}
	}
	return list
}

// calibrated is the calibration of a scene whose messages take so many times what links let through when all send at once.
func calibrated(t *testing.T, name string, crowded float64) (*topology.Topology, *Calibration) {
	t.Helper()
	topo, err := emulated(name)
	if err != nil {
		t.Fatal(err)
	}
	c, err := Of(append(rows(topo, func(distance, _ int) units.Time {
		return 20*units.Microsecond + units.Time(crowded*shared[name][distance-1]*onUplink)*units.Microsecond
	}), inMemory(4, 1e3, 1e3, 1e3)...), topo)
	if err != nil {
		t.Fatal(err)
	}
	return topo, c
}

// onUplink is what a message takes beyond the first byte on an uplink alone, in microseconds; shared is how many times that the fullest
// link takes when all send so many places on.
var (
	onUplink = (4 * units.MiB).Over(125e6).Microseconds() / 0.9
	shared   = map[string][]float64{"near": {1, 2, 1}, "spread": {2, 0.5, 2}}
)

// TestOversubscription: a ring whose neighbours share a leaf has an uplink for each flow that leaves it; spread over the leaves
// two flows share one, which the profile of the same messages says, and so does what all send at once. Where that takes longer than
// the links say, predictions do too.
func TestOversubscription(t *testing.T) {
	took := map[string]units.Time{}
	for name := range shared {
		for _, crowded := range []float64{1, 1.5} {
			topo, c := calibrated(t, name, crowded)
			for i, x := range c.Ratios {
				want := 20 + shared[name][i]*onUplink
				if got := x.Predicted.Microseconds(); math.Abs(got/want-1) > 0.01 || x.Distance != i+1 {
					t.Errorf("%s, %d places on: %.3f µs, want %.3f", name, x.Distance, got, want)
				}
				if got := (x.Measured.Microseconds() - 20) / (want - 20); math.Abs(got/crowded-1) > 0.01 {
					t.Errorf("%s, %d places on: measured %.3f times what links let through, want %v", name, x.Distance, got, crowded)
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
			if crowded == 1 {
				took[name] = r.Time
			} else if slower := float64(r.Time) / float64(took[name]); math.Abs(slower/crowded-1) > 0.01 ||
				!strings.Contains(c.Profile.Error, "90.0% of the line rate alone, 60.0% all at once") {
				t.Errorf("%s: %.3f times as long, want %v; %s", name, slower, crowded, c.Profile.Error)
			}
		}
	}
	if slower := float64(took["spread"]) / float64(took["near"]); slower < 1.98 || slower > 2.02 {
		t.Errorf("the ring over shared uplinks takes %.3f times as long, want 2", slower)
	}
}

// TestRanksOfAProcess: messages within a process cost what was measured there, whatever the topology says that they go over.
func TestRanksOfAProcess(t *testing.T) {
	topo, err := emulated("two ranks")
	if err != nil {
		t.Fatal(err)
	}
	one, err := emulated("near")
	if err != nil {
		t.Fatal(err)
	}
	all := append(rows(one, func(int, int) units.Time { return units.Millisecond }),
		measurement.Link{Kind: measurement.NetLocal, Src: "0", Dst: "0", Bytes: 8, Value: 3, Unit: "us"})
	c, err := Of(append(all, inMemory(4, 3, 2, 1)...), topo)
	if err != nil {
		t.Fatal(err)
	}
	x := c.Profile.Transfer(topology.MemBus, "simple", units.MiB)
	if x.Alpha != 3*units.Microsecond || x.Cap != 2e9 || math.Abs(float64(c.Profile.Reduce)/2e9-1) > 1e-9 ||
		c.Profile.Copy != 3e9 {
		t.Errorf("%+v, combining %v, copying %v", x, c.Profile.Reduce, c.Profile.Copy)
	}
}

// TestSlowNode: a node whose link has a quarter of the rate is named alone, though messages over uplinks, which are slower than other
// links, take half as many times as long to it as those within its leaf.
func TestSlowNode(t *testing.T) {
	topo, err := emulated("slow")
	if err != nil {
		t.Fatal(err)
	}
	bad, err := slowed(topo, 5)
	if err != nil {
		t.Fatal(err)
	}
	links := &crowd{t: bad, ranks: []int{0, 1, 2, 3, 4, 5}}
	c, err := Of(append(rows(bad, func(distance, from int) units.Time {
		lines, err := links.lines(pattern{distance, 4 * units.MiB})
		if err != nil {
			panic(err)
		}
		return 20*units.Microsecond + units.Time(lines[from]/0.9)*units.Microsecond
	}), inMemory(6, 1, 1, 1)...), topo)
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Profile.Curves[0].Segments[0].Efficiency; math.Abs(got-0.9) > 0.001 {
		t.Errorf("messages reach %.3f of the line rate, want 0.9: a slow node is not what the others reach", got)
	}
	if len(c.Suspects) != 1 || c.Suspects[0].What != "node 5" {
		t.Errorf("slow are %v, want node 5", c.Suspects)
	}
}

// TestOfNothing says what lacks.
func TestOfNothing(t *testing.T) {
	topo, err := emulated("near")
	if err != nil {
		t.Fatal(err)
	}
	some := rows(topo, func(int, int) units.Time { return units.Millisecond })
	for want, rows := range map[string][]measurement.Link{"of 0 processes": some, "of 3 processes": append(some, inMemory(3, 1, 1, 1)...),
		"no rows net_pair": inMemory(4, 1, 1, 1), "no rows net_memory_combine": append(some, inMemory(4, 1, 1, 0)...)} {
		if _, err := Of(rows, topo); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
