package main

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"railyard/model/collective"
	"railyard/model/measurement"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/topologies"
)

func TestParseJob(t *testing.T) {
	for text, want := range map[string]jobSpec{
		"b.json":                       {file: "b.json", size: 7},
		"b.json:64M":                   {file: "b.json", size: 64 << 20},
		"dir:1/b.json@0-3":             {file: "dir:1/b.json", size: 7, ranks: []int{0, 1, 2, 3}},
		"dir:1/b.json:1K@3,1":          {file: "dir:1/b.json", size: 1024, ranks: []int{3, 1}},
		"broadcast":                    {kind: collective.Broadcast, size: 7},
		"alltoall:1G":                  {kind: collective.AllToAll, size: 1 << 30},
		"all_to_all:direct":            {kind: collective.AllToAll, algo: "direct", size: 7},
		"all_to_all:direct:5@0-1,8-9":  {kind: collective.AllToAll, algo: "direct", size: 5, ranks: []int{0, 1, 8, 9}},
		"all_reduce:hierarchical_ring": {kind: collective.AllReduce, algo: "hierarchical_ring", size: 7},
	} {
		if got, err := parseJob(text, 7); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v, want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{"", ":", "@", "b.txt", "b.json@", "b.json@1-", "b.json@2-1", "b.json@0-3,2", "broadcast@-1",
		"nothing:direct:1M", "broadcast@0-99999999"} {
		if got, err := parseJob(text, 7); err == nil {
			t.Errorf("%q: %+v", text, got)
		}
	}
}

func TestRanksRoundTrip(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 3))
		want := rng.Perm(1 + rng.IntN(40))[:1]
		for range rng.IntN(20) {
			next := want[len(want)-1] + 1
			if rng.IntN(3) == 0 {
				next = rng.IntN(100)
			}
			if !slices.Contains(want, next) {
				want = append(want, next)
			}
		}
		if got, err := parseRanks(units.Ranges(want, ",")); err != nil || !slices.Equal(got, want) {
			t.Errorf("%v: %s: %v, %v", want, units.Ranges(want, ","), got, err)
		}
	}
}

func TestStragglersAddUp(t *testing.T) {
	topo, err := topology.Load(topologies.Source, "dgx-h100", topology.Options{})
	if err != nil {
		t.Fatal(err)
	}
	parse := func(specs ...string) *stragglers {
		x, err := (&stragglerFlags{Specs: specs}).parse(topo)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	if x := parse(); x.delays(1) != nil || x.random() {
		t.Error("delays without stragglers")
	}
	fixed := parse("gpu:gpu2=20us", "gpu:gpu2=1ns", "gpu:gpu0=0s")
	if want := []units.Time{2: 20_001_000, 7: 0}; !slices.Equal(fixed.delays(1), want) || fixed.random() {
		t.Errorf("%v, want %v", fixed.delays(1), want)
	}
	chance, both := parse("exp:5us"), parse("gpu:gpu2=20us", "exp:5us")
	a, b := chance.delays(9), both.delays(9)
	if b[2]-a[2] != 20*units.Microsecond || b[3] != a[3] || slices.Equal(a, chance.delays(10)) {
		t.Errorf("%v and %v", a, b)
	}
	twice := parse("exp:5us", "exp:5us").delays(9) // each draws for itself
	if twice[0] == 2*a[0] || twice[0] <= a[0] {
		t.Errorf("%v, twice %v", a[0], twice[0])
	}
}

func TestNearestRank(t *testing.T) {
	hundred := make([]float64, 100)
	for i := range hundred {
		hundred[i] = float64(i + 1)
	}
	for _, c := range []struct {
		of   []float64
		p    int
		want float64
	}{{hundred, 50, 50}, {hundred, 95, 95}, {hundred, 99, 99}, {hundred[:3], 50, 2}, {hundred[:1], 99, 1}, {hundred[:20], 95, 19}} {
		if got := measurement.NearestRank(c.of, c.p); got != c.want {
			t.Errorf("P%d of %d: %v, want %v", c.p, len(c.of), got, c.want)
		}
	}
}
