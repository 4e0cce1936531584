package report

import (
	"fmt"

	"railyard/model/units"
)

// CrossoverDocument is the best schedule against size.
type CrossoverDocument struct {
	Schema     string              `json:"schema" const:"railyard.crossover/v1" doc:"the best schedule against size"`
	Collective string              `json:"collective" csv:"collective"`
	Topologies []CrossoverTopology `json:"topologies" csv:""`
}

// CrossoverTopology is what is best where on a topology.
type CrossoverTopology struct {
	Topology string          `json:"topology" id:"" wide:"topology"`
	Hash     string          `json:"topology_hash"`
	Profile  string          `json:"profile"`
	Ranks    int             `json:"ranks" id:"" wide:"ranks"`
	Bands    []Band          `json:"bands"`
	Rows     []CrossoverSize `json:"rows" csv:"" title:"By size"`
}

// Band is a range of sizes in which one algorithm, with its protocol, is the best.
type Band struct {
	SizeRange
	Best    string  `json:"best" text:"best"`
	Closest string  `json:"-" text:"closest runner-up"`
	Loss    float64 `json:"-" text:"" join:" +" as:"share"`
	At      int64   `json:"-" text:"" join:" at " as:"bytes"`
}

// CrossoverSize is the best at a size, and what the best of another algorithm or protocol would lose.
type CrossoverSize struct {
	SizeBytes  int64   `json:"size_bytes"`
	Schedule   string  `json:"schedule"`
	TimeUS     float64 `json:"time_us"`
	BusBW      float64 `json:"busbw_GBps"`
	RunnerUp   string  `json:"runner_up"`
	RunnerLoss float64 `json:"runner_up_loss" join:" +" as:"share"`
}

// name is the topology with what sets it apart from the same with other nodes.
func (t *CrossoverTopology) name() string {
	return fmt.Sprintf("%s, %s", t.Topology, units.Counted(t.Ranks, "rank"))
}

// Close finds each band's closest runner-up.
func (t *CrossoverTopology) Close() {
	for i := range t.Bands {
		b := &t.Bands[i]
		for _, r := range t.Rows {
			if r.SizeBytes >= b.From && r.SizeBytes <= b.To && r.RunnerUp != "" && (b.Closest == "" || r.RunnerLoss < b.Loss) {
				b.Closest, b.Loss, b.At = r.RunnerUp, r.RunnerLoss, r.SizeBytes
			}
		}
	}
}
