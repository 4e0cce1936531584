package slow

import (
	"fmt"
	"maps"
	"slices"

	"railyard/model/health"
	"railyard/report/table"
)

// latecomers are ranks that others of their group wait for: whose own time is the shortest more often than chance has it.
func latecomers(all []*series) (out []health.Finding) {
	type tally struct {
		last  map[int]int // calls in which a rank came last
		total int
		lost  float64 // µs that the others waited, on average, summed up
		took  float64 // µs of these calls
		one   *series
		each  int
	}
	groups := map[string]*tally{}
	for _, s := range all {
		if s.ranks < 2 {
			continue
		}
		for i := range s.calls {
			c := &s.calls[i]
			if c.each < 2 || c.last < 0 {
				continue
			}
			t := groups[s.group]
			if t == nil {
				t = &tally{last: map[int]int{}, one: s}
				groups[s.group] = t
			}
			t.last[c.last]++
			t.total++
			t.each = max(t.each, c.each)
			t.lost += (c.mean - c.time).Microseconds()
			t.took += c.time.Microseconds()
		}
	}
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		t := groups[name]
		rank := slices.MaxFunc(slices.Sorted(maps.Keys(t.last)), func(a, b int) int { return t.last[a] - t.last[b] })
		if 2*t.last[rank] <= t.total || mostlyAbove(t.last[rank], t.total) >= falseAlarms/float64(t.each*len(groups)) {
			continue
		}
		if t.lost < (own-1)*t.took {
			continue // nobody waits for long
		}
		out = append(out, health.Finding{Rule: "slow/latecomer", Level: health.Slow, Part: groupOf(name, t.one.first.Ranks),
			Says: fmt.Sprintf("waits for rank %d, the last to join %d of %d collectives, by %s on average", rank,
				t.last[rank], t.total, table.Microseconds(t.lost/float64(t.total))),
			Why: "a collective ends when the last rank has joined: kernels of those that wait run longer, the last one's is the shortest",
			Do: fmt.Sprintf("compare rank %d's GPU and host with the others: railyard doctor there (clocks, throttling, processors)",
				rank),
			From: []string{t.one.first.Place.String()}, Source: "docs/service.md",
			Cost: health.Cost{Known: true, Of: "collectives of the group", Share: t.lost / t.took, Best: t.lost / t.took,
				How: "measured: what the others' kernels take longer"}})
	}
	return out
}
