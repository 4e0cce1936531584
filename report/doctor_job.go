package report

// DoctorSetup is what NCCL has set up for communicators that are alike, by its log.
type DoctorSetup struct {
	Count       int    `json:"communicators" text:"communicators" doc:"that are alike in all of this"`
	Ranks       int    `json:"ranks" text:"ranks"`
	Nodes       int    `json:"nodes" text:"nodes" zero:"–" doc:"0: not said"`
	Network     string `json:"network" text:"network" doc:"between nodes"`
	Channels    int    `json:"channels" text:"channels" zero:"–" doc:"of rings and trees; 0: not said"`
	Expected    *int   `json:"expected_channels" text:"expected" doc:"by NCCL's search on that machine; empty where that is not known"`
	NVLS        int    `json:"nvls_channels" text:"NVLS"`
	Connections string `json:"transports" text:"connections" doc:"transports, with how many connections each"`
	Rings       string `json:"rings" text:"rings" doc:"orders of ranks, with how many channels each"`
	Trees       string `json:"trees" text:"trees" doc:"each rank with those below it in brackets, with how many channels each"`
}

// DoctorChoice is what NCCL's tuner chose for a collective, beside what was expected of it there.
type DoctorChoice struct {
	Collective string   `json:"collective" text:"collective"`
	Ranks      int      `json:"ranks" text:"ranks" doc:"0: the log does not say of which communicator"`
	From       int64    `json:"from_bytes" text:"size"`
	To         *int64   `json:"to_bytes" text:"" join:"–" doc:"empty: one size"`
	Calls      int      `json:"choices" text:"choices" doc:"how often the log has it"`
	Chose      string   `json:"chose" text:"NCCL chose" doc:"algorithm and protocol"`
	Expected   string   `json:"expected" text:"expected" doc:"on that machine; empty where that is not known"`
	Longer     *float64 `json:"longer" text:"longer" as:"error" doc:"than the expected one takes, at the size where that is worst"`
}

// DoctorSeries is what collectives of one group, kind and size took, beside what was expected.
type DoctorSeries struct {
	Group      string   `json:"group"`
	Ranks      int      `json:"ranks" text:"ranks"`
	Collective string   `json:"collective" text:"collective"`
	Size       int64    `json:"size_bytes" text:"size"`
	Calls      int      `json:"calls" text:"calls"`
	MedianUS   float64  `json:"median_us" text:"median" doc:"of the shortest time that any rank recorded of each"`
	ExpectedUS *float64 `json:"expected_us" text:"expected" doc:"empty where it could not be predicted"`
	HighUS     *float64 `json:"high_us" text:"normal up to"`
	Verdict    string   `json:"verdict" text:"verdict" doc:"normal, slow, or too few calls to say so; empty: nothing to judge by"`
	Since      string   `json:"since" text:"slow since" doc:"when it became slower than its own past"`
}
