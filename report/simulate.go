package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/jedib0t/go-pretty/v6/table"

	"railyard/model/units"
)

// SimulateDocument is schema railyard.simulate/v1. Of several jobs, times and bandwidths
// are the first one's; sends, links and what limits are about all.
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
	Bottleneck   string     `json:"bottleneck"`
	RankBalance  float64    `json:"rank_balance"`
	LinkBalance  float64    `json:"link_balance"`
	Links        []LinkLoad `json:"links"`
	Warnings     []string   `json:"warnings"`
	Library

	DelayUS      float64        `json:"delay_us,omitempty"` // late ranks' part of the time
	Faults       []string       `json:"faults,omitempty"`
	HealthyUS    float64        `json:"healthy_us,omitempty"`
	Slowdown     float64        `json:"slowdown,omitempty"` // against the healthy machine
	IdleUS       float64        `json:"idle_us,omitempty"`
	LoadSlowdown float64        `json:"load_slowdown,omitempty"` // against the machine without background traffic
	Jobs         []SimulatedJob `json:"jobs,omitempty"`          // where there are several
	Shared       *SharedLink    `json:"shared_link,omitempty"`
	Hashed       *Hashed        `json:"ecmp,omitempty"`
	Stragglers   *Stragglers    `json:"stragglers,omitempty"`
	Repeats      *Repeats       `json:"repeats,omitempty"`
}

// LinkLoad is a link's load during a run; of a large machine, the load of Count equal
// links, of which ID is the first.
type LinkLoad struct {
	ID          string  `json:"id"`
	Count       int     `json:"count"`
	Class       string  `json:"class"`
	Bytes       float64 `json:"bytes"`
	Utilisation float64 `json:"utilisation"`
}

// maxLinesOfLinks is how many links the text shows; JSON and CSV have all.
const maxLinesOfLinks = 16

// WriteText prints the prediction, its causes and the busiest links.
func (d *SimulateDocument) WriteText(w io.Writer) error {
	out := &lines{w: w}
	out.printf("%s of %v on %s by %s, profile %s\n\n", d.Collective, units.Bytes(d.SizeBytes), d.Topology, d.Schedule, d.Profile)
	out.printf("time        %.3f us = launch %.3f + latency %.3f + transfer %.3f + contention %.3f", d.TimeUS, d.LaunchUS, d.AlphaUS, d.BetaUS, d.ContentionUS)
	if d.Stragglers != nil {
		out.printf(" + delay %.3f", d.DelayUS)
	}
	out.printf("\n")
	out.printf("algbw       %.2f GB/s, busbw %.2f GB/s\n", d.AlgBW, d.BusBW)
	out.printf("limited by  %s\n", d.Bottleneck)
	if d.known() {
		x := d.Library.cells()
		out.printf("NCCL        %v in %v us as it runs here, %v us by its own model, %v us measured\n", x[0], x[1], x[2], x[3])
	}
	out.printf("balance     ranks %.0f %%, links %.0f %% (mean of maximum)\n", 100*d.RankBalance, 100*d.LinkBalance)
	out.printf("simulated   %s, %s\n", units.Counted(d.Sends, "send"), units.Counted(d.Events, "event"))
	d.writeCompared(out)
	out.printf("\n")
	d.writeJobs(out)
	t := newTable(out)
	t.AppendHeader(table.Row{"busiest links", "class", "bytes", "busy"})
	alignRight(t, 3, 4)
	for i, l := range busiest(d.Links) {
		if i == maxLinesOfLinks {
			break
		}
		id := l.ID
		if l.Count > 1 {
			id += fmt.Sprintf(" and %d like it", l.Count-1)
		}
		t.AppendRow(table.Row{id, l.Class, fmt.Sprintf("%.0f", l.Bytes), percent(l.Utilisation)})
	}
	t.Render()
	if n := len(d.Links); n > maxLinesOfLinks {
		out.printf("… and %d more (--format json or csv shows all)\n", n-maxLinesOfLinks)
	}
	counts := map[string]int{}
	for _, x := range d.Warnings {
		counts[x]++
	}
	writeCounts(out, "warning", counts)
	return out.err
}

// busiest sorts links by utilisation, busiest first.
func busiest(links []LinkLoad) []LinkLoad {
	out := slices.Clone(links)
	slices.SortStableFunc(out, func(a, b LinkLoad) int { return cmp.Compare(b.Utilisation, a.Utilisation) })
	return out
}

// WriteCSV writes the links.
func (d *SimulateDocument) WriteCSV(w io.Writer) error {
	rows := [][]string{{"link", "count", "class", "bytes", "utilisation"}}
	for _, l := range d.Links {
		rows = append(rows, []string{l.ID, strconv.Itoa(l.Count), l.Class, number(l.Bytes), number(l.Utilisation)})
	}
	return writeCSV(w, rows)
}
