package block

import (
	"fmt"

	"railyard/model/schedule"
)

// inOrder visits the steps of strands that follow one another on every rank in an order in which they can run: what a
// rank receives, another has sent before.
func inOrder(all []*strand, visit func(st *strand, rank, i int)) error {
	at := make([]cursor, len(all[0].steps))
	sent := map[*message]bool{}
	for moved := true; moved; {
		moved = false
		for r := range at {
			for at[r].seek(all, r) {
				st, i := all[at[r].strand], at[r].step
				s := &st.steps[r][i]
				if receives(s.op) && !sent[s.msg] {
					break
				}
				if s.op.Kind == schedule.Send {
					sent[s.msg] = true
				}
				visit(st, r, i)
				at[r].step++
				moved = true
			}
		}
	}
	for r := range at {
		if at[r].seek(all, r) {
			return fmt.Errorf("rank %d never ends: check the schedule first", r)
		}
	}
	return nil
}

// cursor is how far a rank has come.
type cursor struct{ strand, step int }

// seek moves a rank's cursor to its next step; false at the end.
func (c *cursor) seek(all []*strand, rank int) bool {
	for ; c.strand < len(all); c.strand, c.step = c.strand+1, 0 {
		if c.step < len(all[c.strand].steps[rank]) {
			return true
		}
	}
	return false
}
