package observed

// Roll is how far the ranks of all communicators of a job have come at one time.
type Roll struct {
	File    string
	Version string // of NCCL
	Time    string // of the roll, as written; may be empty
	Comms   []Progress
}

// Progress is how far the ranks of one communicator have come.
type Progress struct {
	Place
	Comm    string // its hash, as commId in logs: 0xd94cb67e0ad5f33f
	Ranks   int
	Counts  []Count
	Missing []Absence
	Errors  []Failure
}

// Count are ranks that have launched as many operations of one kind.
type Count struct {
	Op      string // AllReduce, as NCCL calls it
	Upto    int64
	Ranks   int
	Members []Member // fewer than Ranks where the file names only outliers
}

// Absence is a rank that did not answer.
type Absence struct {
	Member
	Dead bool // its process cannot be reached at all
}

// Failure is an error that ranks report.
type Failure struct {
	Text    string
	Ranks   int
	Members []Member // as for Count
}
