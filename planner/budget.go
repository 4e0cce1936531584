package planner

import "time"

// Budget is the work that the plan of one size may take, in operations of the simulator. It counts work and not seconds, so
// that the same question has the same answer on every machine, however busy.
type Budget int64

// perSecond is how many operations a core of 2.8 GHz plays in a second where transfers share links.
const perSecond = 4_500_000

// DefaultBudget is that of two seconds.
const DefaultBudget Budget = 2 * perSecond

// BudgetOf is the work of a time.
func BudgetOf(d time.Duration) Budget { return Budget(max(d.Seconds()*perSecond, 1)) }

// What parts of the work may come to within the default budget; within another one, as much more or less (see part).
const (
	perCandidate = maxRing * maxRing // messages of a candidate's slice, see beyondBudget
	ofAllTrees   = 3_000_000         // the same, of ranks that all differ
	ofChannels   = 1_500_000         // messages of all channels that are out of step
	ofLast       = 1_000_000         // operations of a candidate that is played although its transfers share links for long
)

// part is as much of a budget as n of the default one.
func (b Budget) part(n int) int { return int(float64(n) * (float64(b) / float64(DefaultBudget))) }

// Up to how many ranks a message of each to the next at every step, or a largest flow to each, is within the default budget; and
// messages between all of them, each of which counts four times, as all are under way at once.
const maxRing, maxFlat = 1024, maxRing / 2
