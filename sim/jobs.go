package sim

import (
	"fmt"

	"railyard/model/schedule"
	"railyard/model/topology"
)

// Job is one of the collectives that run at once on a machine. All begin together, and
// share links as the transfers of one collective do; the GPUs' own work is not shared.
type Job struct {
	Schedule *schedule.Schedule
	Ranks    []int              // the topology's rank for each of the schedule's; nil: the same number
	Label    int                // where networks hash, jobs with other labels take other ways
	Valid    *schedule.Schedule // one that is known to be: what the schedule shares with it is not looked at again; nil: none
}

// rank is the topology's number of one of the job's ranks.
func (j *Job) rank(r int32) int32 {
	if j.Ranks == nil {
		return r
	}
	return int32(j.Ranks[r])
}

// strand is a channel of one of the jobs, whose channels are numbered end to end.
type strand struct {
	job     int32
	channel int32 // in the job's schedule
	slices  int32
}

func (p *Plan) strand(channel int32) *strand { return &p.strands[channel] }

// channel is the channel of a schedule that a strand is.
func (p *Plan) channel(id int32) *schedule.Channel {
	s := &p.strands[id]
	return &p.jobs[s.job].Schedule.Channels[s.channel]
}

func strandsOf(jobs []Job) []strand {
	var out []strand
	for j := range jobs {
		for c := range jobs[j].Schedule.Channels {
			out = append(out, strand{int32(j), int32(c), int32(jobs[j].Schedule.Channels[c].Slices)})
		}
	}
	return out
}

// validate checks that a job is one for the topology.
func (j *Job) validate(t *topology.Topology) error {
	if err := j.Schedule.ValidateAfter(j.Valid); err != nil {
		return err
	}
	n := j.Schedule.Spec.Ranks
	if j.Ranks == nil {
		if t.NumRanks() != n {
			return fmt.Errorf("the schedule is for %d ranks, %s has %d", n, t.Name(), t.NumRanks())
		}
		return nil
	}
	if len(j.Ranks) != n {
		return fmt.Errorf("the schedule is for %d ranks, not for the %d given", n, len(j.Ranks))
	}
	seen := map[int]bool{}
	for _, r := range j.Ranks {
		if r < 0 || r >= t.NumRanks() {
			return fmt.Errorf("rank %d: %s has ranks 0 to %d", r, t.Name(), t.NumRanks()-1)
		}
		if seen[r] {
			return fmt.Errorf("rank %d is given twice", r)
		}
		seen[r] = true
	}
	return nil
}
