package host

import (
	"fmt"
	"time"
)

// rank is a goroutine that runs all lanes of a rank in turn, as one core would: a rank is
// what has a processor of its own, not a lane.
type rank[T element] struct {
	r     *runner[T]
	id    int32
	lanes []*lane[T]
}

// checkEvery is how many turns a wait makes between looks at the clock.
const checkEvery = 1024

// iterate gives each lane in turn a slice, until all have ended. When nothing has moved
// for the deadline it reports who waits for whom and ends the run.
func (k *rank[T]) iterate(i int64) bool {
	for _, l := range k.lanes {
		l.slice, l.at = 0, 0
	}
	var still time.Time // since when nothing moves
	for spins := 0; ; spins++ {
		moved, left := k.turn(i)
		switch {
		case left == 0:
			return true
		case moved:
			spins, still = 0, time.Time{}
			continue
		case k.r.abort.Load():
			return false
		case spins%checkEvery < checkEvery-1:
		case still.IsZero():
			still = time.Now()
		case time.Since(still) > k.r.cfg.Deadline:
			k.r.fail(k.stuck())
			return false
		}
		k.r.pause(spins)
	}
}

// turn advances each lane once; left is how many have not ended.
func (k *rank[T]) turn(i int64) (moved bool, left int) {
	for _, l := range k.lanes {
		if l.ended() {
			continue
		}
		if l.advance(i) {
			moved = true
		}
		if !l.ended() {
			left++
		}
	}
	return moved, left
}

// stuck names the first lane that waits for a message.
func (k *rank[T]) stuck() error {
	for _, l := range k.lanes {
		if l.ended() || l.behind() {
			continue
		}
		op := &l.ops[l.at]
		for _, c := range op.conns {
			sent, taken, peer, why := c.sent.Load(), c.taken.Load(), c.src, ""
			switch {
			case op.Kind.Sends() && !c.accepts():
				peer, why = c.dst, fmt.Sprintf("%d messages sent, %d taken, no place for more", sent, taken)
			case !op.Kind.Sends() && sent <= taken:
				why = fmt.Sprintf("flag wanted %d, got %d", taken+1, sent)
			default:
				continue
			}
			return fmt.Errorf("deadline of %v passed: rank %d waits for rank %d: channel %d, phase %d, slice %d, operation %d (%v): %s",
				k.r.cfg.Deadline, k.id, peer, l.channel, l.phase, l.slice, l.at, op.Op, why)
		}
	}
	return fmt.Errorf("deadline of %v passed: rank %d makes no progress", k.r.cfg.Deadline, k.id)
}
