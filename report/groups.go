package report

// GroupsDocument is what tests of groups of nodes say of a cluster.
type GroupsDocument struct {
	Schema     string         `json:"schema" const:"railyard.groups/v1" doc:"what tests of groups of nodes say of a cluster"`
	Topology   string         `json:"topology"`
	Nodes      int            `json:"nodes"`
	GPUs       int            `json:"gpus_per_node"`
	Collective string         `json:"collective"`
	SizeBytes  int64          `json:"size_bytes" doc:"that all groups have run, the largest"`
	Messages   int            `json:"messages" doc:"tests that are messages between two nodes, as railyard probe measures them"`
	Healthy    float64        `json:"healthy" as:"share" doc:"how likely nothing is faulty"`
	Longer     float64        `json:"median_longer" as:"factor" doc:"median of tests that no sure fault slows: time over expected; 0: none"`
	Band       float64        `json:"band" as:"factor" doc:"factor, either way, within which predictions of 9 of 10 machines lie"`
	Islands    []GroupIsland  `json:"islands" doc:"nodes among which tests are fast, where those across are slow"`
	Across     float64        `json:"across" as:"factor" doc:"how much longer tests across islands take; 0: there are none"`
	Suspects   []GroupSuspect `json:"suspects" csv:""`
	Next       []GroupTest    `json:"next" doc:"what to run next"`
	Rows       []GroupRow     `json:"rows" doc:"what was run, what took longest for its group first" most:"20"`
	Notes      []string       `json:"notes" note:"note"`
}

// Tests are how many collectives were run over groups.
func (d *GroupsDocument) Tests() int { return len(d.Rows) - d.Messages }

// GroupIsland are nodes that what joins them does not slow.
type GroupIsland struct {
	Nodes int    `json:"nodes" text:"island of nodes"`
	Hosts string `json:"hosts" text:"hosts"`
}

// GroupSuspect is a part that may be faulty.
type GroupSuspect struct {
	Part        string  `json:"part" text:"part"`
	Host        string  `json:"host" text:"host" doc:"empty: part of the network"`
	Probability float64 `json:"probability" text:"faulty" as:"share"`
	Named       bool    `json:"named" text:"sure" doc:"at least 99 %"`
	Look        string  `json:"look" text:"look at"`
}

// GroupTest is a test to run.
type GroupTest struct {
	Name     string   `json:"name" text:"run next"`
	Nodes    int      `json:"nodes" text:"nodes"`
	Hosts    []string `json:"hosts" text:"hosts"`
	Adapters string   `json:"adapters" text:"adapters" doc:"of each node that are used; empty: all"`
	Passes   float64  `json:"passes" text:"shows nothing" as:"share" doc:"how likely it shows nothing"`
}

// PassesPercent is how likely it shows nothing, in percent.
func (t GroupTest) PassesPercent() float64 { return 100 * t.Passes }

// GroupRow is a test that was run.
type GroupRow struct {
	File       string   `json:"file" text:"test"`
	Nodes      int      `json:"nodes" text:"nodes"`
	Hosts      []string `json:"hosts" text:"hosts"`
	Adapters   string   `json:"adapters" text:"adapters"`
	MeasuredUS float64  `json:"measured_us" text:"measured"`
	ExpectedUS float64  `json:"expected_us" text:"expected" doc:"of this very group"`
	Longer     float64  `json:"longer" text:"longer" as:"factor" doc:"measured over expected"`
}

// Unhealthy says that something is surely faulty, whichever part it is.
func (d *GroupsDocument) Unhealthy() bool {
	return d.Faulty() > 0 || len(d.Islands) > 0 || d.Healthy <= 1-sure
}

// AllSlow says that the tests take longer than predictions are off by: all of the cluster is slow, or it is another one.
func (d *GroupsDocument) AllSlow() bool { return d.Longer > d.Band }

// sure is from which probability on something is taken to be so.
const sure = 0.99

// Faulty is how many parts are surely faulty.
func (d *GroupsDocument) Faulty() (n int) {
	for _, s := range d.Suspects {
		if s.Named {
			n++
		}
	}
	return n
}
