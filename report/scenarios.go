package report

import "railyard/report/table"

// Scenarios are worked numbers of documents beside ours.
type Scenarios struct {
	Transfers []TransferScenario
	Scenarios []Scenario

	Options []TrainingOption // ways to train a 175B model
}

// Scenario is a question with our steps; what the document says and why they differ stands in docs/scenarios.md.
type Scenario struct {
	Question string
	Rows     []ScenarioRow
}

// ScenarioRow is a step.
type ScenarioRow struct {
	Label             string  `json:"case" text:"case"`
	Command           string  `json:"command"`
	StepMS            float64 `json:"step_ms" text:"step"`
	ComputeMS         float64 `json:"compute_ms" text:"compute"`
	CommunicationMS   float64 `json:"communication_ms" text:"communication"`
	ExposedMS         float64 `json:"exposed_ms" text:"exposed"`
	ScalingEfficiency float64 `json:"scaling_efficiency" text:"scaling efficiency" as:"share"`
	Fits              bool    `json:"fits" text:"fits"`
}

// TransferScenario is a question about collectives and transfers alone.
type TransferScenario struct {
	Question string
	Rows     []TransferRow
}

// TransferRow is one of them: its time, and its bandwidth as nccl-tests count (busbw).
type TransferRow struct {
	Label   string  `json:"case" text:"case"`
	Command string  `json:"command"`
	MS      float64 `json:"time_ms" text:"time"`
	GBps    float64 `json:"busbw_GBps" text:"busbw"`
}

// Blocks are the tables of docs/scenarios.md, each with the commands that make its rows.
func (d *Scenarios) Blocks() []table.Block {
	var out []table.Block
	add := func(name string, rows any, commands []string) {
		text := table.Of(rows).Markdown() + "\n"
		for _, c := range commands {
			text += "    " + c + "\n"
		}
		out = append(out, table.Block{Name: name, Text: text})
	}
	for _, t := range d.Transfers {
		add(t.Question, t.Rows, commandsOf(t.Rows, func(r TransferRow) string { return r.Command }))
	}
	for _, s := range d.Scenarios {
		add(s.Question, s.Rows, commandsOf(s.Rows, func(r ScenarioRow) string { return r.Command }))
	}
	add("175B model", d.Options, commandsOf(d.Options, func(o TrainingOption) string { return o.Command }))
	return out
}

func commandsOf[R any](rows []R, command func(R) string) []string {
	var out []string
	for _, r := range rows {
		out = append(out, command(r))
	}
	return out
}
