package report

// MachineRow is a machine beside others in a report.
type MachineRow struct {
	Machine        string  `json:"machine" text:"machine"`
	GPUs           int     `json:"gpus" text:"GPUs"`
	GPU            string  `json:"gpu" text:"GPU"`
	Layout         string  `json:"layout" text:"layout"`
	StepMS         float64 `json:"step_ms" text:"step"`
	UnitsPerSecond float64 `json:"units_per_second" text:"units/s" as:"rate"`
	Each           float64 `json:"units_per_second_each" text:"a GPU" as:"rate"`
	MFU            float64 `json:"mfu" text:"MFU" as:"share"`
	ExposedMS      float64 `json:"exposed_ms" text:"exposed"`
	Bottleneck     string  `json:"bottleneck" text:"bottleneck"`
}

// DegradedRow is a step with its layout kept and a part missing.
type DegradedRow struct {
	Lost     string  `json:"lost" text:"lost"`
	StepMS   float64 `json:"step_ms" text:"step" zero:"–"`
	Slowdown float64 `json:"slowdown" text:"slowdown" as:"factor" zero:"–"`
	Limit    string  `json:"limit" text:"limited by"`
}
