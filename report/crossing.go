package report

import (
	"fmt"
	"io"

	"github.com/jedib0t/go-pretty/v6/table"

	"railyard/model/units"
)

// CrossingDocument is schema railyard.crossing/v1: a transfer between nodes in steps.
type CrossingDocument struct {
	Schema        string         `json:"schema"`
	Topology      string         `json:"topology"`
	From          string         `json:"from"`
	To            string         `json:"to"`
	SizeBytes     int64          `json:"size_bytes"`
	Compress      string         `json:"compress"`
	Staged        bool           `json:"host_staged"`
	Initiated     string         `json:"initiated"`
	QueuePairs    int            `json:"queue_pairs"`
	Pieces        int            `json:"pieces"`
	TimeUS        float64        `json:"time_us"`
	SerialUS      float64        `json:"serial_us"`
	SynchroniseUS float64        `json:"synchronise_us"`
	GBps          float64        `json:"GBps"`
	Slowest       string         `json:"slowest"`
	Steps         []CrossingStep `json:"steps"`
}

// CrossingStep is a step; BusyUS is over all pieces.
type CrossingStep struct {
	Name    string  `json:"name"`
	Bytes   int64   `json:"bytes"`
	GBps    float64 `json:"GBps"`
	AlphaUS float64 `json:"alpha_us"`
	BusyUS  float64 `json:"busy_us"`
}

// Write writes the document as text, json or csv.
func (d *CrossingDocument) Write(w io.Writer, format string) error {
	switch format {
	case "json":
		return WriteJSON(w, d)
	case "csv":
		rows := [][]string{{"step", "bytes", "GBps", "alpha_us", "busy_us"}}
		for _, s := range d.Steps {
			rows = append(rows, []string{s.Name, fmt.Sprint(s.Bytes), number(s.GBps), number(s.AlphaUS), number(s.BusyUS)})
		}
		return writeCSV(w, rows)
	}
	out := &lines{w: w}
	out.printf("%v from %s to %s on %s, on the wire as %s, posted by %s\n\n", units.Bytes(d.SizeBytes), d.From, d.To, d.Topology, d.Compress, d.Initiated)
	t := newTable(out)
	t.AppendHeader(table.Row{"step", "bytes", "GB/s", "latency(us)", "busy(us)"})
	alignRight(t, 2, 3, 4, 5)
	for _, s := range d.Steps {
		t.AppendRow(table.Row{s.Name, s.Bytes, fmt.Sprintf("%.1f", s.GBps), fmt.Sprintf("%.2f", s.AlphaUS), fmt.Sprintf("%.1f", s.BusyUS)})
	}
	t.Render()
	out.printf("\n%.1f us in %s, synchronisation %.2f us included; %.1f us one step after the other\n", d.TimeUS, pieces(d.Pieces), d.SynchroniseUS, d.SerialUS)
	out.printf("%.1f GB/s; the slowest step is %s\n", d.GBps, d.Slowest)
	return out.err
}

// pieces says in how many a transfer is cut.
func pieces(n int) string {
	if n == 1 {
		return "one piece"
	}
	return units.Counted(n, "piece") + " that overlap"
}
