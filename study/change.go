package study

import (
	"errors"
	"slices"

	"railyard/model/topology"
	"railyard/planner"
)

// changes answers the same for the machine without its faults, whose plans go on where they are
// faster than those found for what is left, and without the traffic of others; not where no plan of that is small enough to simulate.
func (a *Answer) changes(progress Progress) error {
	t := a.Question.asked.Topology
	if len(t.Faults()) > 0 {
		whole, err := a.Question.ask(t.Healthy(), a.Question.asked.Collective.onWhole(t), progress)
		if err == nil {
			err = a.keep(whole)
		}
		if err != nil && !errors.Is(err, planner.ErrTooLarge) {
			return err
		}
	}
	if idle := t.Idle(); idle != t {
		other, err := a.Question.ask(idle, a.Question.asked.Collective, progress)
		if err != nil && !errors.Is(err, planner.ErrTooLarge) {
			return err
		}
		for i := 0; err == nil && i < len(a.Rows); i++ {
			a.Rows[i].Idle = &other.Rows[i].Row
		}
	}
	return nil
}

// ask answers the same for another state of the machine.
func (q *Question) ask(t *topology.Topology, c Collective, progress Progress) (*Answer, error) {
	other, err := q.on(t, c)
	if err != nil {
		return nil, err
	}
	return other.Answer(progress)
}

// keep times the plans of the machine before a change on the machine after it, and goes on with
// those that are faster than what was planned there. Plans are kept only where ranks and links
// mean the same: the changed machine is the one before with parts failed, slowed, in use or faster.
func (a *Answer) keep(before *Answer) error {
	q := a.Question
	same := sameParts(before.Question.asked.Topology, q.asked.Topology.Healthy())
	limit := a.score.Limit
	a.score.Limit = max(limit, ofFew)
	defer func() { a.score.Limit = limit }()
	for i := range a.Rows {
		row, old := &a.Rows[i], &before.Rows[i]
		row.Before = &old.Row
		if !same {
			continue
		}
		var err error
		if row.Kept, err = planner.Keep(q.asked.Topology, q.costs, old.Schedule, row.Size, a.score, row.Prediction.Time); err != nil {
			return err
		}
		best, k := old.Schedule, row.Kept
		for _, s := range planner.AroundSlow(q.asked.Topology, old.Schedule) {
			around, err := planner.Keep(q.asked.Topology, q.costs, s, row.Size, a.score, row.Prediction.Time)
			if err != nil {
				return err
			}
			if around.Time > 0 && !around.Least && (k.Time == 0 || k.Least || around.Time < k.Time) {
				best, k = s, around
			}
		}
		if k.Time == 0 || k.Least || k.Time >= row.Prediction.Time {
			continue
		}
		if err := a.takeOver(row, best, k.Time); err != nil {
			return err
		}
	}
	return nil
}

// sameParts reports whether two machines are of the same parts, joined alike, whatever these carry.
func sameParts(a, b *topology.Topology) bool {
	multicastA, reductionA := a.InNetwork(nil)
	multicastB, reductionB := b.InNetwork(nil)
	return slices.Equal(a.Devices(), b.Devices()) && slices.Equal(a.Links(), b.Links()) &&
		multicastA == multicastB && reductionA == reductionB
}

// After answers a question about a machine that was changed since: rows have the plan before, that
// plan kept, and the best one there.
func (a *Answer) After(changed Asked, progress Progress) (*Answer, error) {
	is, err := Ask(changed, progress)
	if err != nil {
		return nil, err
	}
	return is, is.keep(a)
}
