package report

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"railyard/model/units"
)

// PlanDocument is schema railyard.plan/v1.
type PlanDocument struct {
	Schema     string         `json:"schema"`
	Topology   string         `json:"topology"`
	Hash       string         `json:"topology_hash"`
	Profile    string         `json:"profile"`
	Ranks      int            `json:"ranks"`
	Faults     []string       `json:"faults,omitempty"`
	LostRanks  []int          `json:"lost_ranks,omitempty"`
	Rows       []PlanRow      `json:"rows"`
	Crossovers []CrossoverRow `json:"crossovers"`
	Counts     *Counts        `json:"counts,omitempty"`
	Pareto     *Pareto        `json:"pareto,omitempty"`
}

// Counts is the matrix of an all_to_allv, in bytes.
type Counts struct {
	File       string `json:"file"`
	LargestRow int64  `json:"largest_row_bytes"`
	Total      int64  `json:"total_bytes"`
	ZeroPairs  int    `json:"zero_pairs"`
}

// PlanRow is the best schedule for a size. bound_us is what no schedule can beat, the
// larger of bandwidth_bound_us (at line rate) and latency_bound_us (how long a message
// travels at least; 0 where the profile counts no latencies); of_… is bound over time. Where parts of the machine have failed,
// healthy_us is the best time of the whole machine, slowdown the time over it, kept_us
// the time of the whole machine's plan on what is left (0 where it does not run; where kept_too_large says that it is too large to simulate, at least so long); where
// others load it, idle_us and load_slowdown are the same without them.
type PlanRow struct {
	Collective        string   `json:"collective"`
	SizeBytes         int64    `json:"size_bytes"`
	Schedule          string   `json:"schedule"`
	TimeUS            float64  `json:"time_us"`
	AlgBW             float64  `json:"algbw_GBps"`
	BusBW             float64  `json:"busbw_GBps"`
	BoundUS           float64  `json:"bound_us"`
	OfBound           float64  `json:"of_bound"`
	BoundCut          string   `json:"bound_cut"`
	BandwidthBoundUS  float64  `json:"bandwidth_bound_us"`
	OfBandwidthBound  float64  `json:"of_bandwidth_bound"`
	BandwidthBoundCut string   `json:"bandwidth_bound_cut"`
	LatencyBoundUS    float64  `json:"latency_bound_us"`
	OfLatencyBound    float64  `json:"of_latency_bound"`
	LatencyBoundCut   string   `json:"latency_bound_cut"`
	Bottleneck        string   `json:"bottleneck"`
	RunnerUp          string   `json:"runner_up"`
	RunnerLoss        float64  `json:"runner_up_loss"`
	Warnings          []string `json:"warnings"`
	HealthyUS         float64  `json:"healthy_us,omitempty"`
	Slowdown          float64  `json:"slowdown,omitempty"`
	KeptUS            float64  `json:"kept_us,omitempty"`
	KeptTooLarge      bool     `json:"kept_too_large,omitempty"`
	IdleUS            float64  `json:"idle_us,omitempty"`
	LoadSlowdown      float64  `json:"load_slowdown,omitempty"`
	WhyNotOther       []WhyRow `json:"considered,omitempty"`
	Library
}

// WhyRow is a candidate that was considered. Pruned ones carry a lower estimate, those
// that could have been faster by how much at most.
type WhyRow struct {
	Schedule string  `json:"schedule"`
	TimeUS   float64 `json:"time_us"`
	Pruned   bool    `json:"pruned"`
	Gain     float64 `json:"gain,omitempty"`
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
	out := &lines{w: w}
	out.printf("%s, %s, profile %s\n", d.Topology, units.Counted(d.Ranks, "rank"), d.Profile)
	if c := d.Counts; c != nil {
		out.printf("counts of %s: the largest row sends %d bytes, the mean %.0f; %d of %d pairs send nothing\n", c.File, c.LargestRow, float64(c.Total)/float64(d.Ranks), c.ZeroPairs, d.Ranks*d.Ranks)
	}
	out.printf("\n")
	t := newTable(out)
	header := table.Row{"size(B)", "schedule", "time(us)", "algbw(GB/s)", "busbw(GB/s)", "of bound", "of latency bound", "runner-up", "limited by"}
	right := []int{1, 3, 4, 5, 6, 7}
	degraded, loaded := len(d.Faults) > 0, d.loaded()
	if loaded {
		header = slices.Insert(header, 3, any("idle(us)"), any("load slowdown"))
		right = append(right, 8, 9)
	}
	if degraded {
		header = slices.Insert(header, 3, any("healthy(us)"), any("slowdown"), any("old plan(us)"))
		right = append(right, len(right)+2, len(right)+3, len(right)+4)
	}
	beside := d.beside()
	if beside {
		right = append(right, len(header)+2, len(header)+3, len(header)+4)
		header = append(header, libraryColumns...)
	}
	t.AppendHeader(header)
	alignRight(t, right...)
	for _, r := range d.Rows {
		runner := "-"
		if r.RunnerUp != "" {
			runner = fmt.Sprintf("%s +%.0f%%", r.RunnerUp, 100*r.RunnerLoss)
		}
		row := table.Row{r.SizeBytes, r.Schedule, hundredths(r.TimeUS), hundredths(r.AlgBW), hundredths(r.BusBW), percent(r.OfBound), percentOrDash(r.OfLatencyBound), runner, r.Bottleneck}
		if loaded {
			row = slices.Insert(row, 3, any(hundredths(r.IdleUS)), any(fmt.Sprintf("%.2fx", r.LoadSlowdown)))
		}
		if degraded {
			row = slices.Insert(row, 3, any(hundredths(r.HealthyUS)), any(fmt.Sprintf("%.2fx", r.Slowdown)), any(keptText(r)))
		}
		if beside {
			row = append(row, r.Library.cells()...)
		}
		t.AppendRow(row)
	}
	t.Render()
	d.writeBounds(out)
	for _, c := range d.Crossovers {
		out.printf("from %v on: %s instead of %s\n", units.Bytes(c.SizeBytes), c.To, c.From)
	}
	d.writePareto(out)
	d.writeWhy(out)
	writeCounts(out, "warning", d.warnings())
	return out.err
}

// writeBounds says what no schedule can beat and why: of one size both bounds, of several
// the one that is larger, from which size on.
func (d *PlanDocument) writeBounds(out *lines) {
	if len(d.Rows) == 1 && len(d.Rows[0].WhyNotOther) == 0 && d.Rows[0].BoundCut != "" {
		out.printf("%s\n", d.Rows[0].bounds())
	}
	for i, r := range d.Rows {
		if len(d.Rows) > 1 && r.BoundCut != "" && (i == 0 || r.BoundCut != d.Rows[i-1].BoundCut) {
			out.printf("bound from %v on: %s\n", units.Bytes(r.SizeBytes), r.BoundCut)
		}
	}
}

func (d *PlanDocument) writeWhy(out *lines) {
	for _, r := range d.Rows {
		if len(r.WhyNotOther) == 0 {
			continue
		}
		out.printf("\n%v: %s because of all that %s it takes least; %s\n", units.Bytes(r.SizeBytes), r.Schedule, r.candidates(), r.bounds())
		for _, c := range r.WhyNotOther {
			out.printf("  %-32s %12.2f us%s\n", c.Schedule, c.TimeUS, strings.TrimRight(c.note(), " "))
		}
	}
}

// candidates says of what a plan is the best.
func (r *PlanRow) candidates() string {
	if slices.ContainsFunc(r.WhyNotOther, func(c WhyRow) bool { return c.Gain > 0 }) {
		return "were simulated"
	}
	return "apply"
}

// note is what limits a candidate, or why it was not simulated.
func (c *WhyRow) note() string {
	switch {
	case c.Gain > 0:
		return fmt.Sprintf(" at least (faster by %s at most, which was not worth its simulation)", smallPercent(c.Gain))
	case c.Pruned:
		return " at least (its links or messages alone take that long; not simulated)"
	}
	return "  " + c.Limit
}

// smallPercent is a share of one with two digits that count.
func smallPercent(x float64) string { return strconv.FormatFloat(100*x, 'g', 2, 64) + " %" }

// bounds says what no schedule can beat, the larger bound first.
func (r *PlanRow) bounds() string {
	s := fmt.Sprintf("no schedule can beat %.2f us: %s", r.BoundUS, r.BoundCut)
	switch {
	case r.LatencyBoundUS == 0 || r.BandwidthBoundUS == 0:
	case r.BoundUS == r.LatencyBoundUS:
		s += fmt.Sprintf("; nor %.2f us: %s", r.BandwidthBoundUS, r.BandwidthBoundCut)
	default:
		s += fmt.Sprintf("; nor %.2f us: %s", r.LatencyBoundUS, r.LatencyBoundCut)
	}
	return s
}

// beside reports whether the library is put beside any row.
func (d *PlanDocument) beside() bool {
	return slices.ContainsFunc(d.Rows, func(r PlanRow) bool { return r.known() })
}

// loaded reports whether others load the machine.
func (d *PlanDocument) loaded() bool {
	return slices.ContainsFunc(d.Rows, func(r PlanRow) bool { return r.IdleUS > 0 })
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

// WriteCSV writes the rows, or the front where there is one.
func (d *PlanDocument) WriteCSV(w io.Writer) error {
	if d.Pareto != nil {
		return d.Pareto.writeCSV(w)
	}
	rows := [][]string{{"collective", "size_bytes", "schedule", "time_us", "algbw_GBps", "busbw_GBps", "bound_us", "bottleneck", "runner_up", "runner_up_loss", "bound_cut", "warnings", "healthy_us", "slowdown", "of_bound", "latency_bound_us", "of_latency_bound", "idle_us", "load_slowdown", "kept_us"}}
	rows[0] = append(append(rows[0], libraryHeader...), "bandwidth_bound_us", "of_bandwidth_bound", "bandwidth_bound_cut", "latency_bound_cut", "kept_too_large")
	for _, r := range d.Rows {
		healthy, slowdown, kept, tooLarge := "", "", "", "" // nothing has failed
		if len(d.Faults) > 0 {
			healthy, slowdown, kept = number(r.HealthyUS), number(r.Slowdown), positive(r.KeptUS)
			if r.KeptUS > 0 {
				tooLarge = strconv.FormatBool(r.KeptTooLarge)
			}
		}
		idle, busy := "", "" // nobody else is there
		if d.loaded() {
			idle, busy = number(r.IdleUS), number(r.LoadSlowdown)
		}
		rows = append(rows, []string{r.Collective, fmt.Sprint(r.SizeBytes), r.Schedule, number(r.TimeUS), number(r.AlgBW), number(r.BusBW), number(r.BoundUS),
			r.Bottleneck, r.RunnerUp, number(r.RunnerLoss), r.BoundCut, strings.Join(r.Warnings, "; "), healthy, slowdown, number(r.OfBound), number(r.LatencyBoundUS), number(r.OfLatencyBound), idle, busy, kept})
		rows[len(rows)-1] = append(append(rows[len(rows)-1], r.csv()...), number(r.BandwidthBoundUS), number(r.OfBandwidthBound), r.BandwidthBoundCut, r.LatencyBoundCut, tooLarge)
	}
	return writeCSV(w, rows)
}

// keptText is how long the whole machine's plan takes on what is left.
func keptText(r PlanRow) string {
	if r.KeptUS == 0 {
		return "does not run"
	}
	loss := 100 * (r.KeptUS/max(r.TimeUS, 1e-6) - 1)
	switch {
	case r.KeptTooLarge && loss < 0:
		return fmt.Sprintf("at least %s", hundredths(r.KeptUS))
	case r.KeptTooLarge:
		return fmt.Sprintf("at least %s +%.0f%%", hundredths(r.KeptUS), loss)
	}
	return fmt.Sprintf("%s +%.0f%%", hundredths(r.KeptUS), loss)
}
