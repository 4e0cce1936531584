package report

import (
	"fmt"
	"io"

	"railyard/model/units"
)

// LimitsDocument is schema railyard.limits/v1: how closely a job's GPUs have to lie.
type LimitsDocument struct {
	Schema   string     `json:"schema"`
	Topology string     `json:"topology"`
	Subject  string     `json:"subject"`
	By       string     `json:"by"`
	GPUs     int        `json:"gpus"`
	Within   float64    `json:"within"` // allowed slowdown, as a share
	Tier     string     `json:"tier"`   // the widest placement within it; "" where the closest is too slow
	Rows     []LimitRow `json:"rows"`
	Slurm    []string   `json:"slurm"`
	Kueue    []string   `json:"kueue"`
	Notes    []string   `json:"notes"`
}

// LimitRow is a placement; its slowdown is over the fastest of all.
type LimitRow struct {
	Tier     string  `json:"tier"`
	Nodes    int     `json:"nodes"`
	Groups   int     `json:"groups"`
	TimeMS   float64 `json:"time_ms"`
	Slowdown float64 `json:"slowdown"`
	Limit    string  `json:"limit"`
	Within   bool    `json:"within"`
}

// Write writes the document as text, json or csv.
func (d *LimitsDocument) Write(w io.Writer, format string) error {
	switch format {
	case "json":
		return WriteJSON(w, d)
	case "csv":
		rows := [][]string{{"tier", "nodes", "groups", "time_ms", "slowdown", "within", "limit"}}
		for _, r := range d.Rows {
			rows = append(rows, []string{r.Tier, fmt.Sprint(r.Nodes), fmt.Sprint(r.Groups), number(r.TimeMS), number(r.Slowdown), fmt.Sprint(r.Within), r.Limit})
		}
		return writeCSV(w, rows)
	}
	out := &lines{w: w}
	out.printf("%s with %s on %s, by %s\n\n", d.Subject, units.Counted(d.GPUs, "GPU"), d.Topology, d.By)
	t := newTable(out)
	t.AppendRow([]any{"placement", "nodes", "ms", "slowdown", fmt.Sprintf("within %g %%", 100*d.Within), "limited by"})
	for _, r := range d.Rows {
		where := "in one " + r.Tier
		if r.Tier == "spread" {
			where = fmt.Sprintf("spread over %d", r.Groups)
		}
		yes := "no"
		if r.Within {
			yes = "yes"
		}
		t.AppendRow([]any{where, r.Nodes, threeDigits(r.TimeMS), factor(r.Slowdown), yes, orDash(r.Limit)})
	}
	alignRight(t, 2, 3, 4)
	t.Render()
	out.printf("\n")
	for _, block := range []struct {
		name  string
		lines []string
	}{{"Slurm", d.Slurm}, {"Kubernetes (Kueue)", d.Kueue}} {
		out.printf("%s:\n", block.name)
		for _, line := range block.lines {
			out.printf("  %s\n", line)
		}
	}
	for _, n := range d.Notes {
		out.printf("note: %s\n", n)
	}
	return out.err
}
