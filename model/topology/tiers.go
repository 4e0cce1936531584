package topology

import "railyard/model/symmetry"

// Tier is a level of locality: which ranks share a node, a leaf, a pod.
type Tier struct {
	Name   string
	Of     []int32 // rank → group, groups numbered by their first rank
	Groups int
}

// tierLevel is a level of a fabric that groups those of the level below, at first nodes that share switches.
type tierLevel struct {
	name  string
	group sizes
}

// sizes are those of groups of consecutive members; the last one is also that of all groups behind it.
type sizes []int

// of is the group of a member.
func (s sizes) of(member int) int {
	last := len(s) - 1
	for g, n := range s[:last] {
		if member < n {
			return g
		}
		member -= n
	}
	return last + member/s[last]
}

// Tiers are the levels of locality, innermost first: "node", then one for each fabric
// level that groups nodes without holding them all. Tiers that group nothing new are
// left out.
func (t *Topology) Tiers() []Tier { return t.tiers }

// Racks are the ranks that share a rack, which nodes fill in order; ok is false where the
// file does not say how many nodes a rack has, or it has one. A rack is a place, not a
// part of the network, so it is none of the tiers that plans are made for.
func (t *Topology) Racks() (racks Tier, ok bool) {
	if t.rack < 2 {
		return Tier{}, false
	}
	of := make([]int32, len(t.nodes))
	for i := range of {
		of[i] = int32(i / t.rack)
	}
	return t.rankTier("rack", of), true
}

func (t *Topology) finishTiers() {
	of := symmetry.InPlace(len(t.nodes))
	t.tiers = []Tier{t.rankTier("node", of)}
	for _, f := range t.fabrics {
		copy(of, f.nodeUnit)
		for _, level := range f.levels {
			for n, unit := range of {
				of[n] = int32(level.group.of(int(unit)))
			}
			r := t.rankTier(level.name, of)
			if r.Groups > 1 && r.Groups < t.tiers[len(t.tiers)-1].Groups {
				t.tiers = append(t.tiers, r)
			}
		}
	}
}

// rankTier renumbers groups densely by first rank.
func (t *Topology) rankTier(name string, of []int32) Tier {
	groups := make([]int32, len(t.ranks))
	for rank := range groups {
		groups[rank] = of[t.NodeOf(rank)]
	}
	c := symmetry.Number(groups)
	return Tier{Name: name, Of: c.Of, Groups: len(c.First)}
}

// Grid lays the ranks out in mixed radix, outermost tier first and GPUs last, e.g.
// [pods, nodes a pod, GPUs a node], nodes of one box together (see BoxOf). ok is false where
// groups differ in size or are not runs of consecutive ranks; tiers that are not such runs are passed over.
func (t *Topology) Grid() (dims []int32, ok bool) {
	size := int32(1) // ranks in a group of the tier below
	boxes := t.rankTier("box", t.boxes().of)
	for i, tier := range append([]Tier{boxes}, t.tiers[1:]...) {
		n := int32(len(t.ranks)) / int32(tier.Groups)
		if !regular(tier, n) || n%size != 0 || i > 0 && n == size {
			if i == 0 {
				return nil, false
			}
			continue
		}
		dims = append([]int32{n / size}, dims...)
		size = n
	}
	if top := int32(len(t.ranks)) / size; top > 1 {
		dims = append([]int32{top}, dims...)
	}
	return dims, true
}

// regular reports whether the tier's groups are consecutive runs of n ranks.
func regular(tier Tier, n int32) bool {
	if int(n)*tier.Groups != len(tier.Of) {
		return false
	}
	for r, g := range tier.Of {
		if g != int32(r)/n {
			return false
		}
	}
	return true
}
