package report

// SimulateDocument is one predicted run. Of several jobs, times and bandwidths are the first one's; sends, links and what limits are
// about all.
type SimulateDocument struct {
	Schema       string  `json:"schema" const:"railyard.simulate/v1" doc:"one predicted run in detail"`
	Topology     string  `json:"topology"`
	Profile      string  `json:"profile"`
	Schedule     string  `json:"schedule"`
	Collective   string  `json:"collective"`
	SizeBytes    int64   `json:"size_bytes"`
	TimeUS       float64 `json:"time_us" text:"time" doc:"the sum of launch to misaligned; of several jobs, the first one's"`
	LaunchUS     float64 `json:"launch_us" text:"launch"`
	AlphaUS      float64 `json:"alpha_us" text:"latency and adding"`
	BetaUS       float64 `json:"beta_us" text:"transfer"`
	ContentionUS float64 `json:"contention_us" text:"contention"`
	DelayUS      float64 `json:"delay_us,omitempty" text:"delay" doc:"late ranks' part of the time"`
	MisalignedUS float64 `json:"misaligned_us,omitempty" text:"misaligned" doc:"what parts off 16 bytes cost"`
	AlgBW        float64 `json:"algbw_GBps" text:"algbw"`
	BusBW        float64 `json:"busbw_GBps" text:"busbw"`
	Bottleneck   string  `json:"bottleneck" text:"limited by"`
	Sends        int64   `json:"sends"`
	Events       int64   `json:"events"`
	RankBalance  float64 `json:"rank_balance" text:"balance of ranks" as:"share" doc:"mean over maximum of what each sends"`
	LinkBalance  float64 `json:"link_balance" text:"balance of links" as:"share" doc:"mean over maximum of their load"`
	Library
	Faults       []string `json:"faults,omitempty"`
	HealthyUS    float64  `json:"healthy_us,omitempty" text:"on the whole machine"`
	Slowdown     float64  `json:"slowdown,omitempty" text:"slowdown by faults" as:"times"`
	IdleUS       float64  `json:"idle_us,omitempty" text:"without background load"`
	LoadSlowdown float64  `json:"load_slowdown,omitempty" text:"slowdown by load" as:"times"`

	Congested         float64 `json:"congested,omitempty" text:"congested ports carry" as:"share" doc:"of their rate"`
	FluidUS           float64 `json:"fluid_us,omitempty" text:"without congestion"`
	CongestedSlowdown float64 `json:"congested_slowdown,omitempty" text:"slowdown by congestion" as:"times"`

	Jobs       []SimulatedJob `json:"jobs,omitempty" title:"Jobs" doc:"where there are several"`
	Shared     *SharedLink    `json:"shared_link,omitempty" title:"The link on which jobs are most in one another's way"`
	Hashed     *Hashed        `json:"ecmp,omitempty" title:"Hashed flows (ECMP)"`
	Stragglers *Stragglers    `json:"stragglers,omitempty" title:"Stragglers"`
	Repeats    *Repeats       `json:"repeats,omitempty" title:"Over seeds"`
	Links      []LinkLoad     `json:"links" csv:"" most:"12" title:"Busiest links"`
	Warnings   []string       `json:"warnings" note:"warning"`
}

// LinkLoad is a link's load during a run; of a large machine, the load of Count equal links, of which ID is the first.
type LinkLoad struct {
	ID          string  `json:"id" csv:"link" text:"link"`
	Count       int     `json:"count" text:"equal links"`
	Class       string  `json:"class" text:"class"`
	Bytes       float64 `json:"bytes" text:"bytes" as:"count"`
	Utilisation float64 `json:"utilisation" text:"busy" as:"share"`
}

// SimulatedJob is one of the collectives that ran at once.
type SimulatedJob struct {
	Name       string  `json:"name" text:"job" doc:"as it was asked for"`
	Collective string  `json:"collective" text:"collective"`
	Schedule   string  `json:"schedule" text:"schedule"`
	Ranks      string  `json:"ranks" text:"ranks" doc:"such as 0-7,16"`
	SizeBytes  int64   `json:"size_bytes" text:"size"`
	TimeUS     float64 `json:"time_us" text:"time"`
	AloneUS    float64 `json:"alone_us" text:"alone" doc:"without the other jobs"`
	Slowdown   float64 `json:"slowdown" text:"slowdown" as:"times"`
}

// SharedLink is the link on which jobs are most in one another's way.
type SharedLink struct {
	ID          string    `json:"id" text:"link"`
	Class       string    `json:"class" text:"class"`
	Utilisation float64   `json:"utilisation" text:"busy" as:"share"`
	JobBytes    []float64 `json:"job_bytes" text:"bytes by job"`
}

// Hashed says what a network costs that hashes flows instead of spreading transfers. Flows are counted from switch to switch, whether or
// not they go at once.
type Hashed struct {
	Seed      uint64  `json:"seed" text:"seed" as:"precise"`
	QPs       int     `json:"queue_pairs" text:"queue pairs"`
	SpreadUS  float64 `json:"spread_us" text:"spread ideally" doc:"had the network spread everything ideally"`
	Slowdown  float64 `json:"slowdown" text:"slowdown" as:"times"`
	Transfers int     `json:"transfers" text:"transfers between switches"`
	Worst     float64 `json:"worst" text:"on the fullest link" doc:"transfers"`
	Mean      float64 `json:"mean" text:"on the fullest of a transfer's way"`
	Ideal     float64 `json:"spread" text:"on the fullest link, spread ideally"`
	Fullest   string  `json:"fullest" text:"the fullest link" doc:"empty without transfers"`
}

// Stragglers says what ranks that start late cost.
type Stragglers struct {
	Spec     []string `json:"stragglers" text:"stragglers"`
	Seed     *uint64  `json:"seed,omitempty" text:"seed" as:"precise" doc:"where chance decides"`
	LatestUS float64  `json:"latest_us" text:"the latest starts after"`
	MeanUS   float64  `json:"mean_us" text:"the mean starts after"`
	PromptUS float64  `json:"prompt_us" text:"had no rank been late"`
	Slowdown float64  `json:"slowdown" text:"slowdown" as:"times"`
}

// Repeats are the times over seeds that follow one another.
type Repeats struct {
	Runs int     `json:"runs" text:"seeds"`
	P50  float64 `json:"p50_us" text:"P50"`
	P95  float64 `json:"p95_us" text:"P95"`
	P99  float64 `json:"p99_us" text:"P99"`
}
