package report

import (
	"fmt"
	"math"
	"strings"
	"time"

	"railyard/model/measurement"
	"railyard/report/table"
)

// RunDocument is what was predicted and measured for each size.
type RunDocument struct {
	Schema    string   `json:"schema" const:"railyard.run/v1" doc:"measured sizes beside their predictions"`
	Tool      string   `json:"tool"`
	Topology  string   `json:"topology"`
	Hash      string   `json:"topology_hash"`
	Profile   string   `json:"profile"`
	Backend   string   `json:"backend" doc:"host or cuda"`
	Seed      int64    `json:"seed" as:"precise"`
	Processes int      `json:"processes,omitempty" doc:"that ran the ranks together; absent for one"`
	Timed     bool     `json:"timed" doc:"false: run for correctness only, the times mean nothing"`
	Others    float64  `json:"others,omitempty" as:"share" doc:"of this machine's processors, which other programs kept busy meanwhile"`
	Crowd     float64  `json:"ranks_per_processor,omitempty" doc:"of processes on rank 0's machine, where it has fewer processors"`
	Replans   []Replan `json:"replans,omitempty" doc:"sizes planned again before a repetition, as the load of links had changed"`
	Rows      []RunRow `json:"rows" csv:""`
}

// Replan is a size that was planned again.
type Replan struct {
	Repetition  int     `json:"repetition" doc:"before which"`
	Change      string  `json:"change" doc:"links whose load changed most, in shares of their line rates"`
	SizeBytes   int64   `json:"size_bytes"`
	Before      string  `json:"schedule_before"`
	KeptUS      float64 `json:"kept_us" doc:"what that would take with the load as it is now"`
	After       string  `json:"schedule" doc:"the same where it is still the fastest"`
	PredictedUS float64 `json:"predicted_us" doc:"what that takes"`
}

// Shows implements table.Showing: what was planned again stands below the rows, in words.
func (d *RunDocument) Shows(key string) bool { return key == "rows" }

// RunRow is one size.
type RunRow struct {
	Collective  string      `json:"collective"`
	SizeBytes   int64       `json:"size_bytes" text:"size"`
	Count       int64       `json:"count" doc:"elements"`
	DType       string      `json:"dtype"`
	RedOp       string      `json:"redop"`
	Root        int         `json:"root" as:"signed"`
	Schedule    string      `json:"schedule" text:"schedule"`
	MeasuredUS  Percentiles `json:"measured_us" doc:"over the iterations"`
	AlgBW       float64     `json:"algbw_GBps"`
	BusBW       float64     `json:"busbw_GBps" text:"busbw"`
	PredictedUS float64     `json:"predicted_us" text:"predicted"`
	Error       float64     `json:"error" text:"error" as:"error" doc:"of the prediction; below 0: too short"`
	Wrong       int64       `json:"wrong" text:"wrong" doc:"elements"`
	Slowest     string      `json:"slowest_rank,omitempty" doc:"of several processes: by the median of its iterations"`
	Repetition  int         `json:"repetition,omitempty" text:"repetition" doc:"of several, from 1"`
	Library
	Warnings []string `json:"warnings" note:"warning"`
}

// RankTimes are the iterations of one rank for one size, until it had ended.
type RankTimes struct {
	SizeBytes int64     `json:"size_bytes"`
	Rank      int       `json:"rank"`
	Node      string    `json:"node,omitempty"`
	TimesUS   []float64 `json:"times_us"`
}

// Percentiles are repeated timings in microseconds; see measurement.Summarise.
type Percentiles struct {
	Min    float64 `json:"min" csv:"min_us" as:"us"`
	Median float64 `json:"median" csv:"time_us" text:"time" as:"us"`
	P95    float64 `json:"p95" csv:"p95_us" as:"us"`
	P99    float64 `json:"p99" csv:"p99_us" as:"us"`
	Max    float64 `json:"max" csv:"max_us" as:"us"`
	Mean   float64 `json:"mean" csv:"mean_us" as:"us"`
}

// NewPercentiles converts a summary.
func NewPercentiles(s measurement.Summary) Percentiles {
	us := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 }
	return Percentiles{us(s.Min), us(s.Median), us(s.P95), us(s.P99), us(s.Max), us(s.Mean)}
}

// Footer has the two lines that scripts look for in nccl-tests' output (the average is over all sizes, so it is no peak), and the
// errors of the predictions.
func (d *RunDocument) Footer() []string {
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
	out := []string{fmt.Sprintf("# Out of bounds values : %d %s", wrong, verdict), fmt.Sprintf("# Avg bus bandwidth    : %.5g", bw)}
	if d.Timed && len(d.Rows) > 0 {
		out = append(out, fmt.Sprintf("# Prediction           : MAPE %s, geometric-mean factor %.3f",
			table.Percent(measurement.MAPE(errors)), measurement.GeomeanFactor(errors)))
	}
	for i := range d.Replans {
		out = append(out, d.replanned(i)...)
	}
	if name, times := d.slowest(); times > 0 {
		out = append(out, fmt.Sprintf("# Slowest rank         : %s, at %d of %d sizes", name, times, len(d.Rows)))
	}
	if d.Timed && d.Backend == "host" {
		out = append(out, d.misses()...)
	}
	return out
}

// replanned says what was planned again for a size, and what it took before and since; the first of a repetition says why.
func (d *RunDocument) replanned(i int) (out []string) {
	x := &d.Replans[i]
	if i == 0 || d.Replans[i-1].Repetition != x.Repetition {
		out = append(out, fmt.Sprintf("# Before repetition %d  : the load has changed: %s", x.Repetition, x.Change))
	}
	what := fmt.Sprintf("%s → %s, predicted %s → %s", x.Before, x.After, table.Microseconds(x.KeptUS),
		table.Microseconds(x.PredictedUS))
	if x.Before == x.After {
		what = fmt.Sprintf("%s is still the fastest, predicted %s", x.Before, table.Microseconds(x.PredictedUS))
	}
	took := func(repetition int) string {
		for _, r := range d.Rows {
			if r.Repetition == repetition && r.SizeBytes == x.SizeBytes {
				return table.Microseconds(r.MeasuredUS.Median)
			}
		}
		return "?"
	}
	return append(out, fmt.Sprintf("#   %s: %s; took %s before, %s since", table.Bytes(float64(x.SizeBytes)), what, took(x.Repetition-1),
		took(x.Repetition)))
}

// slowest is the rank that was slowest at most sizes, the first of equals.
func (d *RunDocument) slowest() (name string, times int) {
	count := map[string]int{}
	for _, r := range d.Rows {
		if r.Slowest != "" {
			count[r.Slowest]++
		}
	}
	for _, r := range d.Rows {
		if count[r.Slowest] > times {
			name, times = r.Slowest, count[r.Slowest]
		}
	}
	return name, times
}

// From miss on a size's error is pointed out, from busy on the share of the processors that others kept.
const miss, busy = 0.15, 0.1

// misses says which predictions of a host miss, and why as far as the times tell: where the fastest iteration took what was predicted,
// the others were disturbed.
func (d *RunDocument) misses() []string {
	var disturbed, missed, out []string
	if d.Others >= busy {
		out = append(out, fmt.Sprintf("# Busy machine         : other programs kept %.0f %% of its processors busy while it was "+
			"calibrated and measured: predictions and times are those of a busy machine; run again when it is quiet", 100*d.Others))
	}
	if d.Crowd > 0 {
		out = append(out, fmt.Sprintf("# Crowded machine      : %.3g ranks a processor: they wait for their turns, which no "+
			"prediction counts; take more machines, or fewer ranks", d.Crowd))
	}
	for _, r := range d.Rows {
		switch fastest := r.MeasuredUS.Min; {
		case math.Abs(r.Error) <= miss:
		case r.Error < 0 && fastest*(1-miss) <= r.PredictedUS:
			disturbed = append(disturbed, fmt.Sprintf("%s (%s)", size(r.SizeBytes), table.Microseconds(fastest)))
		default:
			missed = append(missed, size(r.SizeBytes))
		}
	}
	if len(disturbed) > 0 {
		out = append(out, "# Disturbed            : "+strings.Join(disturbed, ", ")+
			": the fastest iteration took what was predicted, half of them longer; others use this machine's processors or caches")
	}
	if len(missed) > 0 {
		out = append(out, fmt.Sprintf("# Missed               : %s: by more than %.0f %%; run again",
			strings.Join(missed, ", "), 100*miss))
	}
	return out
}
