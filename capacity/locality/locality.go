// Package locality says how closely a job's GPUs have to lie together: it compares
// placements on a cluster, from one node to the whole network.
package locality

import (
	"fmt"
	"slices"

	"railyard/model/topology"
)

// Placement is a choice of GPUs for a job.
type Placement struct {
	Tier   string // the least tier that holds them all: node, a tier of the network, or spread
	Groups int    // of that tier, that the job lies in: 1, but for spread
	Ranks  []int  // ascending
}

// Tiers are the levels at which schedulers place jobs, innermost first: node, rack (where
// the file says how many nodes one has), and what shares a switch of each level: leaf, pod.
func Tiers(t *topology.Topology) []topology.Tier {
	var out []topology.Tier
	racks, ok := t.Racks()
	for _, tier := range t.Tiers() {
		if ok && len(out) > 0 && tier.Groups < racks.Groups {
			out, ok = append(out, racks), false
		}
		if tier.Name == "spine" {
			tier.Name = "pod"
		}
		out = append(out, tier)
	}
	if ok && racks.Groups > 1 && racks.Groups < out[len(out)-1].Groups {
		out = append(out, racks)
	}
	return out
}

// Placements are the ways to place so many GPUs: within one group of each tier that is
// large enough, spread over the groups of the tier below as evenly as they allow, and
// spread over all groups of the outermost tier. Whole nodes are taken where a job needs
// several.
func Placements(t *topology.Topology, gpus int) ([]Placement, error) {
	if gpus < 1 || gpus > t.NumRanks() {
		return nil, fmt.Errorf("a job of %d GPUs: %s has %d", gpus, t.Name(), t.NumRanks())
	}
	var out []Placement
	tiers := Tiers(t)
	all := make([]int, t.NumRanks())
	for r := range all {
		all[r] = r
	}
	for i, tier := range tiers {
		group := largest(tier)
		if len(group) < gpus {
			continue
		}
		var below *topology.Tier
		if i > 0 {
			below = &tiers[i-1]
		}
		out = append(out, Placement{tier.Name, 1, scatter(t, group, below, gpus)})
	}
	if len(tiers) > 0 && tiers[len(tiers)-1].Groups > 1 {
		last := &tiers[len(tiers)-1]
		ranks := scatter(t, all, last, gpus)
		if n := groupsOf(last, ranks); n > 1 {
			out = append(out, Placement{"spread", n, ranks})
		}
	}
	return out, nil
}

// largest is the first of the largest groups of a tier.
func largest(tier topology.Tier) []int {
	groups := make([][]int, tier.Groups)
	for r, g := range tier.Of {
		groups[g] = append(groups[g], r)
	}
	best := groups[0]
	for _, g := range groups {
		if len(g) > len(best) {
			best = g
		}
	}
	return best
}

func groupsOf(tier *topology.Tier, ranks []int) int {
	seen := map[int32]bool{}
	for _, r := range ranks {
		seen[tier.Of[r]] = true
	}
	return len(seen)
}

// scatter takes GPUs of a group evenly from the tier's groups in it, whole nodes at a time
// where it can.
func scatter(t *topology.Topology, from []int, tier *topology.Tier, gpus int) []int {
	if tier == nil {
		return slices.Clone(from[:gpus])
	}
	queues, order := map[int32][]int{}, []int32{}
	for _, r := range from {
		g := tier.Of[r]
		if queues[g] == nil {
			order = append(order, g)
		}
		queues[g] = append(queues[g], r)
	}
	var out []int
	for len(out) < gpus {
		for _, g := range order {
			q := queues[g]
			n := 0
			for n < len(q) && len(out) < gpus && t.NodeOf(q[n]) == t.NodeOf(q[0]) {
				out = append(out, q[n])
				n++
			}
			queues[g] = q[n:]
		}
	}
	slices.Sort(out)
	return out
}

// Part is the machine with a placement's GPUs only.
func (p *Placement) Part(t *topology.Topology) (*topology.Topology, error) {
	var others []topology.Fault
	for r, d := range t.Ranks() {
		if _, used := slices.BinarySearch(p.Ranks, r); !used {
			others = append(others, topology.Fault{Part: topology.GPUPart, Name: t.DeviceName(d)})
		}
	}
	return t.Degrade(others)
}
