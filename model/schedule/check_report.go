package schedule

import (
	"fmt"
	"slices"
	"strings"

	"railyard/model/topology"
)

// maxNamed bounds how many waiting ranks a deadlock report lists.
const maxNamed = 8

// deadlock names the ranks that wait and for whom, beginning with r.
func (k *checker) deadlock(r int) error {
	var waits []string
	for q, prog := range k.progs {
		if i := k.pc[q]; i < len(prog) && q != r {
			if len(waits) == maxNamed {
				waits = append(waits, "…")
				break
			}
			waits = append(waits, fmt.Sprintf("rank %d for rank %d", q, k.awaited(q)))
		}
	}
	why := fmt.Sprintf("waits for ever: rank %d never sends what it expects", k.awaited(r))
	if len(waits) > 0 {
		why += "; also waiting: " + strings.Join(waits, ", ")
	}
	return k.fail(r, k.pc[r], "%s", why)
}

// unmatched names the first send that nobody received.
func (k *checker) unmatched() error {
	var left []key
	for c, q := range k.queues {
		if len(q) > 0 {
			left = append(left, c)
		}
	}
	slices.SortFunc(left, func(a, b key) int {
		return slices.Compare([]int32{a.src, a.dst, a.phase}, []int32{b.src, b.dst, b.phase})
	})
	c := left[0]
	return k.fail(int(c.src), int(k.queues[c][0].op), "rank %d never receives it", c.dst)
}

// checkBarrier proves that every rank hears, through a chain of messages, from every
// other after that one has entered: nobody leaves before all have arrived.
func (k *checker) checkBarrier() error {
	n := len(k.progs)
	heard := make([][]bool, n)
	for r := range heard {
		heard[r] = make([]bool, n)
		heard[r][r] = true
	}
	clear(k.pc)
	queues := map[key][][]bool{}
	for progress := true; progress; {
		progress = false
		for r, prog := range k.progs {
			for ; k.pc[r] < len(prog); k.pc[r]++ {
				op, phase := &prog[k.pc[r]], int32(k.phaseOf(r, k.pc[r]))
				if op.Kind == Send {
					c := key{int32(r), op.Peer, phase}
					queues[c] = append(queues[c], slices.Clone(heard[r]))
				} else if c := (key{op.Peer, int32(r), phase}); len(queues[c]) == 0 {
					break
				} else {
					for q, h := range queues[c][0] {
						heard[r][q] = heard[r][q] || h
					}
					queues[c] = queues[c][1:]
				}
				progress = true
			}
		}
	}
	for r := range heard {
		if q := slices.Index(heard[r], false); q >= 0 {
			return k.fail(r, -1, "may leave the barrier before rank %d has entered it", q)
		}
	}
	return nil
}

// checkHops proves that every message has a route in the topology.
func (k *checker) checkHops(router *topology.Router) error {
	seen := map[[2]int32]bool{}
	for r, prog := range k.progs {
		for i := range prog {
			pair := [2]int32{int32(r), prog[i].Peer}
			if prog[i].Kind != Send || seen[pair] {
				continue
			}
			seen[pair] = true
			if _, err := router.Route(r, int(prog[i].Peer)); err != nil {
				return k.fail(r, i, "%v", err)
			}
		}
	}
	return nil
}

// String is the operation in words.
func (op Op) String() string {
	switch op.Kind {
	case Send:
		return fmt.Sprintf("send %v to rank %d", op.Src, op.Peer)
	case Recv:
		return fmt.Sprintf("recv %v from rank %d", op.Dst, op.Peer)
	case RecvReduce:
		return fmt.Sprintf("recv_reduce %v from rank %d onto %v", op.Dst, op.Peer, op.Src)
	case Copy:
		return fmt.Sprintf("copy %v to %v", op.Src, op.Dst)
	case Multicast:
		return fmt.Sprintf("multicast %v to ranks %v", op.Src, op.Peers)
	case SwitchReduce:
		return fmt.Sprintf("switch_reduce from ranks %v onto %v into %v", op.Peers, op.Src, op.Dst)
	}
	return fmt.Sprintf("reduce %d places into %v", len(op.Srcs), op.Dst)
}

// String is the place, e.g. output[3] or input[0+4×2].
func (l Loc) String() string {
	s := l.Set
	switch {
	case s.Len() == 0:
		return "nothing"
	case s.Len() == 1:
		return fmt.Sprintf("%v[%d]", l.Buf, s.First)
	case s.Outer > 1:
		return fmt.Sprintf("%v[%d+%d×%d+%d×%d]", l.Buf, s.First, s.Count, s.Stride, s.Outer, s.OuterStride)
	case s.Stride == 1:
		return fmt.Sprintf("%v[%d-%d]", l.Buf, s.First, s.First+s.Count-1)
	}
	return fmt.Sprintf("%v[%d+%d×%d]", l.Buf, s.First, s.Count, s.Stride)
}
