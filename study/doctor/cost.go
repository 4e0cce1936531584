package doctor

import (
	"errors"
	"fmt"

	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/health"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/planner"
	"railyard/study"
)

// size is what costs are asked of: large enough for rates to decide, as nccl-tests ends with.
const size = units.GiB

// costs prices findings on a machine.
type costs struct {
	site    study.Site
	profile string
	network bool // there are networks between such machines
}

func newCosts(site study.Site, t *topology.Topology, profile string) *costs {
	c := &costs{site: site, profile: profile}
	if two, err := site.Part(2, 0); err == nil {
		_, err = topology.NewRouter(two).Route(0, t.NumRanks())
		c.network = err == nil
	}
	return c
}

// price asks what an all-reduce takes on the machine with the finding's parts slow or failed, on one node and over the network; the
// worse of both is the cost.
func (c *costs) price(f *health.Finding) error {
	if c == nil || f.Effect.On == "" || f.Cost.Known {
		return nil
	}
	for nodes := 1; nodes == 1 || nodes == 2 && c.network && effects[f.Effect.On].network; nodes++ {
		x, err := c.ask(&f.Effect, nodes)
		if err != nil {
			return fmt.Errorf("the cost of %q: %w", f.Part+" "+f.Says, err)
		}
		if x.Known && (!f.Cost.Known || x.Share > f.Cost.Share) {
			f.Cost = x
		}
	}
	return nil
}

func (c *costs) ask(e *health.Effect, nodes int) (health.Cost, error) {
	whole, err := c.site.Part(nodes, 0)
	if err != nil {
		return health.Cost{}, err
	}
	of, ok := effects[e.On]
	if !ok {
		return health.Cost{}, fmt.Errorf("there is no effect %q", e.On)
	}
	faults := of.faults(whole, e)
	if len(faults) == 0 {
		return health.Cost{}, nil
	}
	broken, err := whole.Degrade(faults)
	if err != nil {
		return health.Cost{}, err
	}
	m, err := cost.MachineOn(whole, c.profile)
	if err != nil {
		return health.Cost{}, err
	}
	a, err := study.Ask(study.Asked{Topology: broken, Collective: study.Collective{Kind: collective.AllReduce}, Sizes: []units.Bytes{size},
		Machine: m, Detail: study.Detail{Changes: true}}, nil)
	var cut topology.Unreachable
	if errors.As(err, &cut) {
		return health.Cost{}, nil // nothing runs at all: the level says so
	}
	if err != nil {
		return health.Cost{}, err
	}
	return costOf(&a.Rows[0], whole, m), nil
}

// costOf is how much longer the plan of the whole machine takes, kept and planned again.
func costOf(r *study.Row, whole *topology.Topology, m *cost.Machine) health.Cost {
	if r.Before == nil || r.Before.Prediction.Time <= 0 {
		return health.Cost{}
	}
	more := func(t units.Time) float64 { return max(float64(t)/float64(r.Before.Prediction.Time)-1, 0) }
	x := health.Cost{Known: true, Best: more(r.Prediction.Time),
		How: fmt.Sprintf("simulated with %s, profile %s", planner.Name(r.Before.Schedule), m.Name),
		Of:  fmt.Sprintf("all-reduce of %v on %s", units.Bytes(size), units.Counted(whole.NumRanks(), "GPU"))}
	x.Share = x.Best
	if r.Kept.Time > 0 {
		x.Share = more(r.Kept.Time)
	}
	return x
}
