package topology

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
)

// checkReachable finds ranks that had a route to one another in the healthy machine and
// have none any more. Within a node it is enough that data can be passed on by other
// ranks, as on a torus.
func (t *Topology) checkReachable() error {
	c := &reachCheck{t: t, router: NewRouter(t)}
	if err := c.withinNodes(); err != nil {
		return err
	}
	return c.acrossNodes()
}

type reachCheck struct {
	t       *Topology
	router  *Router
	healthy *Router // made when needed
}

// lost reports whether rank a had a route to b and has none.
func (c *reachCheck) lost(a, b int) bool {
	if c.router.Reaches(a, b) {
		return false
	}
	if c.healthy == nil {
		c.healthy = NewRouter(c.t.Healthy())
	}
	return c.healthy.Reaches(c.t.OriginalRank(a), c.t.OriginalRank(b))
}

// withinNodes asks for routes only where a node's own links do not join all its ranks.
func (c *reachCheck) withinNodes() error {
	t := c.t
	component := make([][]int32, len(t.shapes))
	for i, s := range t.shapes {
		component[i] = Components(len(s.devices), s.links, func(d DeviceID) bool { return s.devices[d].Kind != NIC })
	}
	for _, node := range t.nodes {
		first, end, joined := int(node.firstRank), int(node.firstRank+node.ranks), component[node.shape]
		of := func(rank int) int32 { return joined[t.devices[t.ranks[rank]].Local] }
		like := func(rank int) (out []int) {
			for r := first; r < end; r++ {
				if of(r) == of(rank) {
					out = append(out, r)
				}
			}
			return out
		}
		for a := first; a < end; a++ {
			for b := first; b < end; b++ {
				if of(a) != of(b) && c.lost(a, b) {
					mine, theirs := like(a), like(b)
					if len(theirs) < len(mine) {
						return c.unreachable(b, a, theirs)
					}
					return c.unreachable(a, b, mine)
				}
			}
		}
	}
	return nil
}

// reach is what the routes of a rank to other nodes depend on: the parts of the fabrics
// that it can send to and be reached from, those joined to the rank itself and those joined
// to its NICs.
type reach struct{ to, from []int32 }

// meets reports whether data can come from a to b and back.
func (a *reach) meets(b *reach) bool {
	return intersects(a.to, b.from) && intersects(b.to, a.from)
}

// poorer says on whose side the fault is: where less is in reach, or for fewer ranks.
func (a *reachClass) poorer(b *reachClass) bool {
	if x, y := len(a.to)+len(a.from), len(b.to)+len(b.from); x != y {
		return x < y
	}
	return len(a.ranks) < len(b.ranks)
}

func intersects(a, b []int32) bool {
	return slices.ContainsFunc(a, func(x int32) bool { return slices.Contains(b, x) })
}

// reachClass are ranks with the same reach.
type reachClass struct {
	reach
	ranks  []int
	second int // the first rank on another node than that of the first; −1: none
}

func (c *reachCheck) acrossNodes() error {
	if len(c.t.nodes) < 2 {
		return nil
	}
	groups := c.groups()
	for i, a := range groups {
		for _, b := range groups[i:] {
			if a.meets(&b.reach) {
				continue
			}
			x, y := a.ranks[0], b.ranks[0]
			if c.t.NodeOf(x) == c.t.NodeOf(y) {
				if b.second >= 0 {
					y = b.second
				} else {
					x = a.second
				}
			}
			if x < 0 || c.t.NodeOf(x) == c.t.NodeOf(y) || !c.lost(x, y) && !c.lost(y, x) {
				continue
			}
			if b.poorer(a) {
				return c.unreachable(y, x, b.ranks)
			}
			return c.unreachable(x, y, a.ranks)
		}
	}
	return nil
}

// groups sorts the ranks by their reach.
func (c *reachCheck) groups() []*reachClass {
	t := c.t
	// Over switches of any kind from rank to rank, over those outside nodes from NIC to NIC.
	direct := Components(len(t.devices), t.links, func(d DeviceID) bool { return t.devices[d].Kind.fabricKind() })
	t.dropInner(direct)
	network := c.router.networkParts()
	var out []*reachClass
	index := map[string]*reachClass{}
	var r reach // and key keep their memory from rank to rank
	var key []byte
	for rank, d := range t.ranks {
		r = reach{t.addParts(r.to[:0], d, false, direct), t.addParts(r.from[:0], d, true, direct)}
		s, first := c.router.shapeOf(d), t.nodes[t.NodeOf(rank)].firstDevice
		for local, x := range s.devices {
			nic := first + DeviceID(local)
			if x.Kind != NIC || len(s.devices[d-first].nics) == 0 { // routes give ranks that no NIC serves no way over NICs
				continue
			}
			if c.router.onHostPath(d, nic) {
				r.to = t.addParts(r.to, nic, false, network)
			}
			if c.router.onHostPath(nic, d) {
				r.from = t.addParts(r.from, nic, true, network)
			}
		}
		key = r.key(key[:0])
		g, ok := index[string(key)]
		if !ok {
			g = &reachClass{reach: reach{slices.Clone(r.to), slices.Clone(r.from)}, second: -1}
			index[string(key)] = g
			out = append(out, g)
		}
		if g.ranks = append(g.ranks, rank); g.second < 0 && t.NodeOf(rank) != t.NodeOf(g.ranks[0]) {
			g.second = rank
		}
	}
	return out
}

// dropInner drops the parts that lie within one node: they lead to no other.
func (t *Topology) dropInner(component []int32) {
	spans := make([]bool, len(component))
	for d, c := range component {
		if c >= 0 && (t.devices[d].Node < 0 || t.devices[d].Node != t.devices[c].Node) {
			spans[c] = true
		}
	}
	for d, c := range component {
		if c >= 0 && !spans[c] {
			component[d] = -1
		}
	}
}

// key puts the parts in order and appends what tells reaches apart.
func (r *reach) key(to []byte) []byte {
	for _, list := range [][]int32{r.to, r.from} {
		slices.Sort(list)
		to = binary.AppendVarint(to, int64(len(list)))
		for _, part := range list {
			to = binary.AppendVarint(to, int64(part))
		}
	}
	return to
}

// unreachable says that a rank, one of several alike, has no way to another, and what
// can be done.
func (c *reachCheck) unreachable(a, b int, equivalent []int) error {
	t := c.t
	others := ""
	if len(equivalent) > 1 {
		others = fmt.Sprintf(" (nor have %d others)", len(equivalent)-1)
	}
	e := Unreachable{From: t.DeviceName(t.ranks[a]), To: t.DeviceName(t.ranks[b])}
	e.Advice = fmt.Sprintf("%s: %s has no route left to %s%s, or none back: what cannot be reached must be left out too (%s)",
		t.name, e.From, e.To, others, t.remedy(equivalent))
	return e
}

// maxRemedy is how many flags a message proposes.
const maxRemedy = 4

// remedy are the flags that leave ranks out, by node where a whole node goes.
func (t *Topology) remedy(ranks []int) string {
	gone := map[int]int32{}
	for _, r := range ranks {
		gone[t.NodeOf(r)]++
	}
	var out []string
	for _, r := range ranks {
		n := t.NodeOf(r)
		flag := "--fail gpu:" + t.DeviceName(t.ranks[r])
		if !t.lone && gone[n] == t.nodes[n].ranks {
			flag = "--fail node:" + t.NodeName(n)
		}
		if len(out) > 0 && out[len(out)-1] == flag {
			continue
		}
		if len(out) == maxRemedy {
			out = append(out, "…")
			break
		}
		out = append(out, flag)
	}
	return strings.Join(out, " ")
}
