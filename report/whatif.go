package report

import (
	"railyard/report/table"
)

// WhatIfDocument is a machine before and after a change.
type WhatIfDocument struct {
	Schema   string          `json:"schema" const:"railyard.what-if/v1" doc:"a machine before and after a change"`
	Topology string          `json:"topology"`
	Changed  string          `json:"changed"`
	GPUs     int             `json:"gpus"`
	After    int             `json:"gpus_after"`
	Subject  string          `json:"subject" doc:"workload or collective"`
	By       string          `json:"by" doc:"runtime or profile"`
	Rows     []WhatIfRow     `json:"rows" csv:""`
	Goodput  *WhatIfGoodput  `json:"goodput,omitempty" title:"Failures"`
	Cost     *CostDifference `json:"cost,omitempty" title:"What the change costs"`
	Notes    []string        `json:"notes" note:"note"`
}

// WhatIfRow is a step, or a collective of one size. Slowdowns are times for the same work over those before; 0 where the plan cannot be
// kept.
type WhatIfRow struct {
	SizeBytes       int64   `json:"size_bytes,omitempty" text:"size"`
	BeforeMS        float64 `json:"before_ms" text:"before"`
	Plan            string  `json:"plan" text:"plan"`
	Limit           string  `json:"limit"`
	KeptMS          float64 `json:"kept_ms" text:"plan kept" zero:"does not run"`
	KeptSlowdown    float64 `json:"kept_slowdown" text:"" join:", × " as:"factor" zero:""`
	KeptLimit       string  `json:"kept_limit,omitempty"`
	PlannedMS       float64 `json:"planned_ms" text:"planned again"`
	PlannedSlowdown float64 `json:"planned_slowdown" text:"" join:", × " as:"factor"`
	NewPlan         string  `json:"new_plan" text:"new plan"`
	NewLimit        string  `json:"new_limit" text:"limited by"`
	NCCLBeforeMS    float64 `json:"nccl_before_ms,omitempty" wide:"NCCL before" doc:"of a collective, where NCCL runs it"`
	NCCLAfterMS     float64 `json:"nccl_after_ms,omitempty" wide:"NCCL after"`
	NCCLSlowdown    float64 `json:"nccl_slowdown,omitempty" wide:"" join:", × " as:"factor"`
	BeforeRate      float64 `json:"before_units_per_second,omitempty" as:"rate"`
	PlannedRate     float64 `json:"planned_units_per_second,omitempty" as:"rate"`
	Unit            string  `json:"unit,omitempty"`
}

// WhatIfGoodput is which share of the time is training that lasts.
type WhatIfGoodput struct {
	Rates         string        `json:"rates" text:"rates"`
	Source        string        `json:"rates_source" text:"their source"`
	CheckpointS   float64       `json:"checkpoint_s" text:"a checkpoint takes"`
	RestartS      float64       `json:"restart_s" text:"a restart takes"`
	RepairS       float64       `json:"repair_s" text:"a repair takes"`
	RunOn         []RunOn       `json:"run_on" title:"Runs on without"`
	Seed          uint64        `json:"seed" as:"precise"`
	SimulatedDays float64       `json:"simulated_days"`
	Before        GoodputResult `json:"before" title:"Where the time goes before"`
	After         GoodputResult `json:"after" title:"Where the time goes after"`
}

// RunOn is a kind of part without which the job runs on.
type RunOn struct {
	Part     string  `json:"part" text:"part"`
	Lost     string  `json:"lost" text:"lost" doc:"the one whose loss was looked at"`
	Slowdown float64 `json:"slowdown" text:"slowdown" as:"factor"`
}

// GoodputResult is a machine's; shares add up to 1. Played ones are of the Monte-Carlo run.
type GoodputResult struct {
	Goodput       float64 `json:"goodput" text:"training that lasts" as:"share"`
	Checkpoints   float64 `json:"checkpoints" text:"writing checkpoints" as:"share"`
	Lost          float64 `json:"lost" text:"lost work and restarts" as:"share"`
	Slowed        float64 `json:"slowed" text:"slowed by missing parts" as:"share"`
	StopsADay     float64 `json:"stops_a_day" text:"stops a day"`
	MTBFHours     float64 `json:"mtbf_hours" doc:"0: nothing stops it"`
	IntervalHours float64 `json:"checkpoint_interval_hours" text:"best checkpoint interval (h)"`
	Played        float64 `json:"played_goodput" text:"training that lasts, played" as:"share"`
	PlayedStops   float64 `json:"played_stops_a_day"`
	Rate          float64 `json:"lasting_units_per_second,omitempty" as:"rate"`
}

// CostDifference is what the change costs.
type CostDifference struct {
	Currency    string  `json:"currency"`
	Prices      string  `json:"prices" text:"prices"`
	Date        string  `json:"prices_date" text:"" join:" of "`
	Months      int     `json:"months" text:"over months"`
	Before      float64 `json:"purchase_before" text:"purchase before" as:"money"`
	After       float64 `json:"purchase_after" text:"purchase after" as:"money"`
	TotalBefore float64 `json:"total_before" text:"in all before" as:"money"`
	TotalAfter  float64 `json:"total_after" text:"in all after" as:"money"`
}

func signedMoney(v float64) string {
	if v < 0 {
		return table.Money(-v) + " less"
	}
	return table.Money(v) + " more"
}
