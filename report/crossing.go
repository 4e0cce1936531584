package report

// CrossingDocument is a transfer between nodes in steps.
type CrossingDocument struct {
	Schema        string         `json:"schema" const:"railyard.crossing/v1" doc:"a transfer between nodes in steps"`
	Topology      string         `json:"topology"`
	From          string         `json:"from"`
	To            string         `json:"to"`
	SizeBytes     int64          `json:"size_bytes"`
	Compress      string         `json:"compress"`
	Staged        bool           `json:"host_staged" text:"staged through host memory"`
	Initiated     string         `json:"initiated" text:"posted by"`
	QueuePairs    int            `json:"queue_pairs"`
	Pieces        int            `json:"pieces"`
	TimeUS        float64        `json:"time_us" text:"time"`
	SerialUS      float64        `json:"serial_us" text:"one step after the other"`
	SynchroniseUS float64        `json:"synchronise_us" text:"of which synchronisation"`
	GBps          float64        `json:"GBps" text:"rate"`
	Slowest       string         `json:"slowest" text:"slowest step"`
	Steps         []CrossingStep `json:"steps" csv:""`
	Notes         []string       `json:"notes" note:"note"`
}

// CrossingStep is a step; BusyUS is over all pieces.
type CrossingStep struct {
	Name    string  `json:"name" csv:"step" text:"step"`
	Bytes   int64   `json:"bytes" text:"size"`
	GBps    float64 `json:"GBps" text:"rate"`
	AlphaUS float64 `json:"alpha_us" text:"latency"`
	BusyUS  float64 `json:"busy_us" text:"busy"`
}
