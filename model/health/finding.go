package health

import "railyard/model/yamlfile"

// Level is how grave a finding is.
type Level string

// The levels, the gravest first.
const (
	Broken Level = "broken" // jobs fail or hang, or data may be wrong
	Slow   Level = "slow"   // it costs time
	Notice Level = "notice" // worth knowing; it costs nothing that is known
)

// Levels are all of them, the gravest first.
var Levels = []Level{Broken, Slow, Notice}

// Choices are their names.
func (Level) Choices() []string { return yamlfile.Words(Levels...) }

// Finding is something wrong with parts of a machine.
type Finding struct {
	Rule   string // its name among the rules, or that of the reader that found it
	Part   string // "GPU 3", "GPUs 0-7"
	Level  Level
	Says   string   // what is wrong, with its figure: "has 17 of 18 NVLinks"
	Why    string   // why it matters
	Do     string   // the command to run, or the thing to change
	Source string   // address of what says so
	From   []string // where the values came from
	Effect Effect
	Cost   Cost
}

// Effect is what a finding does to the machine, as a what-if asks about it; the zero Effect is nothing that can be asked.
type Effect struct {
	On    string   // one of the effects that study/doctor knows, such as "nvlink"
	Parts []string // those that it hits, by their names among their kind
	Left  float64  // share of their rate that is left, 0 … 1
	Value string   // what a variable is set to
}

// Cost is what a finding costs; the zero Cost is not known.
type Cost struct {
	Of    string  // what takes longer: "all-reduce of 1 GiB on 2 nodes"
	Share float64 // how much longer: 0.056 is 5.6 %
	Best  float64 // the same once it is planned again around the fault; as Share where nothing can be planned
	How   string  // by what that was found
	Known bool
}
