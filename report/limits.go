package report

// LimitsDocument says how closely a job's GPUs have to lie.
type LimitsDocument struct {
	Schema   string     `json:"schema" const:"railyard.limits/v1" doc:"how closely a job's GPUs have to lie"`
	Topology string     `json:"topology"`
	Subject  string     `json:"subject"`
	By       string     `json:"by"`
	GPUs     int        `json:"gpus"`
	Within   float64    `json:"within" as:"share" doc:"allowed slowdown"`
	Tier     string     `json:"tier" doc:"the widest placement within it"`
	Rows     []LimitRow `json:"rows" csv:""`
	Slurm    []string   `json:"slurm" note:"Slurm"`
	Kueue    []string   `json:"kueue" note:"Kubernetes (Kueue)"`
	Notes    []string   `json:"notes" note:"note"`
}

// LimitRow is a placement; its slowdown is over the fastest of all.
type LimitRow struct {
	Tier     string  `json:"tier" text:"placement in one"`
	Nodes    int     `json:"nodes" text:"nodes"`
	Groups   int     `json:"groups" text:"groups"`
	TimeMS   float64 `json:"time_ms" text:"time"`
	Slowdown float64 `json:"slowdown" text:"slowdown" as:"factor"`
	Within   bool    `json:"within" text:"within"`
	Limit    string  `json:"limit" text:"why"`
}
