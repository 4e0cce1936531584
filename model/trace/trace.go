// Package trace is the one timeline format, for predicted and for measured runs:
// who moved what to whom, from when to when.
package trace

import "railyard/model/units"

// Event is one operation of one rank.
type Event struct {
	Rank, Peer            int32 // Peer −1 where there is none
	Channel, Phase, Slice int32
	Op                    string // send, recv, recv_reduce, copy, reduce, launch
	Bytes                 units.Bytes
	Start, End            units.Time
	Route                 string // kind of route, empty for local work
}

// Trace is a run.
type Trace struct {
	Name   string // what ran
	Source string // "predicted (profile …)" or "measured (backend …)"
	Ranks  int
	Events []Event
}
