package doctor

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/health"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/planner"
	"railyard/sim/crossing"
	"railyard/study"
)

// size is what costs are asked of: large enough for rates to decide, as nccl-tests ends with.
const size = units.GiB

// costs prices findings on a machine.
type costs struct {
	site    study.Site
	profile string
	network bool                  // there are networks between such machines
	whole   map[int]*study.Answer // what the whole machine takes, by nodes
}

func newCosts(site study.Site, t *topology.Topology, profile string) *costs {
	c := &costs{site: site, profile: profile, whole: map[int]*study.Answer{}}
	if two, err := site.Part(2, 0); err == nil {
		_, err = topology.NewRouter(two).Route(0, t.NumRanks())
		c.network = err == nil
	}
	return c
}

// price asks what an all-reduce takes on the machine with the finding's parts slow or failed; where it is asked of one node and over
// the network, the worse of both is the cost.
func (c *costs) price(f *health.Finding) error {
	e, ok := effects[f.Effect.On]
	switch {
	case f.Effect.On == "" || f.Cost.Known:
		return nil
	case !ok:
		return fmt.Errorf("%s: there is no effect %q", f.Rule, f.Effect.On)
	case e.of != "":
		if left := f.Effect.Left; left > 0 { // else nobody knows, as of the clock of a GPU that rests
			f.Cost = health.Cost{Known: true, Of: e.of, Share: 1/left - 1, Best: 1/left - 1, How: e.how}
		}
		return nil
	case c == nil:
		return nil
	}
	for _, nodes := range e.nodes {
		if nodes > 1 && !c.network {
			continue
		}
		x, err := c.ask(&e, &f.Effect, nodes)
		if err != nil {
			return fmt.Errorf("the cost of %q: %w", f.Part+" "+f.Says, err)
		}
		if x.Known && (!f.Cost.Known || x.Share > f.Cost.Share) {
			f.Cost = x
		}
	}
	if e.host && f.Cost.Share < noise {
		return c.copies(&e, f)
	}
	return nil
}

// copies prices a finding by what a GPU's copies to the host lose, at the rates of the links.
func (c *costs) copies(of *effect, f *health.Finding) error {
	t, err := c.site.Part(1, 0)
	if err != nil {
		return err
	}
	faults, err := of.faults(c, t, &f.Effect)
	if err != nil || len(faults) == 0 {
		return err
	}
	broken, err := t.Degrade(faults)
	if err != nil {
		return err
	}
	for _, d := range gpusOf(t, &f.Effect) {
		before, ok := topology.NewRouter(t).ToHost(t.RankOf(d))
		after, also := topology.NewRouter(broken).ToHost(t.RankOf(d))
		if more := float64(before.Rate)/float64(after.Rate) - 1; ok && also && more > f.Cost.Share {
			f.Cost = health.Cost{Known: true, Of: "a copy to the host", Share: more, Best: more, How: "line rates of " + t.Name()}
		}
	}
	return nil
}

// ask is the cost on so many nodes; not known where nothing is faulty there, or nothing runs at all any more.
func (c *costs) ask(of *effect, e *health.Effect, nodes int) (x health.Cost, err error) {
	t, err := c.site.Part(nodes, 0)
	if err != nil {
		return x, err
	}
	m, err := cost.MachineOn(t, c.profile)
	if err != nil {
		return x, err
	}
	asked := study.Asked{Topology: t, Collective: study.Collective{Kind: collective.AllReduce}, Sizes: []units.Bytes{size}, Machine: m}
	if of.asked != nil {
		x, err = of.asked(asked, e)
	} else {
		x, err = c.faulty(asked, of, e)
	}
	x.Of = cmp.Or(x.Of, allReduce(size, t))
	var cut topology.Unreachable
	if errors.As(err, &cut) {
		return health.Cost{}, nil
	}
	return x, err
}

// allReduce is what costs are said of.
func allReduce(of units.Bytes, t *topology.Topology) string {
	return fmt.Sprintf("all-reduce of %s on %s", bytesFigure(float64(of)), units.Counted(t.NumRanks(), "GPU"))
}

// faulty compares with the machine whose parts are slow or failed: the plan of the whole machine kept, and planned again.
func (c *costs) faulty(a study.Asked, of *effect, e *health.Effect) (x health.Cost, err error) {
	broken, err := of.broken(c, a.Topology, e)
	if err != nil || broken == nil {
		return x, err
	}
	nodes := a.Topology.NumNodes()
	if c.whole[nodes] == nil {
		if c.whole[nodes], err = study.Ask(a, nil); err != nil {
			return x, err
		}
	}
	a.Topology = broken
	answer, err := c.whole[nodes].After(a, nil)
	if err != nil {
		return x, err
	}
	r := &answer.Rows[0]
	if r.Before == nil || r.Before.Prediction.Time <= 0 {
		return x, nil
	}
	before := r.Before.Prediction.Time
	x = health.Cost{Known: true, Best: longer(before, r.Prediction.Time),
		How: fmt.Sprintf("simulated with %s, profile %s", planner.Name(r.Before.Schedule), a.Machine.Name)}
	if of.how != "" {
		x.How += "; " + of.how
	}
	x.Share = x.Best
	if r.Kept.Time > 0 {
		x.Share = longer(before, r.Kept.Time)
	}
	return x, nil
}

// expected is what NCCL takes, by size, as it is run; an error where it has no such way.
func expected(a study.Asked, library study.Library) ([]study.Baseline, error) {
	a.Library = library
	q, err := study.New(a)
	if err != nil {
		return nil, err
	}
	return q.Expect()
}

// otherwise compares NCCL as it is run with NCCL left to itself; not known where it has no such way.
func otherwise(a study.Asked, library study.Library) (x health.Cost, err error) {
	free, err := expected(a, study.Library{})
	if err != nil {
		return x, nil
	}
	bound, err := expected(a, library)
	if err != nil {
		return x, nil // of algorithms that do not run there
	}
	more := longer(free[0].Time, bound[0].Time)
	return health.Cost{Known: true, Share: more, Best: more, How: predicted(a)}, nil
}

// predicted says where NCCL's times come from.
func predicted(a study.Asked) string { return "predicted for NCCL, profile " + a.Machine.Name }

// longer is how much longer something takes, as a share.
func longer(before, after units.Time) float64 { return max(float64(after)/float64(before)-1, 0) }

// stagedShare is what a transfer of a rank to the next node gets of its rate when it is staged through host memory.
func (c *costs) stagedShare(t *topology.Topology, rank int) (float64, error) {
	direct, staged, err := c.crossing(t, rank, size)
	return float64(direct) / float64(staged), err
}

// crossing is what a transfer of a rank to the next node takes, and what it takes when it is staged through host memory.
func (c *costs) crossing(t *topology.Topology, rank int, bytes units.Bytes) (direct, staged units.Time, err error) {
	m, err := cost.MachineOn(t, c.profile)
	if err != nil {
		return 0, 0, err
	}
	o, to := crossing.Options{Size: bytes, Shrink: 1, QueuePairs: 2}, rank+t.NumRanks()/t.NumNodes()
	r, err := crossing.Predict(t, rank, to, m.Crossing(), o)
	if err != nil {
		return 0, 0, err
	}
	o.HostStaged = true
	through, err := crossing.Predict(t, rank, to, m.Crossing(), o)
	return r.Time, through.Time, err
}

// message is what a transfer's rate is said of, as study/chosen does: of more, less of staging shows.
const message = 64 * units.MiB

// staging says of each GPU, and of the ways from it, what staging leaves of the rate of its adapters; nothing where that is not known.
func (c *costs) staging(s *health.State) error {
	rates := map[string]string{} // by GPU
	if c != nil && c.network {
		two, err := c.site.Part(2, 0)
		if err != nil {
			return err
		}
		for _, p := range s.Parts(health.GPU) {
			if d, ok := gpuOf(two, p.Name); ok {
				direct, staged, err := c.crossing(two, two.RankOf(d), message)
				if err != nil {
					return err
				}
				rates[p.Name] = fmt.Sprintf(", %.0f of %.0f GB/s", message.Per(staged).GBps(), message.Per(direct).GBps())
			}
		}
	}
	for _, p := range slices.Concat(s.Parts(health.GPU), s.Parts(health.Path)) {
		s.Set(p, "staging", rates[health.OfLink(p.Name)], derived)
	}
	return nil
}
