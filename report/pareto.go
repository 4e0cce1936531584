package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
)

// Pareto is what a choice of schedules can trade latency for bandwidth: those that no
// other beats in both, lowest latency first.
type Pareto struct {
	SmallBytes int64         `json:"small_bytes"` // where latency is taken
	LargeBytes int64         `json:"large_bytes"` // where bandwidth is taken
	Points     []ParetoPoint `json:"points"`
}

// ParetoPoint is a schedule. One that is not on the front is best at some size in between.
type ParetoPoint struct {
	Schedule  string      `json:"schedule"`
	LatencyUS float64     `json:"latency_us"`
	LargeUS   float64     `json:"large_us"`
	PerByte   float64     `json:"ps_per_byte"`
	AlgBW     float64     `json:"algbw_GBps"`
	BusBW     float64     `json:"busbw_GBps"`
	OnFront   bool        `json:"on_front"`
	Best      []SizeRange `json:"best"` // empty where another one is faster at every size
}

// SizeRange is from the first size to the last one.
type SizeRange struct {
	From int64 `json:"from_bytes"`
	To   int64 `json:"to_bytes"`
}

// String is the range with its sizes in three digits.
func (r SizeRange) String() string {
	if r.From == r.To {
		return about(r.From)
	}
	return about(r.From) + "–" + about(r.To)
}

// about is a size in three digits, rounded to the nearest.
func about(size int64) string {
	v, unit := float64(size), 0
	units := []string{"B", "KiB", "MiB", "GiB", "TiB", "PiB"}
	for ; v >= 999.5 && unit+1 < len(units); unit++ {
		v /= 1024
	}
	return fmt.Sprintf("%.3g%s", v, units[unit])
}

// writePareto prints the front.
func (d *PlanDocument) writePareto(out *lines) {
	if d.Pareto == nil {
		return
	}
	out.printf("\nNo schedule beats these in both latency (at %s) and bandwidth (at %s):\n\n", about(d.Pareto.SmallBytes), about(d.Pareto.LargeBytes))
	t := newTable(out)
	t.AppendHeader(table.Row{"schedule", "latency(us)", "ps/byte", "algbw(GB/s)", "busbw(GB/s)", "best at"})
	alignRight(t, 2, 3, 4, 5)
	for _, p := range d.Pareto.Points {
		name := p.Schedule
		if !p.OnFront {
			name += " (beaten at both ends)"
		}
		t.AppendRow(table.Row{name, hundredths(p.LatencyUS), factor(p.PerByte), hundredths(p.AlgBW), hundredths(p.BusBW), p.bestAt()})
	}
	t.Render()
}

func (p *ParetoPoint) bestAt() string {
	if len(p.Best) == 0 {
		return "no size asked for"
	}
	var out []string
	for _, r := range p.Best {
		out = append(out, r.String())
	}
	return strings.Join(out, ", ")
}

// writeCSV writes a line for each range, or one without.
func (p *Pareto) writeCSV(w io.Writer) error {
	rows := [][]string{{"schedule", "latency_us", "large_us", "ps_per_byte", "algbw_GBps", "busbw_GBps", "on_front", "from_bytes", "to_bytes"}}
	for _, x := range p.Points {
		row := []string{x.Schedule, number(x.LatencyUS), number(x.LargeUS), number(x.PerByte), number(x.AlgBW), number(x.BusBW), fmt.Sprint(x.OnFront)}
		if len(x.Best) == 0 {
			rows = append(rows, append(row, "", ""))
		}
		for _, r := range x.Best {
			rows = append(rows, append(row[:len(row):len(row)], fmt.Sprint(r.From), fmt.Sprint(r.To)))
		}
	}
	return writeCSV(w, rows)
}
