package foreign

import (
	"fmt"
	"slices"
	"strings"
)

// witness is an order in which a plan's actions are done, as far as its synchronisation lets them while one thread block
// is held: the proof that an action need not wait for what it conflicts with.
type witness struct {
	held   use // the action that is not begun; none where it is 0
	wanted use // the action that is to come
	steps  []step
	latest map[int]int // the newest step of each thread block
}

// step is an action that was done, and the steps without which it could not have been.
type step struct {
	use
	after []int
}

// noStep is where tokens come from that are there from the beginning.
const noStep = -1

// maxWitness is how many lines of an order are shown: the last ones.
const maxWitness = 24

func (w *witness) holds(t, next int) bool {
	return w != nil && (w.held == use{t, next + 1} || w.wanted.thread == t && w.wanted.action <= next)
}

// last is the newest step.
func (w *witness) last() int {
	if w == nil {
		return noStep
	}
	return len(w.steps) - 1
}

// note notes an action that is done next.
func (w *witness) note(p *Play, t int, a *Action) {
	if w == nil {
		return
	}
	s := step{use: use{t, p.threads[t].next + 1}}
	if i, ok := w.latest[t]; ok {
		s.after = append(s.after, i)
	}
	w.latest[t] = len(w.steps)
	for i, at := range a.Takes {
		before := 0 // tokens of this point that it takes already
		for _, x := range a.Takes[:i] {
			if x == at {
				before++
			}
		}
		s.after = append(s.after, p.tokens[at][before].step)
	}
	for _, at := range a.After {
		s.after = append(s.after, p.raised[at].step)
	}
	for _, u := range a.Uses {
		for k := 0; k < u.N && u.Packets && !u.Write; k++ {
			s.after = append(s.after, p.arrived[chunk{u.GPU, u.place(k)}].step)
		}
	}
	w.steps = append(w.steps, s)
}

// witnessed is an order, in words, in which a thread block's next action comes while another one has not begun; where there
// is none, why that has perhaps not ended.
func (p *Play) witnessed(t int, other *use) string {
	w := &witness{held: *other, wanted: use{t, p.threads[t].next + 1}, latest: map[int]int{}}
	q := *p
	q.threads, q.log, q.Loose = slices.Clone(p.threads), w, true
	q.begin()
	_ = q.rounds() // mistakes of counts have been seen
	end, ok := w.latest[t]
	if !ok || w.steps[end].use != w.wanted {
		return fmt.Sprintf(" (some threads of %s may still be at it: no barrier follows it)", p.block(other.thread))
	}
	return fmt.Sprintf("\n  an order that the file allows, in which %s has not begun when %s is done:%s",
		p.name(other.thread, other.action-1), p.name(t, w.wanted.action-1), p.told(w.past(end)))
}

func (p *Play) block(t int) string {
	return fmt.Sprintf("gpu %d tb %d", p.threads[t].gpu, p.threads[t].block)
}

// past are the steps that one needs, itself last, in their order.
func (w *witness) past(end int) (out []use) {
	needed := make([]bool, end+1)
	needed[end] = true
	for i := end; i >= 0; i-- {
		for _, before := range w.steps[i].after {
			if needed[i] && before >= 0 {
				needed[before] = true
			}
		}
	}
	for i, yes := range needed {
		if yes {
			out = append(out, w.steps[i].use)
		}
	}
	return out
}

// told has a line for each thread block's run of actions.
func (p *Play) told(order []use) string {
	var lines []string
	for i, u := range order {
		a := &p.threads[u.thread].actions[u.action-1]
		text := fmt.Sprintf("%s %d (%s)", p.Op, a.Number, a.Name)
		if i > 0 && order[i-1].thread == u.thread {
			lines[len(lines)-1] += ", " + text
		} else {
			lines = append(lines, fmt.Sprintf("\n    %s: %s", p.block(u.thread), text))
		}
	}
	if more := len(lines) - maxWitness; more > 0 {
		lines = append([]string{fmt.Sprintf("\n    … (%d lines)", more)}, lines[more:]...)
	}
	return strings.Join(lines, "")
}
