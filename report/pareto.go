package report

// Pareto is what a choice of schedules can trade latency for bandwidth: those that no other beats in both, lowest latency first.
type Pareto struct {
	SmallBytes int64         `json:"small_bytes" text:"latency is taken at"`
	LargeBytes int64         `json:"large_bytes" text:"bandwidth is taken at"`
	Points     []ParetoPoint `json:"points" csv:"" title:"No schedule beats these in both latency and bandwidth"`
}

// ParetoPoint is a schedule. One that is not on the front is best at some size in between.
type ParetoPoint struct {
	Schedule  string      `json:"schedule" text:"schedule" id:""`
	LatencyUS float64     `json:"latency_us" text:"latency"`
	LargeUS   float64     `json:"large_us"`
	PerByte   float64     `json:"ps_per_byte" text:"ps/byte" as:"factor"`
	AlgBW     float64     `json:"algbw_GBps"`
	BusBW     float64     `json:"busbw_GBps" text:"busbw"`
	Pareto    bool        `json:"on_front" text:"on the front"`
	Best      []SizeRange `json:"best" csv:"" title:"Sizes at which each is best" doc:"empty where another one is faster at every size"`
}

// SizeRange is from the first size to the last one.
type SizeRange struct {
	From  int64 `json:"from_bytes" text:"from"`
	To    int64 `json:"to_bytes" text:"to"`
	About bool  `json:"to_approximate,omitempty" text:"" join:" " yes:"or so" doc:"where lines between other sizes meet"`
}
