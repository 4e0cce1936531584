package report

// SearchDocument is the outcome of a search over layouts.
type SearchDocument struct {
	Schema   string      `json:"schema" const:"railyard.search/v1" doc:"the best layouts of a workload on a machine"`
	Topology string      `json:"topology"`
	GPUs     int         `json:"gpus"`
	Workload string      `json:"workload"`
	Runtime  string      `json:"runtime" doc:"who communicates"`
	Layouts  int         `json:"layouts" doc:"looked at"`
	Timed    int         `json:"timed" doc:"played"`
	Pruned   int         `json:"pruned" doc:"ruled out by bounds"`
	TooLarge int         `json:"too_large" doc:"that do not fit into memory"`
	Resumed  int         `json:"resumed" doc:"from the journal"`
	Unit     string      `json:"unit"`
	Notes    []string    `json:"notes,omitempty" doc:"what others have published, and another global batch than the workload's"`
	Rows     []SearchRow `json:"rows" csv:""`
}

// SearchRow is one of the best layouts.
type SearchRow struct {
	Layout         string  `json:"layout" text:"layout"`
	StepMS         float64 `json:"step_ms" text:"step"`
	MFU            float64 `json:"mfu" text:"MFU" as:"share"`
	UnitsPerSecond float64 `json:"units_per_second" text:"units/s" as:"rate"`
	MemoryGiB      float64 `json:"memory_gib" text:"memory"`
	Slower         float64 `json:"slower" text:"slower" as:"share" doc:"than the best"`
	Why            string  `json:"why" text:"why" doc:"what it loses, or what the best spends its time on"`
}
