package pack

import (
	"fmt"

	"railyard/model/units"
)

// explain puts a bound's cut into words.
func (g *Graph) explain(b Result) string {
	var sinks []int32
	k := 0
	for r := range int32(g.Ranks) {
		if k < len(b.Source) && b.Source[k] == r {
			k++
		} else {
			sinks = append(sinks, r)
		}
	}
	switch {
	case b.Copies:
		return fmt.Sprintf("%s %s %v together", g.describe(sinks), g.into(), units.Rate(b.Crossing))
	case len(b.Source) < len(sinks):
		return fmt.Sprintf("%s %s %v", g.describe(b.Source), g.outOf(), units.Rate(b.Crossing))
	}
	return fmt.Sprintf("%s %s %v", g.describe(sinks), g.into(), units.Rate(b.Crossing))
}

// into and outOf say which way data goes; reversed graphs stand for what goes backwards.
func (g *Graph) into() string {
	if g.backwards {
		return "can send out only"
	}
	return "can take in only"
}

func (g *Graph) outOf() string {
	if g.backwards {
		return "can take in only"
	}
	return "can send out only"
}

// describe names a set of ranks: "node0/gpu3", "these 8 GPUs of node0", "these 24 ranks
// (rank0, rank1, rank2, …)".
func (g *Graph) describe(ranks []int32) string {
	switch len(ranks) {
	case 1:
		return g.Name(int(ranks[0]))
	case 2:
		return g.Name(int(ranks[0])) + " and " + g.Name(int(ranks[1]))
	}
	if g.t != nil {
		nodes := []string{}
		last := -1
		for _, r := range ranks {
			if n := g.t.NodeOf(int(r)); n != last {
				last = n
				nodes = append(nodes, g.t.NodeName(n))
			}
		}
		what := "GPUs"
		if g.t.Devices()[g.t.Ranks()[ranks[0]]].Kind.String() != "gpu" {
			what = "ranks"
		}
		switch {
		case len(nodes) == 1:
			return fmt.Sprintf("these %d %s of %s", len(ranks), what, nodes[0])
		case len(nodes) <= 3:
			return fmt.Sprintf("these %d %s of %s and %d more nodes", len(ranks), what, nodes[0], len(nodes)-1)
		}
		return fmt.Sprintf("these %d %s of %d nodes from %s to %s", len(ranks), what, len(nodes), nodes[0], nodes[len(nodes)-1])
	}
	s := fmt.Sprintf("these %d ranks (", len(ranks))
	for i, r := range ranks {
		if i == 3 {
			return s + ", …)"
		}
		if i > 0 {
			s += ", "
		}
		s += g.Name(int(r))
	}
	return s + ")"
}
