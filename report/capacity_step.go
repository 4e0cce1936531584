package report

// StepDocument is a predicted training step.
type StepDocument struct {
	Schema   string `json:"schema" const:"railyard.step/v1" csv:"step" doc:"a predicted training step"`
	Topology string `json:"topology"`
	GPU      string `json:"gpu"`
	GPUs     int    `json:"gpus" csv:"ranks"`
	Workload string `json:"workload"`
	Layout   string `json:"layout" csv:"name"`
	Runtime  string `json:"runtime" doc:"who communicates"`
	Searched int    `json:"layouts_searched,omitempty"`

	StepMS            float64 `json:"step_ms" csv:"total_ms" text:"step"`
	LowMS             float64 `json:"low_ms" text:"at least" doc:"between this and high_ms nine of ten measured steps of its class lie"`
	HighMS            float64 `json:"high_ms" text:"at most"`
	Class             string  `json:"class" doc:"what decides how wide the band is"`
	ComputeMS         float64 `json:"compute_ms"`
	CommunicationMS   float64 `json:"communication_ms" text:"communication" doc:"of one GPU, whether it computes meanwhile or waits"`
	ExposedMS         float64 `json:"exposed_ms" csv:"exposed_ms" text:"of it exposed" doc:"communication that GPUs wait for"`
	BubbleMS          float64 `json:"bubble_ms"`
	MFU               float64 `json:"mfu" text:"MFU" as:"share" doc:"model FLOP/s over the peak"`
	TFLOPS            float64 `json:"tflops_per_gpu" text:"TFLOP/s a GPU"`
	Unit              string  `json:"unit"`
	UnitsPerSecond    float64 `json:"units_per_second" as:"rate"`
	ScalingEfficiency float64 `json:"scaling_efficiency" text:"scaling efficiency" as:"share" doc:"against one replica alone"`
	Bottleneck        string  `json:"bottleneck" text:"bottleneck"`
	LimitingLink      string  `json:"limiting_link" csv:"limit"`

	Parts       []StepPart       `json:"parts" csv:"part" title:"Where the time goes" doc:"all add up to the step"`
	Collectives []StepCollective `json:"collectives" csv:"collective" title:"Collectives of one GPU"`
	Memory      StepMemory       `json:"memory" title:"Memory of the fullest GPU"`
	Notes       []string         `json:"notes" note:"note"`
}

// StepPart is a share of the step's time.
type StepPart struct {
	Name   string  `json:"name" text:"part"`
	TimeMS float64 `json:"time_ms" csv:"total_ms" text:"time"`
	Share  float64 `json:"share" text:"share" as:"share"`
}

// StepCollective is what one GPU's collectives of a kind and size add up to.
type StepCollective struct {
	Axis       string  `json:"axis" text:"axis"`
	Collective string  `json:"collective" csv:"name" text:"collective"`
	What       string  `json:"what" doc:"what is moved"`
	SizeBytes  int64   `json:"size_bytes" text:"size"`
	Ranks      int     `json:"ranks" text:"GPUs"`
	Network    bool    `json:"network" doc:"between nodes"`
	Schedule   string  `json:"schedule" text:"schedule"`
	TimeUS     float64 `json:"time_us" text:"time"`
	Count      float64 `json:"count" text:"times" as:"count"`
	TotalMS    float64 `json:"total_ms" text:"total"`
	ExposedMS  float64 `json:"exposed_ms" text:"exposed"`
	Limit      string  `json:"limit" text:"why"`
}

// StepMemory is what the fullest GPU holds, GiB.
type StepMemory struct {
	Stage       int     `json:"stage" text:"stage"`
	Parameters  float64 `json:"parameters_gib" text:"parameters"`
	Gradients   float64 `json:"gradients_gib" text:"gradients"`
	Optimizer   float64 `json:"optimizer_gib" text:"optimizer"`
	Activations float64 `json:"activations_gib" text:"activations"`
	Gathered    float64 `json:"gathered_gib" text:"gathered"`
	Reserve     float64 `json:"reserve_gib" text:"reserve"`
	Total       float64 `json:"total_gib" text:"all"`
	Capacity    float64 `json:"capacity_gib" text:"" join:" of "`
}
