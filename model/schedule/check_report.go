package schedule

import (
	"fmt"
	"slices"
	"strings"
)

// CheckError says which operation of which rank makes a schedule wrong, and why.
type CheckError struct {
	Rank, Channel, Phase int
	Op                   int    // index in the rank's program of that phase; −1 for the end
	What                 string // the operation in words
	Why                  string
}

func (e *CheckError) Error() string {
	if e.Op < 0 {
		return fmt.Sprintf("rank %d, channel %d: at the end: %s", e.Rank, e.Channel, e.Why)
	}
	return fmt.Sprintf("rank %d, channel %d, phase %d, operation %d (%s): %s", e.Rank, e.Channel, e.Phase, e.Op, e.What, e.Why)
}

func (k *checker) fail(rank, op int, why string, args ...any) *CheckError {
	e := &CheckError{Rank: rank, Channel: k.channel, Op: op, Why: fmt.Sprintf(why, args...)}
	if op >= 0 {
		e.Phase = k.phaseOf(rank, op)
		e.What = k.progs[rank][op].String()
		if e.Phase > 0 {
			e.Op -= int(k.phaseAt[rank][e.Phase-1])
		}
	}
	return e
}

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
	why := fmt.Sprintf("deadlock: rank %d never sends what it expects", k.awaited(r))
	if len(waits) > 0 {
		why += "; also waiting: " + strings.Join(waits, ", ")
	}
	return k.fail(r, k.pc[r], "%s", why)
}

// unmatched names the first send that nobody received.
func (k *checker) unmatched() error {
	var left []key
	for c, q := range k.queues {
		if !q.empty() {
			left = append(left, c)
		}
	}
	slices.SortFunc(left, func(a, b key) int {
		return slices.Compare([]int32{a.src, a.dst, a.phase}, []int32{b.src, b.dst, b.phase})
	})
	c := left[0]
	return k.fail(int(c.src), int(k.queues[c].first().op), "rank %d never receives it", c.dst)
}

// inWords are operations in words, of: source, destination, peer, peers, number of summands.
var inWords = [...]string{
	Send:         "send %[1]v to rank %[3]d",
	Recv:         "recv %[2]v from rank %[3]d",
	RecvReduce:   "recv_reduce %[2]v from rank %[3]d onto %[1]v",
	Copy:         "copy %[1]v to %[2]v",
	Reduce:       "reduce %[5]d places into %[2]v",
	Multicast:    "multicast %[1]v to ranks %[4]v",
	SwitchReduce: "switch_reduce from ranks %[4]v onto %[1]v into %[2]v",
}

// String is the operation in words.
func (op Op) String() string {
	return fmt.Sprintf(inWords[op.Kind], op.Src, op.Dst, op.Peer, op.Peers, len(op.Srcs))
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
