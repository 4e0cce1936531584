package planner

import (
	"math/rand/v2"
	"testing"

	"railyard/internal/long"
	"railyard/model/collective"
	"railyard/model/schedule"
)

// randomReroutes are kinds of nodes that reroute their rails anyhow.
func randomReroutes(rng *rand.Rand, what collective.Kind) (*reroutes, collective.Spec) {
	b := &reroutes{rails: 1 + rng.IntN(4), units: 1 + rng.IntN(4)}
	var lost [][]bool // by kind and rail
	for range 1 + rng.IntN(3) {
		k, without, left := &railKind{}, make([]bool, b.rails), b.rails
		for j := range without {
			if left > 1 && rng.IntN(4) == 0 {
				without[j] = true
				left--
			}
		}
		for j := range b.rails {
			var by []int
			var roots []int32
			for range b.units {
				x := j
				for rng.IntN(3) == 0 || without[x] {
					x = rng.IntN(b.rails)
				}
				by, roots = append(by, x), append(roots, rng.Int32N(3))
			}
			k.by = append(k.by, by)
			if what == collective.AllReduce || what == collective.Broadcast || what == collective.Reduce {
				k.roots = append(k.roots, roots)
			}
		}
		b.kinds, lost = append(b.kinds, k), append(lost, without)
	}
	ranks := int32(0)
	for range 2 + rng.IntN(8) {
		kind := rng.IntN(len(b.kinds))
		list := make([]int32, b.rails)
		for j := range list {
			if list[j] = -1; !lost[kind][j] {
				list[j] = ranks
				ranks++
			}
		}
		b.kind, b.rank = append(b.kind, kind), append(b.rank, list)
	}
	spec := collective.Spec{Kind: what, Ranks: int(ranks)}
	if what.Rooted() {
		spec.Root = rng.IntN(int(ranks))
	}
	return b, spec
}

// randomTiers are none to two tiers of groups of consecutive nodes, of any sizes, outermost first.
func randomTiers(rng *rand.Rand, nodes int) (out [][]int32) {
	for range rng.IntN(3) {
		of := make([]int32, nodes)
		for n := range of[1:] {
			of[n+1] = of[n]
			if rng.IntN(4) == 0 || len(out) > 0 && out[len(out)-1][n] != out[len(out)-1][n+1] {
				of[n+1]++
			}
		}
		out = append(out, of)
	}
	return out
}

// However rails are rerouted and nodes grouped, results are right; of more than 31 ranks, the checker runs the first node of
// each kind.
func TestRandomReroutes(t *testing.T) {
	seen, seeds := 0, long.Or[uint64](100, 600)
	for seed := range seeds {
		rng := rand.New(rand.NewPCG(20261122, seed))
		for _, what := range []collective.Kind{collective.AllGather, collective.ReduceScatter, collective.AllReduce, collective.AllToAll,
			collective.Broadcast, collective.Reduce, collective.Gather, collective.Scatter} {
			b, spec := randomReroutes(rng, what)
			var tiers [][]int32
			if what != collective.AllToAll && what != collective.Gather && what != collective.Scatter {
				tiers = randomTiers(rng, len(b.rank))
			}
			inner := []string{schedule.GenDirect, schedule.GenSwitch}[seed%2]
			ch := b.channel(spec, tiers, inner)
			if ch.Chunks == 0 {
				continue
			}
			seen++
			s := &schedule.Schedule{Algorithm: "reroutes", Protocol: schedule.Simple, Spec: spec, Channels: []schedule.Channel{ch}}
			s.Needs = s.Uses()
			if err := schedule.Check(s, nil); err != nil {
				t.Errorf("seed %d, %v of %d ranks: %v", seed, what, spec.Ranks, err)
			}
		}
	}
	if seen < 7*int(seeds) {
		t.Errorf("%d schedules", seen)
	}
}
