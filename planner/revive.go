package planner

import "errors"

// A candidate whose simulation takes too long is played after all where nothing else could be,
// or where the best takes so many times as long as it may; but none of more operations than
// anybody waits for (see ofLast).
const overlooked = 4

// revive plays the most promising of the candidates that were left out, if the best is that poor.
func (c *contest) revive() error {
	at, most := -1, int64(max(c.budget.part(ofLast), ofLast))
	for i := range c.list {
		x := &c.list[i]
		poor := c.best < 0 || float64(c.list[c.best].Time) > overlooked*float64(x.Time)
		if x.TooLarge && poor && c.score.Work(x.Schedule) <= most && (at < 0 || c.price(i) < c.price(at)) {
			at = i
		}
	}
	if at < 0 {
		return nil
	}
	x := &c.list[at]
	p, err := c.score.Explain(x.Schedule, c.size)
	if errors.Is(err, ErrTooLarge) { // to compile
		return nil
	}
	if err != nil {
		return err
	}
	x.Time, x.TooLarge, x.Pruned = p.Time, false, false
	c.place(at)
	c.revived, c.explained = at, p
	return nil
}
