package report

// ExpectDocument is what nccl-tests should show.
type ExpectDocument struct {
	Schema     string      `json:"schema" const:"railyard.expect/v1" doc:"what nccl-tests should show"`
	Topology   string      `json:"topology"`
	Profile    string      `json:"profile"`
	Collective string      `json:"collective"`
	Ranks      int         `json:"ranks"`
	Rows       []ExpectRow `json:"rows" csv:""`
}

// ExpectRow is a size. Low and High bound what is normal: the prediction, give or take twice the mean error that the kernel has on
// measurements left out of its fit.
type ExpectRow struct {
	SizeBytes int64    `json:"size_bytes" text:"size"`
	Algorithm string   `json:"algorithm" text:"schedule"`
	Protocol  string   `json:"protocol" text:"" join:"/"`
	TimeUS    float64  `json:"time_us" text:"time" doc:"predicted, out of place"`
	LowUS     float64  `json:"low_us" text:"normal" doc:"what is normal begins here"`
	HighUS    float64  `json:"high_us" text:"" join:"–" doc:"and ends here"`
	AlgBW     float64  `json:"algbw_GBps"`
	BusBW     float64  `json:"busbw_GBps" text:"busbw"`
	LowBusBW  float64  `json:"busbw_low_GBps" text:"normal busbw"`
	HighBusBW float64  `json:"busbw_high_GBps" text:"" join:"–"`
	WireBW    float64  `json:"wire_GBps" doc:"what each link of the group that the limit names carries"`
	LineBW    float64  `json:"line_GBps" join:" of " doc:"their line rate"`
	NCCLUS    *float64 `json:"nccl_model_us" wide:"NCCL's model" doc:"NCCL's own estimate"`
	Limit     string   `json:"limit" text:"why"`
	Warnings  []string `json:"warnings" note:"warning"`
}
