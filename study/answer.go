package study

import (
	"slices"

	"railyard/model/collective"
	"railyard/model/schedule"
	"railyard/model/units"
	"railyard/planner"
	"railyard/study/kernels"
	"railyard/study/score"
)

// Answer is a plan for each size, with what it is compared with.
type Answer struct {
	Question *Question
	Rows     []Row
	Pareto   *planner.Front // where Detail asks for it
	score    *score.Scorer
	baseline *baseline
}

// Row is the answer for one size.
type Row struct {
	planner.Row
	Latency collective.Bound // the least time by latency; zero where the costs count none
	Basis   Basis            // of the plan's prediction
	NCCL    Baseline
	Before  *planner.Row // the plan for the machine before its change, or without its faults; nil where there is none, or not asked for
	Kept    planner.Kept // that plan on the machine
	Idle    *planner.Row // the plan without the traffic of others; nil where there is none, or not asked for
}

// Limit is the least time that any schedule takes: by bandwidth or by latency.
func (r *Row) Limit() collective.Bound {
	if r.Latency.Time > r.Bound.Time {
		return r.Latency
	}
	return r.Bound
}

// Share is the share of a limit in the time of the plan: 1 is optimal, 0 where nothing takes time.
func (r *Row) Share(limit collective.Bound) float64 {
	if r.Prediction.Time <= 0 {
		return 0
	}
	return float64(limit.Time) / float64(r.Prediction.Time)
}

// Bandwidths are nccl-tests' algorithm and bus bandwidth in GB/s (1e9 bytes/s).
func Bandwidths(spec collective.Spec, size units.Bytes, t units.Time) (alg, bus float64) {
	if t <= 0 || spec.Kind == collective.Barrier { // which moves no bytes
		return 0, 0
	}
	alg = float64(size) / t.Seconds() / 1e9
	return alg, alg * spec.Kind.BusFactor(spec.Ranks)
}

// Progress is told how many of all sizes are done, and how the plan of the next one stands; it may be nil.
type Progress interface {
	Set(done, total int)
	Say(standing string)
}

// Ask makes a question and answers it.
func Ask(a Asked, progress Progress) (*Answer, error) {
	q, err := New(a)
	if err != nil {
		return nil, err
	}
	return q.Answer(progress)
}

// Answer plans for each size.
func (q *Question) Answer(progress Progress) (*Answer, error) {
	a := &Answer{Question: q, score: q.scorer()}
	rows, err := a.plan(progress)
	if err != nil {
		return nil, err
	}
	for _, r := range rows {
		a.Rows = append(a.Rows, Row{Row: r})
	}
	if err := a.limits(); err != nil {
		return nil, err
	}
	if q.asked.Detail.Changes {
		err = a.changes(progress)
	}
	return a, err
}

// AnswerWith is the answer by one schedule for all sizes, in place of a search.
func (q *Question) AnswerWith(s *schedule.Schedule) (*Answer, error) {
	a := &Answer{Question: q, score: q.scorer()}
	a.score.Limit = 0
	for _, size := range q.asked.Sizes {
		r := Row{Row: planner.Row{Size: size, Schedule: s}}
		var err error
		if r.Prediction, err = a.score.Explain(s, size); err != nil {
			return nil, err
		}
		r.Bound = planner.BoundForPlan(q.asked.Topology, q.spec, r.Prediction.Time, size)
		a.Rows = append(a.Rows, r)
	}
	return a, a.limits()
}

func (q *Question) scorer() *score.Scorer {
	s := score.New(q.asked.Topology, q.costs)
	s.Limit = q.limit
	s.Add(kernels.Longer(q.asked.Topology, q.costs, q.asked.Collective.Element))
	return s
}

func (a *Answer) plan(progress Progress) (rows []planner.Row, err error) {
	q := a.Question
	o := q.planOptions(progress)
	if q.asked.Detail.Pareto {
		rows, a.Pareto, err = planner.PlanFront(q.asked.Topology, q.spec, q.asked.Sizes, a.score, o)
		return rows, err
	}
	return planner.Plan(q.asked.Topology, q.spec, q.asked.Sizes, a.score, o)
}

// limits adds the limit by latency and the library's side to each row.
func (a *Answer) limits() error {
	q := a.Question
	latency := planner.LatencyBound(q.asked.Topology, q.spec, q.costs)
	if latency.Time == 0 {
		latency.Cut = ""
	}
	var err error
	if a.baseline, err = q.baseline(); err != nil {
		return err
	}
	bases := q.basesOf()
	for i := range a.Rows {
		r := &a.Rows[i]
		r.Latency = latency
		if r.NCCL, err = a.baseline.at(q.spec, r.Size); err != nil {
			return err
		}
		r.NCCL.keepTo(r.Limit())
		r.Basis = bases.basis(r.Schedule, r.Prediction.Warnings)
	}
	return nil
}

// Resize makes a row one of another size, by the same schedule: of what whole elements move.
func (a *Answer) Resize(row int, size units.Bytes) (err error) {
	r := &a.Rows[row]
	if r.Size == size {
		return nil
	}
	if r.NCCL, err = a.baseline.at(a.Question.spec, size); err != nil {
		return err
	}
	r.Size = size
	r.Prediction, err = a.score.Explain(r.Schedule, size)
	return err
}

// Run has schedules simulated as what runs in their place from now on, with up to so many slices on their way side by side.
func (a *Answer) Run(as score.As, streams int) { a.score.Run(as, streams) }

// Replan makes a row's plan the best of those that the question allows, in other protocols, as they run.
func (a *Answer) Replan(row int, protocols ...schedule.Protocol) error {
	q := a.Question
	o := q.planOptions(nil)
	o.Protocols, o.Build.Streams = protocols, a.score.Streams()
	rows, err := planner.Plan(q.asked.Topology, q.spec, []units.Bytes{a.Rows[row].Size}, a.score, o)
	if err == nil {
		a.Rows[row].Row = rows[0]
	}
	return err
}

// Explain predicts a schedule at a size by the question's costs.
func (a *Answer) Explain(s *schedule.Schedule, size units.Bytes) (planner.Prediction, error) {
	return a.score.Explain(s, size)
}

// Crossovers are the sizes at which another schedule becomes the best, where data are aligned: sizes that are looked at in between are
// anybody's.
func (a *Answer) Crossovers() ([]planner.Crossover, error) {
	rows := make([]planner.Row, len(a.Rows))
	for i := range a.Rows {
		rows[i] = a.Rows[i].Row
	}
	aligned := *a.score
	aligned.Add(nil)
	return planner.Crossovers(rows, &aligned, a.Question.asked.Search.Budget)
}

// takeOver puts a plan of the whole machine in the place of one for what is left.
func (a *Answer) takeOver(row *Row, old *schedule.Schedule, t units.Time) (err error) {
	topo := a.Question.asked.Topology
	s := *old
	s.TopologyName, s.TopologyHash = topo.Name(), topo.Hash()
	row.RunnerUp, row.RunnerTime, row.Schedule = row.Schedule, row.Prediction.Time, &s
	row.Why = slices.Insert(row.Why, 0, planner.Considered{Schedule: &s, Time: t})
	row.Bound = planner.BoundForPlan(topo, a.Question.spec, t, row.Size)
	row.Prediction, err = a.score.Explain(&s, row.Size)
	return err
}
