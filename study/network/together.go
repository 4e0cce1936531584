package network

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"railyard/model/cost"
	"railyard/model/measurement"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/model/units"
)

// crowd holds messages that all processes send at once against what the links that they share let through: where it takes longer than
// that, the network is more oversubscribed than the topology says.
type crowd struct {
	t       *topology.Topology
	ranks   []int // the first of each process
	profile *cost.Profile

	ratios []Together
	shares []float64 // of what the links let through, by message
}

// pattern is what all send: so many bytes to the process so many places on.
type pattern struct {
	distance int
	bytes    units.Bytes
}

// read takes the rows net_all, in order of patterns.
func (c *crowd) read(rows []measurement.Link) error {
	rounds, n := map[pattern]map[int][]float64{}, len(c.ranks) // µs by sender
	for _, row := range rows {
		from, err1 := strconv.Atoi(row.Src)
		to, err2 := strconv.Atoi(row.Dst)
		if row.Kind != "net_all" || err1 != nil || err2 != nil {
			continue // fit.FromNetwork has said it of its rows
		}
		k := pattern{(to - from + n) % n, row.Bytes}
		if rounds[k] == nil {
			rounds[k] = map[int][]float64{}
		}
		rounds[k][from] = append(rounds[k][from], row.Value)
	}
	patterns := make([]pattern, 0, len(rounds))
	for k := range rounds {
		patterns = append(patterns, k)
	}
	slices.SortFunc(patterns, func(a, b pattern) int { return cmp.Or(a.distance-b.distance, cmp.Compare(a.bytes, b.bytes)) })
	for _, k := range patterns {
		if err := c.add(k, rounds[k]); err != nil {
			return err
		}
	}
	return nil
}

// add holds a pattern's messages against the links.
func (c *crowd) add(k pattern, rounds map[int][]float64) error {
	lines, err := c.lines(k)
	if err != nil {
		return err
	}
	x := c.profile.Transfer(topology.Network, string(schedule.Simple), k.bytes)
	for from := range lines {
		if len(rounds[from]) == 0 {
			continue
		}
		// The fastest round: what others make of the machine for a moment is not the network's.
		if bytes := slices.Min(rounds[from]) - x.Alpha.Microseconds(); bytes > 0 {
			c.shares = append(c.shares, lines[from]/bytes)
		}
	}
	longest := slices.Max(lines) / x.Efficiency
	c.ratios = append(c.ratios, Together{Distance: k.distance, Bytes: k.bytes, Measured: last(rounds),
		Predicted: x.Alpha + units.Time(math.Round(longest*float64(units.Microsecond)))})
	return nil
}

// lines are, by sender, the microseconds that the fullest link on a message's way takes at its rate for all messages that share it.
func (c *crowd) lines(k pattern) ([]float64, error) {
	router, n := topology.NewRouter(c.t), len(c.ranks)
	load := map[topology.LinkID]float64{} // µs
	out, hops := make([]float64, n), make([][]topology.Hop, n)
	for from := range n {
		route, err := router.Route(c.ranks[from], c.ranks[(from+k.distance)%n])
		if err != nil {
			return nil, err
		}
		hops[from] = route.Hops
		for _, h := range route.Hops {
			load[h.Link] += float64(h.Num) / float64(h.Den) * k.bytes.Over(c.t.Rate(h.Link)).Microseconds()
		}
	}
	for from := range n {
		for _, h := range hops[from] {
			out[from] = max(out[from], load[h.Link])
		}
	}
	return out, nil
}

// last is when the last message was there, in the middle of the rounds.
func last(rounds map[int][]float64) units.Time {
	var all []float64
	for i := 0; ; i++ {
		slowest := 0.
		for _, times := range rounds {
			if i < len(times) {
				slowest = math.Max(slowest, times[i])
			}
		}
		if slowest == 0 {
			break
		}
		all = append(all, slowest)
	}
	slices.Sort(all)
	return units.Time(math.Round(all[len(all)/2] * float64(units.Microsecond)))
}
