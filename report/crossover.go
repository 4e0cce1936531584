package report

import (
	"fmt"
	"io"

	"github.com/jedib0t/go-pretty/v6/table"

	"railyard/model/units"
)

// CrossoverDocument is schema railyard.crossover/v1: the best schedule against size.
type CrossoverDocument struct {
	Schema     string              `json:"schema"`
	Collective string              `json:"collective"`
	Topologies []CrossoverTopology `json:"topologies"`
}

// CrossoverTopology is what is best where on a topology.
type CrossoverTopology struct {
	Topology string          `json:"topology"`
	Hash     string          `json:"topology_hash"`
	Profile  string          `json:"profile"`
	Ranks    int             `json:"ranks"`
	Bands    []Band          `json:"bands"`
	Rows     []CrossoverSize `json:"rows"`
}

// Band is a range of sizes in which one algorithm, with its protocol, is the best.
type Band struct {
	SizeRange
	Best string `json:"best"`
}

// CrossoverSize is the best at a size, and what the best of another algorithm or protocol
// would lose.
type CrossoverSize struct {
	SizeBytes  int64   `json:"size_bytes"`
	Schedule   string  `json:"schedule"`
	TimeUS     float64 `json:"time_us"`
	BusBW      float64 `json:"busbw_GBps"`
	RunnerUp   string  `json:"runner_up"`
	RunnerLoss float64 `json:"runner_up_loss"`
}

// name is the topology with what sets it apart from the same with other nodes.
func (t *CrossoverTopology) name() string {
	return fmt.Sprintf("%s, %s", t.Topology, units.Counted(t.Ranks, "rank"))
}

// closest is the row of a band with the least loss; nil where there is no runner-up.
func (t *CrossoverTopology) closest(b Band) *CrossoverSize {
	var out *CrossoverSize
	for i := range t.Rows {
		r := &t.Rows[i]
		if r.SizeBytes >= b.From && r.SizeBytes <= b.To && r.RunnerUp != "" && (out == nil || r.RunnerLoss < out.RunnerLoss) {
			out = r
		}
	}
	return out
}

// WriteText prints a line for each band.
func (d *CrossoverDocument) WriteText(w io.Writer) error {
	out := &lines{w: w}
	for i := range d.Topologies {
		t := &d.Topologies[i]
		if i > 0 {
			out.printf("\n")
		}
		out.printf("%s on %s, profile %s\n\n", d.Collective, t.name(), t.Profile)
		tab := newTable(out)
		tab.AppendHeader(table.Row{"from", "to", "best", "closest runner-up"})
		alignRight(tab, 1, 2)
		for _, b := range t.Bands {
			closest := "-"
			if r := t.closest(b); r != nil {
				closest = fmt.Sprintf("%s +%.1f%% at %s", r.RunnerUp, 100*r.RunnerLoss, about(r.SizeBytes))
			}
			tab.AppendRow(table.Row{about(b.From), about(b.To), b.Best, closest})
		}
		tab.Render()
	}
	return out.err
}

// WriteCSV writes a line for each topology and size.
func (d *CrossoverDocument) WriteCSV(w io.Writer) error {
	rows := [][]string{{"topology", "ranks", "profile", "collective", "size_bytes", "schedule", "time_us", "busbw_GBps", "runner_up", "runner_up_loss"}}
	for _, t := range d.Topologies {
		for _, r := range t.Rows {
			loss := ""
			if r.RunnerUp != "" {
				loss = number(r.RunnerLoss)
			}
			rows = append(rows, []string{t.Topology, fmt.Sprint(t.Ranks), t.Profile, d.Collective, fmt.Sprint(r.SizeBytes), r.Schedule, number(r.TimeUS), number(r.BusBW), r.RunnerUp, loss})
		}
	}
	return writeCSV(w, rows)
}
