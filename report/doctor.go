package report

// DoctorDocument is what is wrong with a machine.
type DoctorDocument struct {
	Schema   string           `json:"schema" const:"railyard.doctor/v1" doc:"what is wrong with a machine"`
	Topology string           `json:"topology" doc:"what the machine should be; empty where that is not known"`
	Assumed  bool             `json:"topology_assumed" doc:"by what its GPUs are called"`
	GPUs     int              `json:"gpus"`
	Healthy  bool             `json:"healthy" doc:"something was judged, and nothing was found that breaks jobs or costs time"`
	Judged   int              `json:"rules_judged" doc:"rules whose facts were known"`
	Coverage string           `json:"rules_judged_of" doc:"how many rules of each kind of part these are"`
	Words    int              `json:"job_files" doc:"files in which a job speaks of itself, judged besides the rules"`
	Findings []DoctorFinding  `json:"findings" csv:"" doc:"what breaks jobs first, then what costs most"`
	Setups   []DoctorSetup    `json:"communicators" title:"What NCCL set up" most:"10"`
	Choices  []DoctorChoice   `json:"choices" title:"What NCCL chose" most:"20"`
	Series   []DoctorSeries   `json:"series" title:"What collectives took" most:"20"`
	Unjudged []DoctorUnjudged `json:"rules_not_judged" doc:"rules whose facts are not known"`
	Read     []DoctorEvidence `json:"read" doc:"what the machine is known by"`
	Collect  []string         `json:"collect" note:"to know more, collect" doc:"commands whose output would tell more"`
	Notes    []string         `json:"notes" note:"note"`
}

// DoctorFinding is something that is wrong.
type DoctorFinding struct {
	Level  string   `json:"level" doc:"broken: jobs fail or hang, or data may be wrong; slow: it costs time; notice: worth knowing"`
	Part   string   `json:"part"`
	Says   string   `json:"says" doc:"with its figure"`
	Share  *float64 `json:"cost" as:"error" doc:"how much longer cost_of takes; empty where that is not known"`
	Best   *float64 `json:"cost_planned_again" as:"error" doc:"the same once it is planned again around the fault"`
	Of     string   `json:"cost_of"`
	How    string   `json:"cost_by" doc:"how the cost was found"`
	Why    string   `json:"why"`
	Do     string   `json:"do" doc:"the command to run, or the thing to change"`
	Rule   string   `json:"rule"`
	Source string   `json:"source" doc:"address of what says so"`
	From   string   `json:"from" doc:"where the values came from"`
}

// DoctorUnjudged is a rule that was not judged.
type DoctorUnjudged struct {
	Rule    string `json:"rule"`
	Missing string `json:"missing" doc:"facts that nobody knows"`
}

// Faults is how many findings break jobs or cost time.
func (d *DoctorDocument) Faults() (n int) {
	for _, f := range d.Findings {
		if f.Level != "notice" {
			n++
		}
	}
	return n
}

// OfJob reports whether only a job spoke of itself: nothing of a machine was judged, and nothing of one is asked for.
func (d *DoctorDocument) OfJob() bool {
	return d.Judged == 0 && (d.Words > 0 || len(d.Read) > 0 && len(d.Collect) == 0)
}

// Rules is how many rules there are.
func (d *DoctorDocument) Rules() int { return d.Judged + len(d.Unjudged) }

// DoctorEvidence is a file that was read, or what was asked on a live machine.
type DoctorEvidence struct {
	File string `json:"file"`
	Kind string `json:"kind" doc:"the command whose output it is"`
}
