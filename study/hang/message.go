package hang

import (
	"maps"
	"slices"

	"railyard/model/observed"
)

// mirrored is what the other side of a message issues.
var mirrored = map[string]string{"send": "recv", "recv": "send"}

// messages adds sends and receives that have not ended and that the other side has not issued: the first of each pair of ranks.
func (j *job) messages() {
	for _, rank := range slices.Sorted(maps.Keys(j.recordings)) {
		r := j.recordings[rank]
		seen := map[int]bool{}
		for i := range r.Ops {
			o := &r.Ops[i]
			if !o.Message() || o.State == observed.Completed {
				continue
			}
			g := &r.Groups[o.Group]
			peer, ok := g.RankOf(o.Peer)
			if !ok || seen[peer] {
				continue
			}
			seen[peer] = true
			j.message(g, o, rank, peer)
		}
	}
}

func (j *job) message(g *observed.Group, o *observed.Op, rank, peer int) {
	s := &stall{group: g, seq: o.Seq, name: o.Name, waiting: []int{rank}, issued: o.Created, timeout: o.TimedOut, caller: o.Caller}
	other := j.recordings[peer]
	switch {
	case other == nil:
		s.silent = []int{peer}
	case !issues(other, mirrored[o.Name], g.Name, rank):
		s.missing = []int{peer}
	case rank > peer:
		return // both are there: it is told once
	default:
		s.waiting = append(s.waiting, peer)
	}
	j.stalls = append(j.stalls, s)
}

// issues reports whether a rank has a message with another that has not ended.
func issues(r *observed.Recording, name, group string, with int) bool {
	return slices.ContainsFunc(r.Ops, func(o observed.Op) bool {
		if !o.Message() || o.Name != name || o.State == observed.Completed || r.Groups[o.Group].Name != group {
			return false
		}
		peer, ok := r.Groups[o.Group].RankOf(o.Peer)
		return ok && peer == with
	})
}
