package planner

import (
	"slices"

	"railyard/model/collective"
)

// deliver moves each block on its own from its source along the tree of that source, or
// of its destination (scatter, where the root has to balance what it sends): all-to-all,
// scatter, gather, send-receive and barrier (a message to everybody).
func (r *request) deliver(out, in [][]int32) []pathMessage {
	var messages []pathMessage
	for src := range out {
		for dst := range out {
			if src == dst || !carries(r.spec, src, dst) {
				continue
			}
			path := treePath(out[src], dst)
			if r.spec.Kind == collective.Scatter {
				path = treePath(in[dst], src)
				slices.Reverse(path)
			}
			messages = append(messages, pathMessage{int32(src), int32(dst), 0, 1, path})
		}
	}
	return messages
}

// carries reports whether a collective has a block from src to dst.
func carries(s collective.Spec, src, dst int) bool {
	switch s.Kind {
	case collective.Gather:
		return dst == s.Root
	case collective.Scatter:
		return src == s.Root
	case collective.SendRecv:
		return dst == (src+1)%s.Ranks
	}
	return true // all_to_all, barrier
}

// blocks are the numbers of the block that goes from src to dst, in the input of the one and
// in the output of the other.
func blocks(k collective.Kind, src, dst int) (in, out int) {
	switch k {
	case collective.AllToAll, collective.AllToAllV:
		return dst, src
	case collective.Scatter:
		return dst, dst
	case collective.Gather:
		return src, src
	}
	return 0, 0 // send_recv
}

// treePath is the way in a tree from its root to a rank, both included.
func treePath(parents []int32, rank int) []int32 {
	var out []int32
	for v := int32(rank); v >= 0; v = parents[v] {
		out = append(out, v)
	}
	slices.Reverse(out)
	return out
}
