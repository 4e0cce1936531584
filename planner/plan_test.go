package planner_test

import (
	"fmt"
	"testing"

	"railyard/model/collective"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/planner"
	"railyard/topologies"
)

// model is a score by hand: latency and time for each byte by algorithm. The estimate
// is a given share of the time.
type model struct {
	alpha, beta map[string]units.Time
	estimate    float64
	scored      map[string]int
	work        map[string]int64
	spent       int64
}

func (m *model) time(s *schedule.Schedule, size units.Bytes) units.Time {
	a, ok := m.alpha[s.Algorithm]
	if !ok {
		a = 1e9
	}
	return a + m.beta[s.Algorithm]*units.Time(size) + units.Time(s.Channels[0].Slices)
}

func (*model) Begin() {}

func (m *model) Spent() int64 { return m.spent }

func (m *model) Work(s *schedule.Schedule) int64 { return m.work[s.Algorithm] }

func (m *model) Foreseen(x, _ *schedule.Schedule) int64 { return m.Work(x) }

func (m *model) Bound(s *schedule.Schedule, size units.Bytes) units.Time {
	return units.Time(m.estimate / 2 * float64(m.time(s, size)))
}

func (m *model) Estimate(s *schedule.Schedule, size units.Bytes) (units.Time, error) {
	return units.Time(m.estimate * float64(m.time(s, size))), nil
}

func (m *model) Time(s *schedule.Schedule, size units.Bytes, _ units.Time) (units.Time, error) {
	m.scored[s.Algorithm]++
	m.spent += m.work[s.Algorithm]
	return m.time(s, size), nil
}

func (m *model) Explain(s *schedule.Schedule, size units.Bytes) (planner.Prediction, error) {
	return planner.Prediction{Time: m.time(s, size), Bottleneck: "made up"}, nil
}

func dgx(t *testing.T, nodes int) (*topology.Topology, collective.Spec) {
	t.Helper()
	topo, err := topology.Load(topologies.Source, "dgx-a100", topology.Options{Nodes: nodes})
	if err != nil {
		t.Fatal(err)
	}
	return topo, collective.Spec{Kind: collective.AllReduce, Ranks: topo.NumRanks()}
}

// direct is fast to start and slow per byte, ring the other way round: they meet where
// 1000 + 100·s = 100000 + s.
func TestPlanFindsBestAndCrossover(t *testing.T) {
	topo, spec := dgx(t, 1)
	for _, estimate := range []float64{1, 0.5, 0} { // from exact to useless
		m := &model{alpha: map[string]units.Time{"direct": 1e3, "ring": 1e5}, beta: map[string]units.Time{"direct": 100, "ring": 1},
			estimate: estimate, scored: map[string]int{}}
		rows, err := planner.Plan(topo, spec, []units.Bytes{1, 1 << 20}, m, planner.PlanOptions{Why: true})
		if err != nil {
			t.Fatal(err)
		}
		if a, b := rows[0].Schedule.Algorithm, rows[1].Schedule.Algorithm; a != "direct" || b != "ring" {
			t.Errorf("estimate %v: %s and %s", estimate, a, b)
		}
		if rows[0].RunnerUp == nil || rows[0].RunnerUp.Algorithm != "ring" || rows[0].RunnerLoss() < 80 {
			t.Errorf("estimate %v: runner-up of the small size: %+v", estimate, rows[0].RunnerUp)
		}
		if rows[0].Why[0].Limit != "made up" || rows[0].Why[0].Schedule != rows[0].Schedule {
			t.Errorf("estimate %v: the best candidate is not first: %+v", estimate, rows[0].Why[0])
		}
		if estimate == 1 && m.scored["knomial"] > 0 {
			t.Error("a candidate that cannot win was scored")
		}
		cross, err := planner.Crossovers(rows, m, 0)
		if err != nil || len(cross) != 1 || cross[0].Size < 1000 || cross[0].Size > 1020 {
			t.Errorf("crossovers %+v, %v; want one at 1000 B", cross, err)
		}
	}
}

// Where times take long to find out for a budget, lines between the sizes that were planned say about where schedules meet.
func TestDearSchedulesMeetWhereTheirLinesDo(t *testing.T) {
	topo, spec := dgx(t, 1)
	m := &model{alpha: map[string]units.Time{"direct": 1e3, "ring": 1e5}, beta: map[string]units.Time{"direct": 100, "ring": 1},
		scored: map[string]int{}}
	rows, err := planner.Plan(topo, spec, []units.Bytes{1, 1 << 20}, m, planner.PlanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	const work = int64(planner.DefaultBudget) / 8
	m.work, m.spent = map[string]int64{"direct": work, "ring": work}, 0
	for _, c := range []struct {
		budget planner.Budget
		about  bool
	}{{0, true}, {64 * planner.DefaultBudget, false}, {planner.DefaultBudget, true}} {
		m.spent = 0
		cross, err := planner.Crossovers(rows, m, c.budget)
		if err != nil || len(cross) != 1 || cross[0].Size < 990 || cross[0].Size > 1020 || cross[0].About != c.about {
			t.Errorf("budget %d: crossovers %+v, %v; want one at 1000 B, about so: %v", c.budget, cross, err, c.about)
		}
		if (m.spent == 0) != c.about {
			t.Errorf("budget %d: %d operations, though times at both ends are known", c.budget, m.spent)
		}
	}
}

// Equal times go to the name that comes first, on every run.
func TestPlanBreaksTiesByName(t *testing.T) {
	topo, spec := dgx(t, 1)
	m := &model{alpha: map[string]units.Time{"two_shot": 5, "direct": 5, "ring": 5}, scored: map[string]int{}}
	rows, err := planner.Plan(topo, spec, []units.Bytes{1 << 20}, m, planner.PlanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if rows[0].Schedule.Algorithm != "direct" || rows[0].RunnerUp.Algorithm != "ring" {
		t.Errorf("%s before %s", rows[0].Schedule.Algorithm, rows[0].RunnerUp.Algorithm)
	}
}

// What is dear to simulate has to promise more: 0.25 % for each million operations.
func TestDearCandidatesHaveToPromise(t *testing.T) {
	topo, spec := dgx(t, 1)
	for _, c := range []struct {
		ring int64 // operations
		want string
	}{{10_000, "ring"}, {1_000_000, "ring"}, {6_000_000, "direct"}} {
		m := &model{alpha: map[string]units.Time{"direct": 1_000_000, "ring": 990_000, "two_shot": 1_100_000}, estimate: 1,
			scored: map[string]int{}, work: map[string]int64{"ring": c.ring}}
		rows, err := planner.Plan(topo, spec, []units.Bytes{1 << 20}, exactly{m}, planner.PlanOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if got := rows[0].Schedule.Algorithm; got != c.want {
			t.Errorf("%d operations: %s", c.ring, got)
		}
		for _, x := range rows[0].Why {
			if skipped := x.Schedule.Algorithm == "ring" && c.want != "ring"; skipped != (x.Gain > 0) {
				t.Errorf("%d operations: %s could gain %v", c.ring, x.Schedule.Algorithm, x.Gain)
			}
		}
	}
}

// exactly is a model whose bounds are times.
type exactly struct{ *model }

func (m exactly) Bound(s *schedule.Schedule, size units.Bytes) units.Time { return m.time(s, size) }

// The list that is scored stays short, without twins, on a box of eight GPUs.
func TestCandidatesAreFewAndDiffer(t *testing.T) {
	for _, nodes := range []int{1, 4} {
		topo, spec := dgx(t, nodes)
		for _, kind := range []collective.Kind{collective.AllReduce, collective.AllGather, collective.Broadcast, collective.Gather,
			collective.AllToAll, collective.Barrier} {
			spec.Kind = kind
			list, err := planner.Candidates(topo, spec, "", planner.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if nodes == 1 && len(list) > 30 {
				t.Errorf("%v: %d candidates", kind, len(list))
			}
			seen := map[string]bool{}
			for _, s := range list {
				if n := planner.Name(s); seen[n] {
					t.Errorf("%v: %s twice", kind, n)
				} else {
					seen[n] = true
				}
			}
		}
	}
	if _, err := planner.Candidates(func() (*topology.Topology, collective.Spec, string, planner.Options) {
		topo, spec := dgx(t, 1)
		return topo, spec, "no_such", planner.Options{}
	}()); err == nil {
		t.Error("an unknown algorithm was accepted")
	}
}

// Options decide what they name: channels and slices reach the schedule.
func TestOptionsReachTheSchedule(t *testing.T) {
	topo, spec := dgx(t, 2)
	for _, c := range []struct {
		algorithm        string
		channels, slices int
	}{{"ring", 3, 1}, {"ring", 20, 2}, {"hierarchical_ring", 0, 7}} {
		s, err := planner.Build(topo, spec, c.algorithm, planner.Options{Protocol: schedule.LL128, Channels: c.channels, Slices: c.slices})
		if err != nil {
			t.Fatal(err)
		}
		if c.channels > 0 && len(s.Channels) != c.channels || s.Channels[0].Slices != c.slices || s.Protocol != schedule.LL128 ||
			s.Inputs["slices"] != fmt.Sprint(c.slices) {
			t.Errorf("%+v: %d channels, %d slices, %s, %v", c, len(s.Channels), s.Channels[0].Slices, s.Protocol, s.Inputs)
		}
	}
}
