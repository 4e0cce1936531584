package topology_test

import (
	"fmt"
	"math/rand/v2"
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

// TestReaches: Reaches says of all pairs what Route finds, on machines that have lost links in one direction, too.
func TestReaches(t *testing.T) {
	reached, unreached := 0, 0
	check := func(name string, topo *topology.Topology) {
		fast, slow := topology.NewRouter(topo), topology.NewRouter(topo)
		all := true
		for a := range topo.NumRanks() {
			for b := range topo.NumRanks() {
				_, err := slow.Route(a, b)
				if fast.Reaches(a, b) != (err == nil) {
					t.Errorf("%s: from %d to %d: %v, Route: %v", name, a, b, err != nil, err)
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
	machines := map[string]*topology.Topology{"flat": flat}
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
