package report

import (
	"fmt"
	"maps"
	"slices"

	"railyard/model/units"
)

// SizeDocument is clusters for a workload.
type SizeDocument struct {
	Schema   string    `json:"schema" const:"railyard.size/v1" doc:"clusters for a workload"`
	Workload string    `json:"workload"`
	Unit     string    `json:"unit"`
	Target   string    `json:"target"`
	Currency string    `json:"currency"`
	Prices   string    `json:"prices"`
	Date     string    `json:"prices_date"`
	Months   int       `json:"months"`
	Best     int       `json:"best" as:"signed" doc:"row; −1: none meets the target"`
	Rows     []SizeRow `json:"rows" csv:""`
}

// SizeRow is a design.
type SizeRow struct {
	Design         string  `json:"design" text:"design"`
	Node           string  `json:"node"`
	Nodes          int     `json:"nodes"`
	GPUs           int     `json:"gpus" text:"GPUs"`
	StepMS         float64 `json:"step_ms" text:"step" zero:"–"`
	UnitsPerSecond float64 `json:"units_per_second" text:"units/s" as:"rate" zero:"–"`
	Days           float64 `json:"days,omitempty" text:"days"`
	MFU            float64 `json:"mfu" text:"MFU" as:"share" zero:"–"`
	Layout         string  `json:"layout"`
	Bottleneck     string  `json:"bottleneck"`
	Purchase       float64 `json:"purchase" text:"purchase" as:"money" zero:"–"`
	Total          float64 `json:"total" text:"cost" as:"money" zero:"–" doc:"over the months"`
	Watts          float64 `json:"watts" text:"power" as:"kW" zero:"–"`
	BisectionGBps  float64 `json:"bisection_GBps,omitempty" doc:"between halves of the nodes, or of one's GPUs"`
	Switches       int     `json:"switches" text:"switches"`
	Cables         int     `json:"cables" text:"cables"`
	Optics         int     `json:"optics" zero:"–"`
	Priced         bool    `json:"priced"`
	Meets          bool    `json:"meets" text:"meets it"`
	Pareto         bool    `json:"on_front" text:"on the front" doc:"no other design beats it in time, cost and power"`
	Error          string  `json:"error,omitempty" doc:"why there is no step"`
	Unpriced       string  `json:"unpriced,omitempty"`
	Note           string  `json:"note,omitempty" doc:"what was changed so that there is a step"`
}

// Hidden leaves designs without a step out of the default table.
func (r SizeRow) Hidden() bool { return r.Error != "" }

// Footer counts the reasons for what is missing.
func (d *SizeDocument) Footer() []string {
	count := map[string]int{}
	for _, r := range d.Rows {
		for kind, said := range map[string]string{"left out": r.Error, "without a price": r.Unpriced, "note": r.Note} {
			if said != "" {
				count[kind+": "+said]++
			}
		}
	}
	var out []string
	for _, x := range slices.Sorted(maps.Keys(count)) {
		out = append(out, fmt.Sprintf("%s (%s)", x, units.Counted(count[x], "design")))
	}
	return out
}
