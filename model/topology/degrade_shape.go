package topology

import (
	"fmt"
	"slices"
	"strings"
)

// usableNICs says which devices of a node are NICs that still have a link each way
// into a fabric; where no NIC of the node had one, all are.
func (x *degrader) usableNICs(first, end DeviceID) []bool {
	t := x.t
	outside := func(d DeviceID) bool { return t.devices[d].Node < 0 }
	left := func(l LinkID) bool {
		p, changed := x.pieces[l]
		return !x.lost[t.links[l].From] && !x.lost[t.links[l].To] && (!changed || len(p) > 0)
	}
	out := make([]bool, end-first)
	joined := false
	for d := first; d < end; d++ {
		if t.devices[d].Kind != NIC {
			continue
		}
		var up, down bool
		for _, l := range t.Out(d) {
			joined = joined || outside(t.links[l].To)
			up = up || outside(t.links[l].To) && left(l)
		}
		for _, l := range t.In(d) {
			down = down || outside(t.links[l].From) && left(l)
		}
		out[d-first] = up && down
	}
	if !joined {
		for d := first; d < end; d++ {
			out[d-first] = t.devices[d].Kind == NIC && !x.lost[d]
		}
	}
	return out
}

// difference is what sets a node apart from its shape, "" where nothing does. Nodes of
// a shape with the same difference share a new one.
func (x *degrader) difference(n int, usable []bool) string {
	node := &x.t.nodes[n]
	s := x.t.shapes[node.shape]
	var b strings.Builder
	served := make([]bool, len(s.devices))
	for _, nics := range s.nics {
		for _, nic := range nics {
			served[nic] = true
		}
	}
	for i := range s.devices {
		if x.lost[node.firstDevice+DeviceID(i)] {
			fmt.Fprintf(&b, "-%d", i)
		} else if served[i] && !usable[i] {
			fmt.Fprintf(&b, "/%d", i)
		}
	}
	for i := range s.links {
		if p, changed := x.pieces[node.firstLink+LinkID(i)]; changed {
			fmt.Fprintf(&b, " %d%v", i, p)
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return fmt.Sprintf("%d:%s", node.shape, b.String())
}

// newShape is s without what a node has lost. first is the node's first device in t, at
// the one in the copy.
func (x *degrader) newShape(s *shape, first, at DeviceID, links []Link, usable []bool) *shape {
	out := &shape{template: s.template, profile: s.profile, local: map[string]int32{}}
	var use []bool
	for i, d := range s.devices {
		if x.lost[first+DeviceID(i)] {
			continue
		}
		d.Local = int32(len(out.devices))
		out.local[s.ids[i]] = d.Local
		out.ids = append(out.ids, s.ids[i])
		out.devices = append(out.devices, d)
		out.noP2P = append(out.noP2P, s.noP2P[i])
		use = append(use, usable[i])
		if d.Kind.HoldsRank() {
			out.ranks = append(out.ranks, d.Local)
		}
	}
	out.links = make([]Link, len(links))
	out.out = make([][]int32, len(out.devices))
	for i, l := range links {
		l.From -= at
		l.To -= at
		out.links[i] = l
		out.out[l.From] = append(out.out[l.From], int32(i))
	}
	out.nics = make([][]int32, len(out.devices))
	for i, d := range s.devices {
		if x.lost[first+DeviceID(i)] || !d.Kind.HoldsRank() {
			continue
		}
		g := int32(x.number[first+DeviceID(i)] - at)
		var own []int32
		for _, nic := range s.nics[i] {
			if d := x.number[first+DeviceID(nic)]; d >= 0 {
				own = append(own, int32(d-at))
			}
		}
		out.nics[g] = out.nicsLeft(g, own, use, len(s.nics[i]) > 0)
	}
	return out
}

// nicsLeft are those of a rank's own NICs that it can use; where it has lost all of
// them, the nearest that it can use.
func (s *shape) nicsLeft(g int32, own []int32, use []bool, had bool) []int32 {
	if !had {
		return nil
	}
	up, down := s.hostDistances(g, false), s.hostDistances(g, true)
	useless := func(nic int32) bool { return !use[nic] || up[nic] < 0 || down[nic] < 0 }
	if own = slices.DeleteFunc(own, useless); len(own) > 0 {
		return own
	}
	var out []int32
	for i, d := range s.devices {
		nic := int32(i)
		if d.Kind != NIC || useless(nic) || len(out) > 0 && up[nic] > up[out[0]] {
			continue
		}
		if len(out) > 0 && up[nic] < up[out[0]] {
			out = out[:0]
		}
		out = append(out, nic)
	}
	return out
}

// hostDistances are the lengths of the ways from g (or, back, to g) over PCIe switches,
// CPUs and memory; −1 where there is none.
func (s *shape) hostDistances(g int32, back bool) []int32 {
	dist := make([]int32, len(s.devices))
	for i := range dist {
		dist[i] = -1
	}
	dist[g] = 0
	next := s.out
	if back {
		next = make([][]int32, len(s.devices))
		for i, l := range s.links {
			next[l.To] = append(next[l.To], int32(i))
		}
	}
	for queue := []int32{g}; len(queue) > 0; queue = queue[1:] {
		v := queue[0]
		if v != g && !isHostPath(s.devices[v].Kind) {
			continue
		}
		for _, l := range next[v] {
			to := int32(s.links[l].To)
			if back {
				to = int32(s.links[l].From)
			}
			if dist[to] < 0 {
				dist[to] = dist[v] + 1
				queue = append(queue, to)
			}
		}
	}
	return dist
}
