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

// Together is messages that all processes send at once to the one so many places on.
type Together struct {
	Distance            int
	Bytes               units.Bytes
	Predicted, Measured units.Time // until the last of them is there, in the middle of the rounds
}

// crowd holds messages that all processes send at once against what the links that they share let through: where it takes longer than
// that, the network is more oversubscribed than the topology says.
type crowd struct {
	t       *topology.Topology
	ranks   []int // the first of each process
	profile *cost.Profile
	alone   map[message][]float64 // µs of messages between two while all others rest

	ratios []Together
	shares []float64 // of what the links let through, by message
}

// message is one between two processes, either way.
type message struct {
	a, b  int // a < b
	bytes units.Bytes
}

// ends are the processes of a row of a kind.
func ends(row measurement.Link, kind string) (from, to int, ok bool) {
	from, err1 := strconv.Atoi(row.Src)
	to, err2 := strconv.Atoi(row.Dst)
	return from, to, row.Kind == kind && err1 == nil && err2 == nil
}

func newCrowd(t *topology.Topology, ranks []int, profile *cost.Profile, rows []measurement.Link) *crowd {
	c := &crowd{t: t, ranks: ranks, profile: profile, alone: map[message][]float64{}}
	for _, row := range rows {
		if a, b, ok := ends(row, measurement.NetPair); ok {
			k := message{min(a, b), max(a, b), row.Bytes}
			c.alone[k] = append(c.alone[k], row.Value)
		}
	}
	return c
}

// pattern is what all send: so many bytes to the process so many places on.
type pattern struct {
	distance int
	bytes    units.Bytes
}

// read takes the rows of messages of all at once, in order of patterns.
func (c *crowd) read(rows []measurement.Link) error {
	rounds, n := map[pattern]map[int][]float64{}, len(c.ranks) // µs by sender
	for _, row := range rows {
		from, to, ok := ends(row, measurement.NetAll)
		if !ok || min(from, to) < 0 || max(from, to) >= n {
			continue
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

// add holds a pattern's messages against the links. What a message takes longer that takes longer alone, too, is not the others' doing:
// a slow node says nothing of how the rest shares links.
func (c *crowd) add(k pattern, rounds map[int][]float64) error {
	lines, err := c.lines(k)
	if err != nil {
		return err
	}
	x := c.profile.Transfer(topology.Network, string(schedule.Simple), k.bytes)
	alpha := x.Alpha.Microseconds()
	for from := range lines {
		if len(rounds[from]) == 0 {
			continue
		}
		to := (from + k.distance) % len(lines)
		alone := measurement.Median(c.alone[message{min(from, to), max(from, to), k.bytes}]) - alpha
		// The fastest round: what others make of the machine for a moment is not the network's.
		if bytes := slices.Min(rounds[from]) - alpha; bytes > 0 {
			c.shares = append(c.shares, max(lines[from], alone*x.Efficiency)/bytes)
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
	var all []float64 // µs, by round
	for _, times := range rounds {
		for i, t := range times {
			if i == len(all) {
				all = append(all, 0)
			}
			all[i] = max(all[i], t)
		}
	}
	return units.Time(math.Round(measurement.Median(all) * float64(units.Microsecond)))
}
