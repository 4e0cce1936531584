package report

// Library is the communication library beside a schedule of ours: how it would run the same, how long that takes on this hardware (fitted
// kernels), how long it estimates itself, and what others have measured. Values that are not known are null.
type Library struct {
	Choice     string   `json:"nccl_way" wide:"NCCL runs" doc:"algorithm/protocol; empty where it does not run here"`
	TimeUS     *float64 `json:"nccl_us" text:"NCCL" doc:"as its kernels are fitted on this hardware"`
	Assumed    bool     `json:"-" text:"" join:"" yes:"*"`
	ModelUS    *float64 `json:"nccl_model_us" wide:"its model" doc:"its own estimate"`
	MeasuredUS *float64 `json:"nccl_measured_us" text:"NCCL measured"`
	MeasuredIn string   `json:"nccl_measured_in" wide:"in series"`
	LowUS      *float64 `json:"nccl_low_us" wide:"normal" doc:"normal runs take from so long"`
	HighUS     *float64 `json:"nccl_high_us" join:"–" doc:"to so long"`
	Basis      string   `json:"nccl_basis,omitempty" wide:"basis" doc:"how nccl_us comes to be known"`
}
