package report

import (
	"encoding/csv"
	"fmt"
	"io"

	"github.com/jedib0t/go-pretty/v6/table"

	"railyard/model/measurement"
	"railyard/model/units"
)

// PlanDocument is schema railyard.plan/v1.
type PlanDocument struct {
	Schema     string         `json:"schema"`
	Topology   string         `json:"topology"`
	Hash       string         `json:"topology_hash"`
	Profile    string         `json:"profile"`
	Ranks      int            `json:"ranks"`
	Rows       []PlanRow      `json:"rows"`
	Crossovers []CrossoverRow `json:"crossovers"`
}

// PlanRow is the best schedule for a size. bound_us is what no schedule can beat at
// line rate; of_bound is bound over time.
type PlanRow struct {
	Collective  string   `json:"collective"`
	SizeBytes   int64    `json:"size_bytes"`
	Schedule    string   `json:"schedule"`
	TimeUS      float64  `json:"time_us"`
	AlgBW       float64  `json:"algbw_GBps"`
	BusBW       float64  `json:"busbw_GBps"`
	BoundUS     float64  `json:"bound_us"`
	OfBound     float64  `json:"of_bound"`
	BoundCut    string   `json:"bound_cut"`
	Bottleneck  string   `json:"bottleneck"`
	RunnerUp    string   `json:"runner_up"`
	RunnerLoss  float64  `json:"runner_up_loss"`
	Warnings    []string `json:"warnings"`
	WhyNotOther []WhyRow `json:"considered,omitempty"`
}

// WhyRow is a candidate that was considered. Pruned ones carry a lower estimate.
type WhyRow struct {
	Schedule string  `json:"schedule"`
	TimeUS   float64 `json:"time_us"`
	Pruned   bool    `json:"pruned"`
	Limit    string  `json:"limited_by,omitempty"`
}

// CrossoverRow is a size from which on another schedule is best.
type CrossoverRow struct {
	SizeBytes int64  `json:"size_bytes"`
	From      string `json:"from"`
	To        string `json:"to"`
}

// WriteText prints the plan as a table.
func (d *PlanDocument) WriteText(w io.Writer) error {
	fmt.Fprintf(w, "%s, %d ranks, profile %s\n\n", d.Topology, d.Ranks, d.Profile)
	t := newTable(w)
	t.AppendHeader(table.Row{"size(B)", "schedule", "time(us)", "algbw", "busbw", "of bound", "runner-up", "limited by"})
	for _, r := range d.Rows {
		runner := "-"
		if r.RunnerUp != "" {
			runner = fmt.Sprintf("%s +%.0f%%", r.RunnerUp, 100*r.RunnerLoss)
		}
		t.AppendRow(table.Row{r.SizeBytes, r.Schedule, fmt.Sprintf("%.2f", r.TimeUS), fmt.Sprintf("%.2f", r.AlgBW), fmt.Sprintf("%.2f", r.BusBW),
			percent(r.OfBound), runner, r.Bottleneck})
	}
	t.Render()
	for _, c := range d.Crossovers {
		fmt.Fprintf(w, "from %v on: %s instead of %s\n", units.Bytes(c.SizeBytes), c.To, c.From)
	}
	d.writeWhy(w)
	writeWarnings(w, d.warnings())
	return nil
}

func (d *PlanDocument) writeWhy(w io.Writer) {
	for _, r := range d.Rows {
		if len(r.WhyNotOther) == 0 {
			continue
		}
		fmt.Fprintf(w, "\n%v: %s because of all that apply it takes least; no schedule can beat %.2f us: %s\n", units.Bytes(r.SizeBytes), r.Schedule, r.BoundUS, r.BoundCut)
		for _, c := range r.WhyNotOther {
			note := "  " + c.Limit
			if c.Pruned {
				note = " at least (its links or messages alone take that long; not simulated)"
			}
			fmt.Fprintf(w, "  %-32s %12.2f us%s\n", c.Schedule, c.TimeUS, note)
		}
	}
}

func (d *PlanDocument) warnings() map[string]int {
	out := map[string]int{}
	for _, r := range d.Rows {
		for _, x := range r.Warnings {
			out[x]++
		}
	}
	return out
}

// WriteCSV writes the rows.
func (d *PlanDocument) WriteCSV(w io.Writer) error {
	rows := [][]string{{"collective", "size_bytes", "schedule", "time_us", "algbw_GBps", "busbw_GBps", "bound_us", "bottleneck", "runner_up"}}
	for _, r := range d.Rows {
		rows = append(rows, []string{r.Collective, fmt.Sprint(r.SizeBytes), r.Schedule, fmt.Sprint(r.TimeUS), fmt.Sprint(r.AlgBW), fmt.Sprint(r.BusBW), fmt.Sprint(r.BoundUS), r.Bottleneck, r.RunnerUp})
	}
	return writeCSV(w, rows)
}

func writeCSV(w io.Writer, rows [][]string) error {
	out := csv.NewWriter(w)
	if err := out.WriteAll(rows); err != nil {
		return err
	}
	return out.Error()
}

// SimulateDocument is schema railyard.simulate/v1.
type SimulateDocument struct {
	Schema       string     `json:"schema"`
	Topology     string     `json:"topology"`
	Profile      string     `json:"profile"`
	Schedule     string     `json:"schedule"`
	Collective   string     `json:"collective"`
	SizeBytes    int64      `json:"size_bytes"`
	TimeUS       float64    `json:"time_us"`
	AlgBW        float64    `json:"algbw_GBps"`
	BusBW        float64    `json:"busbw_GBps"`
	LaunchUS     float64    `json:"launch_us"`
	AlphaUS      float64    `json:"alpha_us"`
	BetaUS       float64    `json:"beta_us"`
	ContentionUS float64    `json:"contention_us"`
	Sends        int64      `json:"sends"`
	Events       int64      `json:"events"`
	WallS        float64    `json:"wall_s"`
	Bottleneck   string     `json:"bottleneck"`
	RankBalance  float64    `json:"rank_balance"`
	LinkBalance  float64    `json:"link_balance"`
	Links        []LinkLoad `json:"links"`
	Warnings     []string   `json:"warnings"`
}

// LinkLoad is a link's load during a run.
type LinkLoad struct {
	ID          string  `json:"id"`
	Class       string  `json:"class"`
	Bytes       float64 `json:"bytes"`
	Utilisation float64 `json:"utilisation"`
}

// maxLinesOfLinks is how many links the text shows; JSON and CSV have all.
const maxLinesOfLinks = 16

// WriteText prints the prediction, its causes and the busiest links.
func (d *SimulateDocument) WriteText(w io.Writer) error {
	fmt.Fprintf(w, "%s of %v on %s by %s, profile %s\n\n", d.Collective, units.Bytes(d.SizeBytes), d.Topology, d.Schedule, d.Profile)
	fmt.Fprintf(w, "time        %.3f us = launch %.3f + latency %.3f + transfer %.3f + contention %.3f\n", d.TimeUS, d.LaunchUS, d.AlphaUS, d.BetaUS, d.ContentionUS)
	fmt.Fprintf(w, "algbw       %.2f GB/s, busbw %.2f GB/s\n", d.AlgBW, d.BusBW)
	fmt.Fprintf(w, "limited by  %s\n", d.Bottleneck)
	fmt.Fprintf(w, "balance     ranks %.0f %%, links %.0f %% (mean of maximum)\n", 100*d.RankBalance, 100*d.LinkBalance)
	fmt.Fprintf(w, "simulated   %d sends in %.3f s\n\n", d.Sends, d.WallS)
	t := newTable(w)
	t.AppendHeader(table.Row{"busiest links", "class", "bytes", "busy"})
	for i, l := range busiest(d.Links) {
		if i == maxLinesOfLinks {
			break
		}
		t.AppendRow(table.Row{l.ID, l.Class, fmt.Sprintf("%.0f", l.Bytes), percent(l.Utilisation)})
	}
	t.Render()
	if n := len(d.Links); n > maxLinesOfLinks {
		fmt.Fprintf(w, "… and %d more (--format json or csv shows all)\n", n-maxLinesOfLinks)
	}
	counts := map[string]int{}
	for _, x := range d.Warnings {
		counts[x]++
	}
	writeWarnings(w, counts)
	return nil
}

// WriteCSV writes the links.
func (d *SimulateDocument) WriteCSV(w io.Writer) error {
	rows := [][]string{{"link", "class", "bytes", "utilisation"}}
	for _, l := range d.Links {
		rows = append(rows, []string{l.ID, l.Class, fmt.Sprint(l.Bytes), fmt.Sprint(l.Utilisation)})
	}
	return writeCSV(w, rows)
}

// RunDocument is schema railyard.run/v1.
type RunDocument struct {
	Schema   string   `json:"schema"`
	Tool     string   `json:"tool"`
	Topology string   `json:"topology"`
	Hash     string   `json:"topology_hash"`
	Profile  string   `json:"profile"`
	Backend  string   `json:"backend"`
	Seed     int64    `json:"seed"`
	Timed    bool     `json:"timed"` // false: run for correctness only, the times mean nothing
	Rows     []RunRow `json:"rows"`
}

// RunRow is one size: what was predicted and what was measured.
type RunRow struct {
	Collective  string      `json:"collective"`
	SizeBytes   int64       `json:"size_bytes"`
	Count       int64       `json:"count"`
	DType       string      `json:"dtype"`
	RedOp       string      `json:"redop"`
	Root        int         `json:"root"`
	Schedule    string      `json:"schedule"`
	MeasuredUS  Percentiles `json:"measured_us"`
	AlgBW       float64     `json:"algbw_GBps"`
	BusBW       float64     `json:"busbw_GBps"`
	PredictedUS float64     `json:"predicted_us"`
	Error       float64     `json:"error"`
	Wrong       int64       `json:"wrong"`
}

// Percentiles are repeated timings in microseconds.
type Percentiles struct {
	Min    float64 `json:"min"`
	Median float64 `json:"median"`
	P95    float64 `json:"p95"`
	P99    float64 `json:"p99"`
	Max    float64 `json:"max"`
}

// NewPercentiles converts a summary.
func NewPercentiles(s measurement.Summary) Percentiles {
	us := func(d interface{ Nanoseconds() int64 }) float64 { return float64(d.Nanoseconds()) / 1e3 }
	return Percentiles{us(s.Min), us(s.Median), us(s.P95), us(s.P99), us(s.Max)}
}

// WriteText prints nccl-tests' columns, then the prediction and its error.
func (d *RunDocument) WriteText(w io.Writer) error {
	fmt.Fprintf(w, "# %s, backend %s, profile %s, seed %d\n", d.Topology, d.Backend, d.Profile, d.Seed)
	if !d.Timed {
		fmt.Fprintf(w, "# run for correctness only: this machine is not %s, so the measured times mean nothing\n", d.Topology)
	}
	t := newTable(w)
	t.AppendHeader(table.Row{"size(B)", "count", "type", "redop", "root", "time(us)", "algbw", "busbw", "#wrong", "p95", "predicted", "error", "schedule"})
	for _, r := range d.Rows {
		miss := percent(r.Error)
		if !d.Timed {
			miss = "-"
		}
		t.AppendRow(table.Row{r.SizeBytes, r.Count, r.DType, r.RedOp, r.Root, fmt.Sprintf("%.2f", r.MeasuredUS.Median), fmt.Sprintf("%.2f", r.AlgBW), fmt.Sprintf("%.2f", r.BusBW), r.Wrong,
			fmt.Sprintf("%.2f", r.MeasuredUS.P95), fmt.Sprintf("%.2f", r.PredictedUS), miss, r.Schedule})
	}
	t.Render()
	var wrong int64
	var bw float64
	errors := make([]float64, len(d.Rows))
	for i, r := range d.Rows {
		wrong += r.Wrong
		bw += r.BusBW / float64(len(d.Rows))
		errors[i] = r.Error
	}
	verdict := "OK"
	if wrong > 0 {
		verdict = "FAILED"
	}
	fmt.Fprintf(w, "# Out of bounds values : %d %s\n# Avg bus bandwidth    : %.5g\n", wrong, verdict, bw)
	if d.Timed {
		fmt.Fprintf(w, "# Prediction           : MAPE %s, geometric-mean factor %.3f\n", percent(measurement.MAPE(errors)), measurement.GeomeanFactor(errors))
	}
	return nil
}

// WriteCSV writes the rows in the form that compare reads.
func (d *RunDocument) WriteCSV(w io.Writer) error {
	rows := [][]string{{"collective", "size_bytes", "time_us", "dtype", "algbw_GBps", "busbw_GBps", "min_us", "p95_us", "p99_us", "max_us", "predicted_us", "error", "wrong", "schedule"}}
	for _, r := range d.Rows {
		m := r.MeasuredUS
		rows = append(rows, []string{r.Collective, fmt.Sprint(r.SizeBytes), fmt.Sprint(m.Median), r.DType, fmt.Sprint(r.AlgBW), fmt.Sprint(r.BusBW), fmt.Sprint(m.Min), fmt.Sprint(m.P95), fmt.Sprint(m.P99), fmt.Sprint(m.Max),
			fmt.Sprint(r.PredictedUS), fmt.Sprint(r.Error), fmt.Sprint(r.Wrong), r.Schedule})
	}
	return writeCSV(w, rows)
}
