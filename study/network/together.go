package network

import (
	"math"
	"slices"
	"strconv"

	"railyard/model/cost"
	"railyard/model/measurement"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/model/units"
)

// together holds messages that all send at once against what the links that they share let through: where it takes longer than
// that, the network is more oversubscribed than the topology says.
func together(rows []measurement.Link, t *topology.Topology, p *cost.Profile) ([]Together, error) {
	type pattern struct {
		distance int
		bytes    units.Bytes
	}
	rounds := map[pattern]map[string][]float64{} // µs by receiver
	var patterns []pattern
	n := t.NumRanks()
	for _, row := range rows {
		if row.Kind != "net_all" {
			continue
		}
		from, err1 := strconv.Atoi(row.Src)
		to, err2 := strconv.Atoi(row.Dst)
		if err1 != nil || err2 != nil {
			continue // fit.FromNetwork has said it of its rows
		}
		k := pattern{(to - from + n) % n, row.Bytes}
		if rounds[k] == nil {
			rounds[k] = map[string][]float64{}
			patterns = append(patterns, k)
		}
		rounds[k][row.Dst] = append(rounds[k][row.Dst], row.Value)
	}
	slices.SortFunc(patterns, func(a, b pattern) int { return a.distance - b.distance })
	var out []Together
	for _, k := range patterns {
		predicted, err := shifted(t, p, k.distance, k.bytes)
		if err != nil {
			return nil, err
		}
		out = append(out, Together{Distance: k.distance, Predicted: predicted, Measured: last(rounds[k])})
	}
	return out, nil
}

// last is when the last receiver had its message, in the middle of the rounds.
func last(rounds map[string][]float64) units.Time {
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

// shifted is what the fullest link takes for a message from each rank to the one so many places on.
func shifted(t *topology.Topology, p *cost.Profile, distance int, size units.Bytes) (units.Time, error) {
	router, n := topology.NewRouter(t), t.NumRanks()
	load := map[topology.LinkID]float64{}
	for r := range n {
		route, err := router.Route(r, (r+distance)%n)
		if err != nil {
			return 0, err
		}
		for _, h := range route.Hops {
			load[h.Link] += float64(h.Num) / float64(h.Den)
		}
	}
	x := p.Transfer(topology.Network, string(schedule.Simple), size)
	longest := 0.
	for l, share := range load {
		longest = math.Max(longest, share*float64(size)/float64(t.Rate(l))/x.Efficiency)
	}
	return x.Alpha + units.Time(math.Round(longest*float64(units.Second))), nil
}
