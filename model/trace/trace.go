// Package trace is the one timeline format, for predicted and for measured runs:
// who moved what to whom, from when to when.
package trace

import (
	"maps"
	"slices"

	"railyard/model/units"
)

// Event is one operation of one rank.
type Event struct {
	Rank, Peer            int32 // Peer −1 where there is none
	Channel, Phase, Slice int32
	Op                    string // send, recv, recv_reduce, copy, reduce, launch
	Bytes                 units.Bytes
	Start, End            units.Time
	Route                 string // kind of route, empty for local work
	Times                 int32  // how many like it, of ranks that are equivalent, it stands for; 0: itself
}

// Trace is a run.
type Trace struct {
	Name   string // what ran
	Source string // "predicted (profile …)" or "measured (backend …)"
	Ranks  int
	Events []Event
}

// Shown are the ranks that have events.
func (t *Trace) Shown() []int32 {
	has := map[int32]bool{}
	for i := range t.Events {
		has[t.Events[i].Rank] = true
	}
	return slices.Sorted(maps.Keys(has))
}

// Folded reports whether events stand for others.
func (t *Trace) Folded() bool {
	return slices.ContainsFunc(t.Events, func(e Event) bool { return e.Times > 1 })
}
