package planner

import (
	"railyard/model/collective"
	"railyard/model/schedule"
	"railyard/model/topology"
)

// buildReroutedRails is hierarchical_two_shot for nodes whose ways into the network are not
// alike, since adapters, GPUs or links are lost, slow or busy. There, a rail is rerouted: some of
// its units cross by way of other GPUs of the node, so that all adapters that are left
// are full at once, and of an all-reduce such a node is root of less. Nodes that are
// alike are equivalent: the plan has as many kinds of programs as there are kinds of nodes.
func buildReroutedRails(r *request) (*schedule.Schedule, error) {
	return r.overTiers(nil, schedule.GenDirect)
}

// buildTieredRails is the same tier by tier: as many fewer messages as there are nodes for each group. Where
// nodes are alike and groups of one size, hierarchical_two_shot is that.
func buildTieredRails(r *request) (*schedule.Schedule, error) {
	tiers := r.tiers()
	if len(tiers) == 0 {
		return nil, notApplicable("there is one tier only")
	}
	return r.overTiers(tiers, schedule.GenDirect)
}

// overTiers is that tier by tier, with a generator inside nodes.
func (r *request) overTiers(tiers [][]int32, inner string) (*schedule.Schedule, error) {
	b, err := r.reroutes()
	if err != nil {
		return nil, err
	}
	if alike := !r.spec.Kind.Rooted() && r.nodesRotate(); r.spec.Ranks > maxRing && !alike && !r.inClasses() {
		return nil, notApplicable("of more than %d ranks, nodes have to be alike but for a few", maxRing)
	}
	type key struct {
		kind  collective.Kind
		root  int
		tiers int
		inner string
	}
	ch := topology.Once(r.t, key{r.spec.Kind, r.spec.Root, len(tiers), inner}, func() schedule.Channel {
		return b.channel(r.spec, tiers, inner)
	})
	ch.Slices = r.slices()
	// there, little latency is to be hidden, and messages of unlike sizes would get into one another's way
	if r.spec.Kind == collective.AllToAll && len(b.kinds) > 1 {
		return of(ch), nil
	}
	return of(r.twice(ch)...), nil
}

// tiers are topology.NodeTiers of boxes: those whose groups are of whole boxes, and of more than one somewhere.
func (r *request) tiers() (out [][]int32) {
	for _, of := range r.t.NodeTiers() {
		boxes, whole := make([]int32, r.t.NumBoxes()), true
		for n := len(of) - 1; n >= 0; n-- {
			boxes[r.t.BoxOfNode(n)] = of[n]
		}
		for n, group := range of {
			whole = whole && boxes[r.t.BoxOfNode(n)] == group
		}
		if whole && int(boxes[len(boxes)-1])+1 < len(boxes) {
			out = append(out, boxes)
		}
	}
	return out
}

// enoughToReroute is from beyond how many ranks on rerouted rails come nearer to the bound than
// trees that fill scale-up links and NICs at once: NICs alone limit many nodes.
const enoughToReroute = 64
