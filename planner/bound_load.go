package planner

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"railyard/model/schedule"
	"railyard/model/symmetry"
	"railyard/model/topology"
	"railyard/model/units"
)

// routeCost is what decides the price of messages between two ranks alone.
type routeCost struct {
	medium  topology.Medium
	latency units.Time
	rate    float64
	hops    []hopShare
}

// hopShare is which part of the bytes crosses a cut.
type hopShare struct {
	cut   int
	share float64
}

// maxRouted is to how many ranks of other nodes routes are looked up for each program:
// the first ones stand for all where there are more.
const maxRouted = 4

// maxRoutedForPlan is the same where one schedule alone is looked at.
const maxRoutedForPlan = 1 << 12

// maxViewed bounds the ranks whose programs are expanded.
const maxViewed = 16

// nodeView is one node's programs: of the root's, of the weakest where there is none, or of one that is chosen.
type nodeView struct {
	paths   *schedule.Routes
	b       *Bounds
	s       *schedule.Schedule
	x       *schedule.Expander
	ranks   []int
	between topology.Medium // of messages between nodes
	ops     []schedule.Op
	onto    map[loadKey][]float64 // messages, by the number of the cut
}

// cutKey is a link, or all links out of the node (−1) or into it (−2).
type cutKey topology.LinkID

const outOfNode, intoNode cutKey = -1, -2

// loadKey tells messages apart that differ in size or in efficiency.
type loadKey struct {
	channel, chunks int
	medium          topology.Medium
}

// anyMedium stands for the most efficient one.
const anyMedium = topology.Medium(math.MaxUint8)

func newNodeView(b *Bounds, s *schedule.Schedule) *nodeView {
	n := &nodeView{b: b, s: s, onto: map[loadKey][]float64{}}
	var err error
	if n.paths, err = s.NewRoutes(b.router, b.t); err != nil {
		n.paths = &schedule.Routes{} // of another topology, which whoever plays it refuses
	}
	node := b.view
	switch {
	case node >= 0:
	case s.Spec.Kind.Rooted():
		node = b.t.NodeOf(s.Spec.Root)
	default:
		node = weakest(b.t)
	}
	n.between = b.between(node)
	for r := range s.Spec.Ranks {
		if b.t.NodeOf(r) == node && len(n.ranks) < maxViewed {
			n.ranks = append(n.ranks, r)
		}
	}
	n.x = schedule.NewSketch(s, n.ranks)
	return n
}

// connBound is a connection: how many messages it carries a slice, by chunks in them.
type connBound struct {
	channel int
	medium  topology.Medium
	latency units.Time
	rate    float64
	sizes   []sizeCount
}

type sizeCount struct {
	chunks int
	count  float64
}

// phase is the connections of the node's programs in a phase, alike ones once; it
// counts what they load.
func (n *nodeView) phase(channel, phase int) []connBound {
	ph := &n.s.Channels[channel].Phases[phase]
	inNetwork := ph.InNetwork()
	var out []connBound
	seen := map[string]bool{}
	for _, r := range n.ranks {
		n.ops = n.x.AppendProgram(n.ops[:0], channel, phase, r)
		uses := connsOf(n.ops, inNetwork)
		if ph.Gen == schedule.GenTrees && ph.Level == 0 {
			inPieces(uses, n.s.Channels[channel].Pieces())
		}
		n.choose(r, uses)
		for _, k := range uses {
			c, ok := n.conn(channel, r, k)
			if !ok {
				continue
			}
			if key := fmt.Sprint(c); !seen[key] {
				seen[key] = true
				out = append(out, c)
			}
		}
	}
	return out
}

// choose marks the connections to other nodes whose routes are looked up.
func (n *nodeView) choose(rank int, uses []connUse) {
	left := map[bool]int{true: n.b.routed, false: n.b.routed}
	for i := range uses {
		u := &uses[i]
		if n.b.t.NodeOf(rank) != n.b.t.NodeOf(int(u.peer)) && left[u.in] > 0 {
			left[u.in]--
			u.routed = true
		}
	}
}

// connUse is one direction between a rank and a peer in a program.
type connUse struct {
	peer   int32
	in     bool
	routed bool // its route is worth a look
	sizes  []sizeCount
}

// connsOf sorts a program's messages by connection. Where switches work on the data, which cross a link once for all peers, the first peer
// stands for all, and what comes from a switch is left to those who send it.
func connsOf(ops []schedule.Op, inNetwork bool) []connUse {
	var out []connUse
	type key struct {
		peer int32
		in   bool
	}
	var index symmetry.Numbering[key]
	for i := range ops {
		o := &ops[i]
		chunks := o.Dst.Set.Len()
		if o.Kind.Sends() {
			chunks = o.Src.Set.Len()
		}
		peers := o.AllPeers()
		if inNetwork {
			peers = o.Peers[:min(1, len(o.Peers))]
		}
		for _, peer := range peers {
			k := key{peer, !o.Kind.Sends()}
			at := index.Of(k)
			if at == len(out) {
				out = append(out, connUse{peer: k.peer, in: k.in})
			}
			out[at].count(chunks)
		}
	}
	return out
}

// inPieces cuts messages of whole trees into their pieces.
func inPieces(uses []connUse, pieces int) {
	for i := range uses {
		for j := range uses[i].sizes {
			s := &uses[i].sizes[j]
			s.chunks, s.count = s.chunks/pieces, s.count*float64(pieces)
		}
	}
}

// count notes a message.
func (u *connUse) count(chunks int) {
	if j := slices.IndexFunc(u.sizes, func(s sizeCount) bool { return s.chunks == chunks }); j >= 0 {
		u.sizes[j].count++
	} else {
		u.sizes = append(u.sizes, sizeCount{chunks, 1})
	}
}

// conn counts a connection's loads and returns it; false where its route is not looked
// up. What stays inside the node is counted where it is sent, what crosses at its end
// in the node.
func (n *nodeView) conn(channel, rank int, u connUse) (connBound, bool) {
	src, dst, way := int32(rank), u.peer, outOfNode
	if u.in {
		src, dst, way = dst, src, intoNode
	}
	crosses := n.b.t.NodeOf(rank) != n.b.t.NodeOf(int(u.peer))
	if crosses {
		n.add([]hopShare{{n.b.cuts.Of(way), 1}}, loadKey{channel: channel, medium: n.between}, u.sizes)
		if !u.routed {
			return connBound{}, false
		}
	}
	r := n.route(src, dst)
	if r == nil {
		return connBound{}, false
	}
	if crosses || !u.in {
		n.add(r.hops, loadKey{channel, 0, r.medium}, u.sizes)
	}
	return connBound{channel, r.medium, r.latency, r.rate, u.sizes}, true
}

// add counts messages of a slice of a kind of which shares of the bytes cross cuts.
func (n *nodeView) add(hops []hopShare, kind loadKey, sizes []sizeCount) {
	for _, s := range sizes {
		kind.chunks = s.chunks
		counts := n.onto[kind]
		if more := len(n.b.cuts.All) - len(counts); more > 0 {
			counts = append(counts, make([]float64, more)...)
			n.onto[kind] = counts
		}
		for _, h := range hops {
			counts[h.cut] += s.count * h.share
		}
	}
}

// route is what the way from a rank to another costs, the schedule's own where it names one.
func (n *nodeView) route(src, dst int32) *routeCost {
	full, named, err := n.paths.Striped(int(src), int(dst))
	if !named {
		return n.b.route(src, dst)
	}
	if err != nil {
		return nil
	}
	return n.b.costOf(&full)
}

// route is what a route costs, with the hops at its ends, nil where there is none.
func (b *Bounds) route(src, dst int32) *routeCost {
	key := [2]int32{src, dst}
	if r, ok := b.routes[key]; ok {
		return r
	}
	b.routes[key] = nil
	full, err := b.router.Route(int(src), int(dst))
	if err != nil {
		return nil
	}
	b.routes[key] = b.costOf(&full)
	return b.routes[key]
}

func (b *Bounds) costOf(full *topology.Route) *routeCost {
	r := &routeCost{medium: full.Medium, latency: b.profile.ExtraLatency(full), rate: float64(full.Rate) + 1}
	for _, h := range full.Hops {
		l := b.t.Links()[h.Link]
		if b.t.Devices()[l.From].Node >= 0 || b.t.Devices()[l.To].Node >= 0 {
			r.hops = append(r.hops, hopShare{b.cuts.Of(cutKey(h.Link)), float64(h.Num) / float64(h.Den)})
		}
	}
	return r
}

// linkLoad is what a link, or all links into or out of the node, have to carry.
type linkLoad struct {
	rate     float64
	messages []messageCount
}

type messageCount struct {
	loadKey
	count float64
}

// loads are the loads that were counted, alike ones once.
func (n *nodeView) loads() []linkLoad {
	var out []linkLoad
	seen := map[string]bool{}
	for at, cut := range n.b.cuts.All {
		l := linkLoad{rate: n.rate(cut)}
		for k, counts := range n.onto {
			if at < len(counts) && counts[at] > 0 {
				l.messages = append(l.messages, messageCount{k, counts[at]})
			}
		}
		if len(l.messages) == 0 {
			continue
		}
		slices.SortFunc(l.messages, func(a, b messageCount) int {
			return cmp.Or(a.channel-b.channel, a.chunks-b.chunks, int(a.medium)-int(b.medium))
		})
		if key := fmt.Sprint(l); !seen[key] {
			seen[key] = true
			out = append(out, l)
		}
	}
	return out
}

// rate is what a link carries, or all links out of the node or into it.
func (n *nodeView) rate(cut cutKey) float64 {
	if cut >= 0 {
		return float64(n.b.t.Rate(topology.LinkID(cut)))
	}
	return n.b.crossing(n.b.t.NodeOf(n.ranks[0]), cut)
}

// crossing is what all links out of a node or into it carry together.
func (b *Bounds) crossing(node int, cut cutKey) float64 {
	type key struct {
		node int
		cut  cutKey
	}
	return topology.Once(b.t, key{node, cut}, func() (total float64) {
		for i, l := range b.t.Links() {
			from, to := b.t.Devices()[l.From].Node == int32(node), b.t.Devices()[l.To].Node == int32(node)
			if cut == outOfNode && from && !to || cut == intoNode && to && !from {
				total += float64(b.t.Rate(topology.LinkID(i)))
			}
		}
		return total
	})
}

// between is the medium of messages between a node and others: where only links of networks join them, theirs.
func (b *Bounds) between(node int) topology.Medium {
	type key struct{ node int }
	return topology.Once(b.t, key{node}, func() topology.Medium {
		for i, l := range b.t.Links() {
			from, to := b.t.Devices()[l.From].Node == int32(node), b.t.Devices()[l.To].Node == int32(node)
			if from != to && b.t.Class(topology.LinkID(i)).Medium != topology.Network {
				return anyMedium
			}
		}
		return topology.Network
	})
}

// slowest is what the slowest link carries.
func (b *Bounds) slowest() float64 {
	type key struct{}
	return topology.Once(b.t, key{}, func() float64 {
		least := math.Inf(1)
		for i := range b.t.Links() {
			least = min(least, float64(b.t.Rate(topology.LinkID(i))))
		}
		return least
	})
}
