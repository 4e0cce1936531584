package observed

import (
	"time"

	"railyard/model/units"
)

// Recording is what one rank noted of its operations, the last of them.
type Recording struct {
	File   string
	Rank   int // of the job
	Groups []Group
	Ops    []Op // in the order in which they were issued
}

// Group is a process group.
type Group struct {
	Name  string
	About string // as the program calls it; may be empty
	Ranks []int  // of the job, ascending; nil: not noted
}

// Key tells groups apart: those of one name on disjoint ranks are several.
func (g *Group) Key() string { return g.Name + " " + units.Ranges(g.Ranks, ",") }

// State is how far an operation has come.
type State uint8

// The states, in order.
const (
	Scheduled State = iota // issued by the program
	Started                // its kernel runs
	Completed
)

// Op is an operation as one rank noted it.
type Op struct {
	Group     int    // index into the recording's groups
	Seq       int64  // of the group's collectives, the same on all ranks; of messages that is no such number
	Name      string // all_reduce, send
	Peer      int    // rank in the group that a message goes to or comes from; -1: a collective
	Signature string // what all ranks must agree on: sizes and types, as far as the collective asks for that
	State     State
	TimedOut  bool   // the program has given it up
	Created   int64  // ns since 1970
	Begun     int64  // when it was seen to run, ns since 1970; 0: it was not
	Ended     int64  // when it was seen to have ended, ns since 1970; 0: it was not
	Caller    string // the line of the program; may be empty
	Bytes     units.Bytes
	Time      units.Time // on the GPU; 0: not measured
}

// Message reports whether it is a send or a receive and no collective.
func (o *Op) Message() bool { return o.Peer >= 0 }

// RankOf is the job's rank of a group's rank.
func (g *Group) RankOf(inGroup int) (int, bool) {
	if inGroup < 0 || inGroup >= len(g.Ranks) {
		return 0, false
	}
	return g.Ranks[inGroup], true
}

// Timeout is a collective that a rank has given up, of a group that is not known.
type Timeout struct {
	Place
	Rank   int // of the job; −1: not said
	Member int // the rank in the group; −1: not said
	Op     string
	Seq    int64 // its number in the group
	After  time.Duration
}
