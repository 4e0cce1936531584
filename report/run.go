package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"railyard/model/measurement"
)

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
	Library
}

// Percentiles are repeated timings in microseconds; see measurement.Summarise.
type Percentiles struct {
	Min    float64 `json:"min"`
	Median float64 `json:"median"`
	P95    float64 `json:"p95"`
	P99    float64 `json:"p99"`
	Max    float64 `json:"max"`
	Mean   float64 `json:"mean"`
}

// NewPercentiles converts a summary.
func NewPercentiles(s measurement.Summary) Percentiles {
	us := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 }
	return Percentiles{us(s.Min), us(s.Median), us(s.P95), us(s.P99), us(s.Max), us(s.Mean)}
}

// WriteText prints nccl-tests' columns and footers, and the prediction with its error.
func (d *RunDocument) WriteText(w io.Writer) error {
	out := &lines{w: w}
	out.printf("# %s, backend %s, profile %s, seed %d\n", d.Topology, d.Backend, d.Profile, d.Seed)
	if !d.Timed {
		out.printf("# run for correctness only: this machine is not %s, so the measured times mean nothing\n", d.Topology)
	}
	if d.Timed {
		out.printf("# time(us) is the median of the iterations, error is predicted(us) against it: below 0, the prediction is too short\n")
	}
	t := newTable(out)
	header := table.Row{"size(B)", "count(elements)", "type", "redop", "root", "time(us)", "algbw(GB/s)", "busbw(GB/s)", "#wrong", "p95(us)", "predicted(us)", "error", "schedule"}
	beside := slices.ContainsFunc(d.Rows, func(r RunRow) bool { return r.known() })
	if beside {
		header = append(header, libraryColumns...)
	}
	t.AppendHeader(header)
	alignRight(t, 1, 2, 5, 6, 7, 8, 9, 10, 11, 12, 15, 16, 17)
	for _, r := range d.Rows {
		missed := signedPercent(r.Error)
		if !d.Timed {
			missed = "-"
		}
		row := table.Row{r.SizeBytes, r.Count, r.DType, r.RedOp, r.Root, hundredths(r.MeasuredUS.Median), hundredths(r.AlgBW), hundredths(r.BusBW), r.Wrong,
			hundredths(r.MeasuredUS.P95), hundredths(r.PredictedUS), missed, r.Schedule}
		if beside {
			row = append(row, r.Library.cells()...)
		}
		t.AppendRow(row)
	}
	t.Render()
	d.writeFooter(out)
	return out.err
}

// writeFooter prints the two footers that scripts look for in nccl-tests' output; the
// average is over all sizes, so it is no peak.
func (d *RunDocument) writeFooter(out *lines) {
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
	out.printf("# Out of bounds values : %d %s\n# Avg bus bandwidth    : %.5g\n", wrong, verdict, bw)
	if d.Timed && len(d.Rows) > 0 {
		out.printf("# Prediction           : MAPE %s, geometric-mean factor %s\n", percent(measurement.MAPE(errors)), factor(measurement.GeomeanFactor(errors)))
	}
	if d.Timed && d.Backend == "host" {
		d.writeMisses(out)
	}
}

// miss is from which error on a size is pointed out.
const miss = 0.15

// writeMisses says which predictions of a host miss, and why as far as the times tell: where
// the fastest iteration took what was predicted, the others were disturbed.
func (d *RunDocument) writeMisses(out *lines) {
	var disturbed, missed []string
	for _, r := range d.Rows {
		switch fastest := r.MeasuredUS.Min; {
		case math.Abs(r.Error) <= miss:
		case r.Error < 0 && fastest*(1-miss) <= r.PredictedUS:
			disturbed = append(disturbed, fmt.Sprintf("%d (%.2f us)", r.SizeBytes, fastest))
		default:
			missed = append(missed, fmt.Sprint(r.SizeBytes))
		}
	}
	if len(disturbed) > 0 {
		out.printf("# Disturbed            : %s: the fastest iteration took what was predicted, half of them longer; others use this machine's processors or caches\n", strings.Join(disturbed, ", "))
	}
	if len(missed) > 0 {
		out.printf("# Missed               : %s: by more than %.0f %%; run again, since a busy machine also calibrates badly\n", strings.Join(missed, ", "), 100*miss)
	}
}

// WriteCSV writes the rows in the form that compare reads.
func (d *RunDocument) WriteCSV(w io.Writer) error {
	rows := [][]string{{"collective", "size_bytes", "time_us", "dtype", "algbw_GBps", "busbw_GBps", "min_us", "p95_us", "p99_us", "max_us", "predicted_us", "error", "wrong", "schedule"}}
	rows[0] = append(rows[0], libraryHeader...)
	for _, r := range d.Rows {
		m := r.MeasuredUS
		rows = append(rows, []string{r.Collective, fmt.Sprint(r.SizeBytes), number(m.Median), r.DType, number(r.AlgBW), number(r.BusBW), number(m.Min), number(m.P95), number(m.P99), number(m.Max),
			number(r.PredictedUS), number(r.Error), fmt.Sprint(r.Wrong), r.Schedule})
		rows[len(rows)-1] = append(rows[len(rows)-1], r.csv()...)
	}
	return writeCSV(w, rows)
}
