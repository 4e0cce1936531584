package report

import (
	"fmt"
	"slices"
	"strings"

	"railyard/report/table"
)

// PlanDocument is the best schedule for each size.
type PlanDocument struct {
	Schema     string         `json:"schema" const:"railyard.plan/v1" doc:"the best schedule for each size"`
	Topology   string         `json:"topology"`
	Hash       string         `json:"topology_hash" doc:"SHA-256 of the topology's content, in hexadecimal"`
	Profile    string         `json:"profile"`
	Ranks      int            `json:"ranks"`
	Faults     []string       `json:"faults,omitempty" doc:"what has failed or is slow; absent for a whole machine"`
	LostRanks  []int          `json:"lost_ranks,omitempty" doc:"ranks of the whole machine that are gone; the others are numbered in order"`
	Rows       []PlanRow      `json:"rows" csv:""`
	Crossovers []CrossoverRow `json:"crossovers" title:"Where another schedule becomes best"`
	Counts     *Counts        `json:"counts,omitempty" title:"Counts" doc:"the matrix of an all_to_allv"`
	Pareto     *Pareto        `json:"pareto,omitempty" doc:"only with --pareto"`
}

// Counts is the matrix of an all_to_allv.
type Counts struct {
	File       string `json:"file"`
	LargestRow int64  `json:"largest_row_bytes" text:"the largest row sends"`
	Total      int64  `json:"total_bytes" text:"all send"`
	ZeroPairs  int    `json:"zero_pairs" text:"pairs that send nothing"`
}

// PlanRow is the best schedule for a size. Where parts of the machine have failed, healthy_us is the best time of the whole machine, and
// kept_us the time of the whole machine's plan on what is left (absent where it does not run); where others load the machine, idle_us is
// the same without them.
type PlanRow struct {
	Collective        string  `json:"collective"`
	SizeBytes         int64   `json:"size_bytes" text:"size" id:""`
	Schedule          string  `json:"schedule" text:"schedule" doc:"algorithm/protocol×slices"`
	TimeUS            float64 `json:"time_us" text:"time" doc:"predicted"`
	Unsure            bool    `json:"-" text:"" join:"" yes:"*"`
	AlgBW             float64 `json:"algbw_GBps" doc:"size over time"`
	BusBW             float64 `json:"busbw_GBps" text:"busbw" doc:"algbw times nccl-tests' factor"`
	BoundUS           float64 `json:"bound_us" wide:"lower bound" doc:"no schedule takes less: the larger of the two bounds"`
	OfBound           float64 `json:"of_bound" text:"of limit" as:"share" doc:"bound over time"`
	BoundCut          string  `json:"bound_cut" doc:"why the bound holds, in words"`
	BandwidthBoundUS  float64 `json:"bandwidth_bound_us" doc:"at line rate"`
	OfBandwidthBound  float64 `json:"of_bandwidth_bound" as:"share"`
	BandwidthBoundCut string  `json:"bandwidth_bound_cut"`
	LatencyBoundUS    float64 `json:"latency_bound_us" doc:"how long a message travels at least; 0 where the profile counts no latencies"`
	OfLatencyBound    float64 `json:"of_latency_bound" as:"share"`
	LatencyBoundCut   string  `json:"latency_bound_cut"`
	How               string  `json:"how,omitempty" doc:"what the algorithm does, in words"`
	HealthyUS         float64 `json:"healthy_us,omitempty" text:"healthy" doc:"the best on the whole machine"`
	Slowdown          float64 `json:"slowdown,omitempty" text:"" join:", " as:"times" doc:"time over healthy_us"`
	KeptUS            float64 `json:"kept_us,omitempty" text:"old plan" zero:"does not run" doc:"the whole machine's plan on what is left"`
	KeptTooLarge      bool    `json:"kept_too_large,omitempty" text:"" join:" " yes:"or more" doc:"too large to simulate"`
	IdleUS            float64 `json:"idle_us,omitempty" text:"idle" doc:"without the traffic of others"`
	LoadSlowdown      float64 `json:"load_slowdown,omitempty" text:"" join:", " as:"times" doc:"time over idle_us"`
	RunnerUp          string  `json:"runner_up" doc:"the best of another algorithm; empty without one"`
	RunnerLoss        float64 `json:"runner_up_loss" join:" +" as:"share" doc:"how much longer it takes"`
	Library
	Basis       string   `json:"basis" wide:"basis" doc:"its costs: measured there, derived, assumed, line rates; extrapolated"`
	Source      string   `json:"basis_source" doc:"where these costs come from"`
	Bottleneck  string   `json:"bottleneck" text:"why" doc:"what limits it"`
	Warnings    []string `json:"warnings" note:"warning"`
	WhyNotOther []WhyRow `json:"considered,omitempty" most:"10" title:"What else was considered"`
}

// WhyRow is a candidate that was considered. Pruned ones carry a lower estimate, those that could have been faster by how much at most.
type WhyRow struct {
	Schedule string  `json:"schedule" text:"schedule"`
	TimeUS   float64 `json:"time_us" text:"time"`
	Pruned   bool    `json:"pruned" text:"" join:" " yes:"or more" doc:"not simulated, or not to its end: it takes that long at least"`
	Gain     float64 `json:"gain,omitempty" text:"could gain" as:"share" doc:"at most; too little to be worth its simulation"`
	Limit    string  `json:"limited_by,omitempty" text:"why"`
}

// CrossoverRow is a size from which on another schedule is best.
type CrossoverRow struct {
	SizeBytes int64  `json:"size_bytes" wide:"from"`
	About     bool   `json:"approximate,omitempty" wide:"" join:" " yes:"or so" doc:"where lines between other sizes meet"`
	From      string `json:"from" wide:"instead of"`
	To        string `json:"to" wide:"best"`
}

// Comparison is what NCCL and railyard's plan take.
func (r *PlanRow) Comparison() string {
	mark := func(unsure bool) string {
		if unsure {
			return "*"
		}
		return ""
	}
	plan := fmt.Sprintf("railyard's plan takes %s%s (%s GB/s bus bandwidth)", table.Microseconds(r.TimeUS), mark(r.Unsure),
		gigabytes(r.BusBW))
	if r.Library.TimeUS == nil || *r.Library.TimeUS <= 0 {
		return plan
	}
	bus := r.BusBW * r.TimeUS / *r.Library.TimeUS
	return fmt.Sprintf("NCCL takes %s%s (%s GB/s), %s", table.Microseconds(*r.Library.TimeUS), mark(r.Library.Assumed),
		gigabytes(bus), plan)
}

// Footer explains what stands in the tables.
func (d *PlanDocument) Footer() []string {
	var out []string
	if slices.ContainsFunc(d.Rows, func(r PlanRow) bool { return r.Unsure || r.Library.Assumed }) {
		out = append(out, "* Derived, assumed or extrapolated, not measured on such a machine: `railyard plan --wide` says which.")
	}
	if len(d.Faults) > 0 && !slices.ContainsFunc(d.Rows, func(r PlanRow) bool { return r.KeptUS > 0 }) {
		out = append(out, "The whole machine's plan does not run on what is left.")
	}
	if slices.ContainsFunc(d.Rows, func(r PlanRow) bool {
		return slices.ContainsFunc(r.WhyNotOther, func(c WhyRow) bool { return c.Pruned })
	}) {
		out = append(out, "Candidates that take so long or more were not simulated, or not to their end: they take that long at least.")
	}
	return out
}

func size(bytes int64) string { return table.Bytes(float64(bytes)) }

func gigabytes(v float64) string {
	if v >= 100 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.3g", v)
}

func inBrackets(text string) string {
	if text == "" {
		return ""
	}
	return " (" + text + ")"
}

func because(text string) string {
	return strings.TrimSuffix(": "+text, ": ")
}
