package report

import (
	"fmt"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"railyard/model/units"
)

// SimulatedJob is one of the collectives that ran at once.
type SimulatedJob struct {
	Name       string  `json:"name"` // as it was asked for
	Schedule   string  `json:"schedule"`
	Collective string  `json:"collective"`
	Ranks      string  `json:"ranks"` // 0-7,16
	SizeBytes  int64   `json:"size_bytes"`
	TimeUS     float64 `json:"time_us"`
	AloneUS    float64 `json:"alone_us"` // without the other jobs
	Slowdown   float64 `json:"slowdown"`
}

// SharedLink is the link on which jobs are most in one another's way.
type SharedLink struct {
	ID          string    `json:"id"`
	Class       string    `json:"class"`
	Utilisation float64   `json:"utilisation"`
	JobBytes    []float64 `json:"job_bytes"`
}

// Hashed says what a network costs that hashes flows instead of spreading transfers.
// Flows are counted from switch to switch, whether or not they go at once.
type Hashed struct {
	Seed      uint64  `json:"seed"`
	QPs       int     `json:"queue_pairs"`
	SpreadUS  float64 `json:"spread_us"` // had the network spread everything ideally
	Slowdown  float64 `json:"slowdown"`
	Transfers int     `json:"transfers"`
	Worst     float64 `json:"worst"`   // transfers on the fullest link
	Mean      float64 `json:"mean"`    // on the fullest link of a transfer's way
	Ideal     float64 `json:"spread"`  // on the fullest link, spread ideally
	Fullest   string  `json:"fullest"` // its name; "" without transfers
}

// Stragglers says what ranks that start late cost.
type Stragglers struct {
	Spec     []string `json:"stragglers"`
	Seed     *uint64  `json:"seed,omitempty"` // where chance decides
	LatestUS float64  `json:"latest_us"`      // the largest delay
	MeanUS   float64  `json:"mean_us"`
	PromptUS float64  `json:"prompt_us"` // had no rank been late
	Slowdown float64  `json:"slowdown"`
}

// Repeats are the times over seeds that follow one another.
type Repeats struct {
	Runs int     `json:"runs"`
	P50  float64 `json:"p50_us"`
	P95  float64 `json:"p95_us"`
	P99  float64 `json:"p99_us"`
}

// writeCompared prints what the run is compared with.
func (d *SimulateDocument) writeCompared(out *lines) {
	if d.HealthyUS > 0 {
		out.printf("healthy     slowdown %s against %.3f us on the whole machine\n", times(d.Slowdown), d.HealthyUS)
	}
	if d.IdleUS > 0 {
		out.printf("idle        slowdown %s against %.3f us without the background load\n", times(d.LoadSlowdown), d.IdleUS)
	}
	if h := d.Hashed; h != nil {
		out.printf("hashed      seed %d, queue pairs %d: slowdown %s against %.3f us, spread ideally\n", h.Seed, h.QPs, times(h.Slowdown), h.SpreadUS)
		if h.Transfers > 0 {
			out.printf("collisions  of %d transfers between switches, %.3g on the fullest link (%s), %.3g on the fullest of a transfer's way; spread, %.3g\n", h.Transfers, h.Worst, h.Fullest, h.Mean, h.Ideal)
		}
	}
	if s := d.Stragglers; s != nil {
		what := strings.Join(s.Spec, " ")
		if s.Seed != nil {
			what += fmt.Sprintf(", seed %d", *s.Seed)
		}
		out.printf("stragglers  %s: slowdown %s against %.3f us; the latest starts after %.3f us, the mean %.3f us\n", what, times(s.Slowdown), s.PromptUS, s.LatestUS, s.MeanUS)
	}
	if r := d.Repeats; r != nil {
		out.printf("seeds       %d: P50 %.3f us, P95 %.3f us, P99 %.3f us\n", r.Runs, r.P50, r.P95, r.P99)
	}
}

// writeJobs prints the jobs that ran at once.
func (d *SimulateDocument) writeJobs(out *lines) {
	if len(d.Jobs) == 0 {
		return
	}
	t := newTable(out)
	t.AppendHeader(table.Row{"job", "collective", "schedule", "ranks", "size", "time(us)", "alone(us)", "slowdown"})
	alignRight(t, 5, 6, 7, 8)
	for _, j := range d.Jobs {
		t.AppendRow(table.Row{j.Name, j.Collective, j.Schedule, j.Ranks, fmt.Sprint(units.Bytes(j.SizeBytes)), hundredths(j.TimeUS), hundredths(j.AloneUS), times(j.Slowdown)})
	}
	t.Render()
	if s := d.Shared; s != nil {
		parts := make([]string, len(s.JobBytes))
		for i, b := range s.JobBytes {
			parts[i] = fmt.Sprintf("%.0f", b)
		}
		out.printf("shared most: %s (%s), %s busy, bytes by job %s\n\n", s.ID, s.Class, percent(s.Utilisation), strings.Join(parts, " + "))
	} else {
		out.printf("no link is shared\n\n")
	}
}

func times(v float64) string { return fmt.Sprintf("%.2fx", v) }
