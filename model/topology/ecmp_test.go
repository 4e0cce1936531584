package topology_test

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"railyard/internal/gen"
	"railyard/model/topology"
	"railyard/topologies"
)

// lane is one of the parallel links of a bundle.
type lane struct {
	link topology.LinkID
	lane int32
}

func isNetwork(topo *topology.Topology, l topology.LinkID) bool {
	return topo.Class(l).Medium == topology.Network
}

// checkHashed holds a hashed route against the spread one: it is a flow, on shortest
// paths only; where it meets network links, all that a device passes on over them takes
// one lane.
func checkHashed(t *testing.T, topo *topology.Topology, got, ideal topology.Route, src, dst int) {
	t.Helper()
	checkFlow(t, topo, got, topo.Ranks()[src], topo.Ranks()[dst])
	if got.Kind != ideal.Kind || got.Medium != ideal.Medium || !reflect.DeepEqual(got.NICs, ideal.NICs) || got.Latency > ideal.Latency {
		t.Errorf("%s: %d→%d: %v over %v in %v, spread: %v over %v in %v", topo.Name(), src, dst, got.Kind, got.Medium, got.Latency,
			ideal.Kind, ideal.Medium, ideal.Latency)
	}
	allowed := map[topology.LinkID]bool{}
	for _, h := range ideal.Hops {
		allowed[h.Link] = true
	}
	seen := map[lane]bool{}
	for _, h := range got.Hops {
		if !allowed[h.Link] {
			t.Errorf("%s: %d→%d leaves the shortest paths: %s", topo.Name(), src, dst, topo.LinkName(h.Link))
		}
		if (h.Lane > 0) != (isNetwork(topo, h.Link) && got.Kind == topology.Net) || h.Lane > topo.Links()[h.Link].Count {
			t.Errorf("%s: %s of %d has lane %d", topo.Name(), topo.LinkName(h.Link), topo.Links()[h.Link].Count, h.Lane)
		}
		if seen[lane{h.Link, h.Lane}] {
			t.Errorf("%s: %s twice", topo.Name(), topo.LinkName(h.Link))
		}
		seen[lane{h.Link, h.Lane}] = true
	}
	if got.Rate > ideal.Rate && len(ideal.NICs) <= 2 {
		t.Errorf("%s: %d→%d: %v on one path, %v on all", topo.Name(), src, dst, got.Rate, ideal.Rate)
	}
}

func TestHashedRoutesOnRandomFabrics(t *testing.T) {
	for seed := range int64(120) {
		topo := gen.Topology(seed)
		if rng := rand.New(rand.NewPCG(uint64(seed), 3)); seed%3 == 0 {
			if got, err := topo.Degrade([]topology.Fault{randomFault(rng, topo)}); err == nil {
				topo = got
			}
		}
		checkAllHashed(t, topo, uint64(seed), 1)
	}
}

func TestHashedRoutesOnShippedTopologies(t *testing.T) {
	for i, name := range topologies.Names() {
		topo, err := topology.Load(topologies.Source, name, topology.Options{Nodes: 40})
		if err != nil {
			topo = load(t, name, 0)
		}
		checkAllHashed(t, topo, uint64(i), 1+topo.NumRanks()*topo.NumRanks()/300)
	}
}

// checkAllHashed checks every step-th pair of ranks.
func checkAllHashed(t *testing.T, topo *topology.Topology, seed uint64, step int) {
	t.Helper()
	n := topo.NumRanks()
	ideal, hashed, again := topology.NewRouter(topo), topology.NewECMPRouter(topo, seed), topology.NewECMPRouter(topo, seed)
	other := again.Seeded(seed + 1) // which shares what it knows
	for pair := 0; pair < n*n; pair += step {
		a, b := pair/n, pair%n
		want, err := ideal.Route(a, b)
		if err != nil || a == b {
			continue
		}
		got, err := hashed.Route(a, b)
		if err != nil {
			t.Fatal(err)
		}
		checkHashed(t, topo, got, want, a, b)
		if _, err := again.Route(b, a); err != nil { // what was asked before does not matter
			t.Logf("%s: no way back: %v", topo.Name(), err)
		}
		if _, err := other.Route(a, b); err != nil {
			t.Fatal(err)
		}
		if same, err := other.Seeded(seed).RouteFlow(a, b, 0); err != nil || !reflect.DeepEqual(got, same) {
			t.Fatalf("%s: %d→%d: another route after other seeds", topo.Name(), a, b)
		}
		if same, err := again.RouteFlow(a, b, 0); err != nil || !reflect.DeepEqual(got, same) {
			t.Fatalf("%s: %d→%d: not the same route for the same seed", topo.Name(), a, b)
		}
		checkQPs(t, topo, hashed, want, a, b)
	}
}

// checkQPs: the route of several queue pairs is the mean of their flows.
func checkQPs(t *testing.T, topo *topology.Topology, hashed *topology.Router, ideal topology.Route, a, b int) {
	t.Helper()
	const qps = 3
	got, err := hashed.RouteQPs(a, b, qps)
	if err != nil {
		t.Fatal(err)
	}
	checkFlow(t, topo, got, topo.Ranks()[a], topo.Ranks()[b])
	load := map[lane]float64{}
	for _, h := range got.Hops {
		load[lane{h.Link, h.Lane}] += float64(h.Num) / float64(h.Den)
	}
	for label := range qps {
		one, err := hashed.RouteFlow(a, b, label)
		if err != nil {
			t.Fatal(err)
		}
		checkHashed(t, topo, one, ideal, a, b)
		for _, h := range one.Hops {
			load[lane{h.Link, h.Lane}] -= float64(h.Num) / float64(h.Den) / qps
		}
	}
	for l, left := range load {
		if math.Abs(left) > 1e-9 {
			t.Errorf("%s: %d→%d: %v of %s is no flow's", topo.Name(), a, b, left, topo.LinkName(l.link))
		}
	}
}

// fabricLoads adds up the shares of transfers on each network lane (spread ones: on the
// bundle, divided by its links), and lists the lanes of each transfer.
func fabricLoads(t *testing.T, topo *topology.Topology, route func(a, b int) (topology.Route, error), to []int) (load map[lane]float64,
	lanes [][]lane) {
	t.Helper()
	load = map[lane]float64{}
	for a, b := range to {
		r, err := route(a, b)
		if err != nil {
			t.Fatal(err)
		}
		var used []lane
		for _, h := range r.Hops {
			if !isNetwork(topo, h.Link) {
				continue
			}
			share := float64(h.Num) / float64(h.Den)
			if h.Lane == 0 {
				share /= float64(topo.Links()[h.Link].Count)
			}
			load[lane{h.Link, h.Lane}] += share
			used = append(used, lane{h.Link, h.Lane})
		}
		if len(used) > 0 {
			lanes = append(lanes, used)
		}
	}
	return load, lanes
}

// collisions are the mean and the largest, over the transfers, of the load of the fullest
// link that each crosses: how many times slower than alone it is.
func collisions(load map[lane]float64, lanes [][]lane) (mean, most float64) {
	for _, used := range lanes {
		worst := 0.0
		for _, l := range used {
			worst = max(worst, load[l])
		}
		mean += worst / float64(len(lanes))
		most = max(most, worst)
	}
	return mean, most
}

func TestRailAlignedTrafficDoesNotCollide(t *testing.T) {
	for name, nodes := range map[string]int{"dgx-h100": 4, "superpod-h100": 32, "superpod-a100": 20} {
		topo := load(t, name, nodes)
		to := make([]int, topo.NumRanks())
		for r := range to {
			to[r] = (r + 3*8) % len(to)
		}
		for seed := range uint64(5) {
			loads, _ := fabricLoads(t, topo, topology.NewECMPRouter(topo, seed).Route, to)
			for l, x := range loads {
				if x > 1+1e-9 {
					t.Errorf("%s: %s carries %v transfers", name, topo.LinkName(l.link), x)
				}
			}
		}
	}
}

// On four scalable units (32 leaves, 16 spines, full bisection) any permutation spread
// over all paths is free of collisions. Hashed, a transfer finds a lane of 32 up and a
// lane of two down at a spine taken by others: on average the fullest link on its way
// carries some two to three transfers, the worst one five to nine. Queue pairs even
// that out.
func TestCollisionsOfRandomPermutations(t *testing.T) {
	topo := load(t, "superpod-h100", 128)
	for seed := range uint64(4) {
		to := rand.New(rand.NewPCG(seed, 11)).Perm(topo.NumRanks())
		mean, most := collisions(fabricLoads(t, topo, topology.NewRouter(topo).Route, to))
		if most > 1+1e-9 {
			t.Errorf("seed %d: spread, a link carries %v transfers", seed, most)
		}
		hashed := topology.NewECMPRouter(topo, seed)
		mean1, most1 := collisions(fabricLoads(t, topo, hashed.Route, to))
		mean8, most8 := collisions(fabricLoads(t, topo, func(a, b int) (topology.Route, error) { return hashed.RouteQPs(a, b, 8) }, to))
		t.Logf("seed %d: spread %.2f, hashed %.2f (worst %.0f), with 8 queue pairs %.2f (%.2f)", seed, mean, mean1, most1, mean8, most8)
		if mean1 < 2 || mean1 > 3.5 || most1 < 4 || most1 > 10 {
			t.Errorf("seed %d: hashed, mean %v and most %v", seed, mean1, most1)
		}
		if mean8 >= mean1 || most8 >= most1 || mean8 < 1 {
			t.Errorf("seed %d: with 8 queue pairs, mean %v and most %v", seed, mean8, most8)
		}
	}
}

func TestSeedsAndLabelsDecide(t *testing.T) {
	topo := load(t, "superpod-h100", 64)
	a, b := 0, topo.NumRanks()-1
	route := func(seed uint64, label int) topology.Route {
		r, err := topology.NewECMPRouter(topo, seed).RouteFlow(a, b, label)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	seeds, labels := 0, 0
	for i := range 20 {
		if !reflect.DeepEqual(route(0, 0), route(uint64(i)+1, 0)) {
			seeds++
		}
		if !reflect.DeepEqual(route(0, 0), route(0, i+1)) {
			labels++
		}
	}
	if seeds < 15 || labels < 15 {
		t.Errorf("of 20, %d seeds and %d labels make another route", seeds, labels)
	}
	// Over many labels every lane gets its part.
	count := map[lane]int{}
	const flows = 6400
	for label := range flows {
		for _, h := range route(7, label).Hops {
			if isNetwork(topo, h.Link) && topo.Devices()[topo.Links()[h.Link].From].Kind == topology.Leaf &&
				topo.Devices()[topo.Links()[h.Link].To].Kind == topology.Spine {
				count[lane{h.Link, h.Lane}]++
			}
		}
	}
	if len(count) != 32 {
		t.Errorf("%d lanes of 32 are used", len(count))
	}
	for l, n := range count {
		if n < flows/32*3/4 || n > flows/32*5/4 {
			t.Errorf("%s lane %d: %d of %d flows", topo.LinkName(l.link), l.lane, n, flows)
		}
	}
}
