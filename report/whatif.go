package report

import (
	"fmt"
	"io"

	"railyard/model/units"
)

// WhatIfDocument is schema railyard.what-if/v1: a machine before and after a change.
type WhatIfDocument struct {
	Schema   string          `json:"schema"`
	Topology string          `json:"topology"`
	Changed  string          `json:"changed"`
	GPUs     int             `json:"gpus"`
	After    int             `json:"gpus_after"`
	Subject  string          `json:"subject"` // workload or collective
	By       string          `json:"by"`      // runtime or profile
	Rows     []WhatIfRow     `json:"rows"`
	Goodput  *WhatIfGoodput  `json:"goodput,omitempty"`
	Cost     *CostDifference `json:"cost,omitempty"`
	Notes    []string        `json:"notes"`
}

// WhatIfRow is a step, or a collective of one size. Slowdowns are times for the same work
// over those before; 0 where the plan cannot be kept.
type WhatIfRow struct {
	SizeBytes       int64   `json:"size_bytes,omitempty"`
	BeforeMS        float64 `json:"before_ms"`
	Plan            string  `json:"plan"`
	Limit           string  `json:"limit"`
	KeptMS          float64 `json:"kept_ms"`
	KeptSlowdown    float64 `json:"kept_slowdown"`
	KeptLimit       string  `json:"kept_limit,omitempty"`
	PlannedMS       float64 `json:"planned_ms"`
	PlannedSlowdown float64 `json:"planned_slowdown"`
	NewPlan         string  `json:"new_plan"`
	NewLimit        string  `json:"new_limit"`
	BeforeRate      float64 `json:"before_units_per_second,omitempty"`
	PlannedRate     float64 `json:"planned_units_per_second,omitempty"`
	Unit            string  `json:"unit,omitempty"`
}

// WhatIfGoodput is which share of the time is training that lasts.
type WhatIfGoodput struct {
	Rates         string        `json:"rates"`
	Source        string        `json:"rates_source"`
	CheckpointS   float64       `json:"checkpoint_s"`
	RestartS      float64       `json:"restart_s"`
	RepairS       float64       `json:"repair_s"`
	RunOn         []RunOn       `json:"run_on"`
	Seed          uint64        `json:"seed"`
	SimulatedDays float64       `json:"simulated_days"`
	Before        GoodputResult `json:"before"`
	After         GoodputResult `json:"after"`
}

// RunOn is a kind of part without which the job runs on.
type RunOn struct {
	Part     string  `json:"part"`
	Lost     string  `json:"lost"` // the one whose loss was looked at
	Slowdown float64 `json:"slowdown"`
}

// GoodputResult is a machine's; shares add up to 1. Played ones are of the Monte-Carlo run.
type GoodputResult struct {
	StopsADay     float64 `json:"stops_a_day"`
	MTBFHours     float64 `json:"mtbf_hours"` // 0: nothing stops it
	IntervalHours float64 `json:"checkpoint_interval_hours"`
	Goodput       float64 `json:"goodput"`
	Checkpoints   float64 `json:"checkpoints"`
	Lost          float64 `json:"lost"`
	Slowed        float64 `json:"slowed"`
	Played        float64 `json:"played_goodput"`
	PlayedStops   float64 `json:"played_stops_a_day"`
	Rate          float64 `json:"lasting_units_per_second,omitempty"`
}

// CostDifference is what the change costs.
type CostDifference struct {
	Currency    string  `json:"currency"`
	Prices      string  `json:"prices"`
	Date        string  `json:"prices_date"`
	Months      int     `json:"months"`
	Before      float64 `json:"purchase_before"`
	After       float64 `json:"purchase_after"`
	TotalBefore float64 `json:"total_before"`
	TotalAfter  float64 `json:"total_after"`
}

// Write writes the document as text, json or csv.
func (d *WhatIfDocument) Write(w io.Writer, format string) error {
	switch format {
	case "json":
		return WriteJSON(w, d)
	case "csv":
		return writeCSV(w, d.rows())
	}
	out := &lines{w: w}
	out.printf("%s on %s (%s) → %s (%s)\nby %s\n\n", d.Subject, d.Topology, units.Counted(d.GPUs, "GPU"), d.Changed, units.Counted(d.After, "GPU"), d.By)
	for i := range d.Rows {
		d.Rows[i].write(out)
	}
	d.Goodput.write(out)
	d.Cost.write(out)
	for _, n := range d.Notes {
		out.printf("note: %s\n", n)
	}
	return out.err
}

func (d *WhatIfDocument) rows() [][]string {
	rows := [][]string{{"size_bytes", "before_ms", "kept_ms", "kept_slowdown", "planned_ms", "planned_slowdown", "plan", "new_plan"}}
	for _, r := range d.Rows {
		rows = append(rows, []string{fmt.Sprint(r.SizeBytes), number(r.BeforeMS), number(r.KeptMS), number(r.KeptSlowdown), number(r.PlannedMS), number(r.PlannedSlowdown), r.Plan, r.NewPlan})
	}
	return rows
}

func (r *WhatIfRow) write(out *lines) {
	if r.SizeBytes > 0 {
		out.printf("%d bytes\n", r.SizeBytes)
	}
	t := newTable(out)
	t.AppendRow([]any{"", "ms", "slowdown", "plan", "limited by"})
	t.AppendRow([]any{"before", threeDigits(r.BeforeMS), "", r.Plan, orDash(r.Limit)})
	if r.KeptMS > 0 {
		t.AppendRow([]any{"plan kept", threeDigits(r.KeptMS), factor(r.KeptSlowdown), "the same", orDash(r.KeptLimit)})
	} else {
		t.AppendRow([]any{"plan kept", "-", "-", "does not run", "-"})
	}
	t.AppendRow([]any{"planned again", threeDigits(r.PlannedMS), factor(r.PlannedSlowdown), r.NewPlan, orDash(r.NewLimit)})
	alignRight(t, 2, 3)
	t.Render()
	if r.Unit != "" {
		out.printf("%s/s: %.5g before, %.5g planned again\n", r.Unit, r.BeforeRate, r.PlannedRate)
	}
	out.printf("\n")
}

func threeDigits(v float64) string {
	if v >= 100 {
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.4g", v)
}

func (g *WhatIfGoodput) write(out *lines) {
	if g == nil {
		return
	}
	out.printf("failures: %s (%s)\ncheckpoint %gs, restart %gs, repair %gs\n", g.Rates, g.Source, g.CheckpointS, g.RestartS, g.RepairS)
	for _, r := range g.RunOn {
		out.printf("runs on without a %s: %.3f times as long (%s)\n", r.Part, r.Slowdown, r.Lost)
	}
	t := newTable(out)
	t.AppendRow([]any{"where the time goes", "before", "after"})
	for _, x := range []struct {
		name string
		of   func(r *GoodputResult) string
	}{
		{"training that lasts", func(r *GoodputResult) string { return percent(r.Goodput) }},
		{"writing checkpoints", func(r *GoodputResult) string { return percent(r.Checkpoints) }},
		{"lost work and restarts", func(r *GoodputResult) string { return percent(r.Lost) }},
		{"slowed by missing parts", func(r *GoodputResult) string { return percent(r.Slowed) }},
		{"stops a day", func(r *GoodputResult) string { return fmt.Sprintf("%.3g", r.StopsADay) }},
		{"best checkpoint interval", func(r *GoodputResult) string { return fmt.Sprintf("%.3g h", r.IntervalHours) }},
		{fmt.Sprintf("training, played (seed %d)", g.Seed), func(r *GoodputResult) string { return percent(r.Played) }},
	} {
		t.AppendRow([]any{x.name, x.of(&g.Before), x.of(&g.After)})
	}
	alignRight(t, 2, 3)
	t.Render()
	out.printf("\n")
}

func (c *CostDifference) write(out *lines) {
	if c == nil {
		return
	}
	if c.Before == c.After && c.TotalBefore == c.TotalAfter {
		out.printf("nothing to buy: the cluster costs %s %s over %d months as before\n", c.Currency, money(c.TotalAfter), c.Months)
		return
	}
	out.printf("%s, prices %q of %s: purchase %s → %s (%s); over %d months %s → %s (%s)\n", c.Currency, c.Prices, c.Date,
		money(c.Before), money(c.After), signedMoney(c.After-c.Before), c.Months, money(c.TotalBefore), money(c.TotalAfter), signedMoney(c.TotalAfter-c.TotalBefore))
}

func signedMoney(v float64) string {
	if v < 0 {
		return "−" + money(-v)
	}
	return "+" + money(v)
}
