package topology_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"railyard/internal/gen"
	"railyard/model/topology"
)

// onSwitches are ranks that sit on the switches of a network without NICs.
const onSwitches = `schema: railyard.topology/v1
name: on-switches
source: "a test"
date: 2026-11-28
classes:
  rail: {medium: network, rate: 50GB/s, latency: 2us, source: "a test", date: 2026-11-28}
templates:
  npu: {devices: [{id: gpu, kind: gpu}]}
nodes:
  - {template: npu, count: 9}
fabrics:
  - {name: flat, endpoints: gpu, class: rail, levels: [{kind: leaf}]}
`

// onScaleUp are nodes without a network, on scale-up switches between them.
const onScaleUp = `schema: railyard.topology/v1
name: on-scale-up
source: "a test"
date: 2026-11-30
classes:
  up: {medium: nvlink, rate: 50GB/s, latency: 500ns, source: "a test", date: 2026-11-30}
templates:
  box: {devices: [{id: "gpu[0-1]", kind: gpu}, {id: s, kind: nvswitch}], links: [{from: "gpu[0-1]", to: s, class: up}]}
nodes:
  - {template: box, count: 4}
fabrics:
  - {name: flat, endpoints: nvswitch, class: up, levels: [{kind: nvswitch}]}
`

// TestReaches: Reaches says of all pairs what Route finds, and Reach why not, on machines that have lost links in one direction, too.
func TestReaches(t *testing.T) {
	reached, unreached := 0, 0
	check := func(name string, topo *topology.Topology) {
		fast, slow := topology.NewRouter(topo), topology.NewRouter(topo)
		all := true
		for a := range topo.NumRanks() {
			for b := range topo.NumRanks() {
				route, err := slow.Route(a, b)
				if passing, failed := fast.Passing(a, b); !reflect.DeepEqual(passing, route) || fmt.Sprint(failed) != fmt.Sprint(err) {
					t.Errorf("%s: from %d to %d passes %v, %v, not %v, %v", name, a, b, passing, failed, route, err)
				}
				if got := fast.Reach(a, b); fmt.Sprint(got) != fmt.Sprint(err) || fast.Reaches(a, b) != (err == nil) {
					t.Errorf("%s: from %d to %d: %v, Route: %v", name, a, b, got, err)
				}
				if all = all && err == nil; err == nil {
					reached++
				} else {
					unreached++
				}
			}
		}
		if fast.ReachesAll() && !all {
			t.Errorf("%s: not all reach one another", name)
		}
	}
	flat, err := topology.Parse("on-switches", []byte(onSwitches), nil, topology.Options{})
	if err != nil {
		t.Fatal(err)
	}
	scaleUp, err := topology.Parse("on-scale-up", []byte(onScaleUp), nil, topology.Options{})
	if err != nil {
		t.Fatal(err)
	}
	machines := map[string]*topology.Topology{"flat": flat, "scale-up": scaleUp}
	for seed := range int64(12) {
		machines[fmt.Sprint(seed)] = gen.Topology(seed)
	}
	for name, topo := range machines {
		check(name, topo)
		rng := rand.New(rand.NewPCG(1, uint64(len(name))))
		for range 4 {
			l := topo.Links()[rng.IntN(len(topo.Links()))]
			fault := fmt.Sprintf("link:%s->%s", topo.DeviceName(l.From), topo.DeviceName(l.To))
			if worse, err := topo.Degrade(gen.Faults(fault)); err == nil {
				check(name+" "+fault, worse)
			}
		}
	}
	if reached == 0 || unreached == 0 {
		t.Errorf("%d pairs with a route, %d without", reached, unreached)
	}
}

// TestReachBuildsNoRoutes: on scale-up switches between nodes, whether ranks reach one another is told without building their routes.
func TestReachBuildsNoRoutes(t *testing.T) {
	topo, err := topology.Parse("on-scale-up", []byte(onScaleUp), nil, topology.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := topology.NewRouter(topo)
	all := func() {
		for a := range topo.NumRanks() {
			for b := range topo.NumRanks() {
				if err := r.Reach(a, b); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	if n := testing.AllocsPerRun(1, all); n > 0 { // after a first run, which finds the paths
		t.Errorf("%v allocations", n)
	}
	passing := func() {
		if _, err := r.Passing(0, topo.NumRanks()-1); err != nil {
			t.Fatal(err)
		}
	}
	if n := testing.AllocsPerRun(1, passing); n > 0 {
		t.Errorf("a route that passes makes %v allocations", n)
	}
}
