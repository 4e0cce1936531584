package topology

import (
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
	if _, err := c.router.Route(a, b); err == nil {
		return false
	}
	if c.healthy == nil {
		c.healthy = NewRouter(c.t.Healthy())
	}
	_, err := c.healthy.Route(c.t.OriginalRank(a), c.t.OriginalRank(b))
	return err == nil
}

// withinNodes asks for routes only where a node's own links do not join all its ranks.
func (c *reachCheck) withinNodes() error {
	t := c.t
	component := make([][]int32, len(t.shapes))
	for i, s := range t.shapes {
		component[i] = components(len(s.devices), s.links, func(d DeviceID) bool { return s.devices[d].Kind != NIC })
	}
	for first := 0; first < len(t.ranks); {
		end := first + 1
		for end < len(t.ranks) && t.NodeOf(end) == t.NodeOf(first) {
			end++
		}
		joined := component[t.nodes[t.NodeOf(first)].shape]
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
		first = end
	}
	return nil
}

// reach is what the routes of a rank to other nodes depend on: the parts of the fabrics
// that it can send to and be reached from. Even numbers are parts joined to the rank
// itself, odd ones parts that its NICs are joined to.
type reach struct{ to, from []int32 }

// meets reports whether data can come from a to b and back.
func (a *reach) meets(b *reach) bool {
	return intersects(a.to, b.from) && intersects(b.to, a.from)
}

// poorer says on whose side the fault is: where less is in reach, or for fewer ranks.
func (a *alike) poorer(b *alike) bool {
	if x, y := len(a.to)+len(a.from), len(b.to)+len(b.from); x != y {
		return x < y
	}
	return len(a.ranks) < len(b.ranks)
}

func intersects(a, b []int32) bool {
	return slices.ContainsFunc(a, func(x int32) bool { return slices.Contains(b, x) })
}

// alike are ranks with the same reach.
type alike struct {
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
func (c *reachCheck) groups() []*alike {
	t := c.t
	// Over switches of any kind from rank to rank, over those outside nodes from NIC to NIC.
	direct := components(len(t.devices), t.links, func(d DeviceID) bool { return t.devices[d].Kind.fabricKind() })
	t.dropInner(direct)
	network := components(len(t.devices), t.links, func(d DeviceID) bool { return t.devices[d].Kind.fabricKind() && t.devices[d].Node < 0 })
	ways := make([]*nicWays, len(t.shapes))
	var out []*alike
	index := map[string]*alike{}
	for rank, d := range t.ranks {
		node := &t.nodes[t.devices[d].Node]
		if ways[node.shape] == nil {
			ways[node.shape] = t.shapes[node.shape].nicWays()
		}
		way := ways[node.shape]
		local := t.devices[d].Local
		var r reach
		t.addParts(&r, d, direct, 0, true, true)
		for i, nic := range way.nics {
			if up, down := way.up[local][i], way.down[local][i]; up || down {
				t.addParts(&r, node.firstDevice+DeviceID(nic), network, 1, up, down)
			}
		}
		key := r.key()
		g, ok := index[key]
		if !ok {
			g = &alike{reach: r, second: -1}
			index[key] = g
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

// addParts adds the parts of a fabric that a device is joined to.
func (t *Topology) addParts(r *reach, d DeviceID, component []int32, odd int32, up, down bool) {
	add := func(list []int32, to DeviceID) []int32 {
		if c := component[to]; c >= 0 && !slices.Contains(list, 2*c+odd) {
			list = append(list, 2*c+odd)
		}
		return list
	}
	if up {
		for _, l := range t.Out(d) {
			r.to = add(r.to, t.links[l].To)
		}
	}
	if down {
		for _, l := range t.In(d) {
			r.from = add(r.from, t.links[l].From)
		}
	}
}

func (r *reach) key() string {
	slices.Sort(r.to)
	slices.Sort(r.from)
	key := make([]byte, 0, 64)
	for _, list := range [][]int32{r.to, r.from} {
		for _, c := range list {
			key = append(key, byte(c), byte(c>>8), byte(c>>16), byte(c>>24))
		}
		key = append(key, '|', '|', '|', '|')
	}
	return string(key)
}

// nicWays says to which NICs of its node a rank has a way over PCIe, and from which.
type nicWays struct {
	nics     []int32
	up, down [][]bool // by local device that holds a rank, then NIC
}

func (s *shape) nicWays() *nicWays {
	w := &nicWays{up: make([][]bool, len(s.devices)), down: make([][]bool, len(s.devices))}
	for i, d := range s.devices {
		if d.Kind == NIC {
			w.nics = append(w.nics, int32(i))
		}
	}
	for _, g := range s.ranks {
		w.up[g], w.down[g] = make([]bool, len(w.nics)), make([]bool, len(w.nics))
		if s.nics[g] == nil || len(w.nics) == 0 {
			continue // the router gives it no way over NICs
		}
		up, down := s.hostDistances(g, false), s.hostDistances(g, true)
		for i, nic := range w.nics {
			w.up[g][i], w.down[g][i] = up[nic] >= 0, down[nic] >= 0
		}
	}
	return w
}

// unreachable says that a rank, one of several alike, has no way to another, and what
// can be done.
func (c *reachCheck) unreachable(a, b int, alike []int) error {
	t := c.t
	others := ""
	if len(alike) > 1 {
		others = fmt.Sprintf(" (nor have %d others)", len(alike)-1)
	}
	e := Unreachable{From: t.DeviceName(t.ranks[a]), To: t.DeviceName(t.ranks[b])}
	e.Advice = fmt.Sprintf("%s: %s has no way left to %s%s, or none back: what cannot be reached must be left out too (%s)",
		t.name, e.From, e.To, others, t.remedy(alike))
	return e
}

// maxRemedy is how many flags a message proposes.
const maxRemedy = 4

// remedy are the flags that leave ranks out, by node where a whole node goes.
func (t *Topology) remedy(ranks []int) string {
	ofNode := map[int]int{}
	for r := range t.ranks {
		ofNode[t.NodeOf(r)]++
	}
	gone := map[int]int{}
	for _, r := range ranks {
		gone[t.NodeOf(r)]++
	}
	var out []string
	for _, r := range ranks {
		n := t.NodeOf(r)
		flag := "--fail gpu:" + t.DeviceName(t.ranks[r])
		if !t.lone && gone[n] == ofNode[n] {
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
