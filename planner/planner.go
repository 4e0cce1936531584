package planner

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"railyard/model/collective"
	"railyard/model/schedule"
	"railyard/model/topology"
)

// Tool is the version that schedules carry.
const Tool = "railyard 0.1.0"

// Algorithm is a way to build schedules.
type Algorithm struct {
	Name  string
	Doc   string
	Paper string

	makes   []collective.Kind    // nil: all
	applies func(*request) error // says why a topology does not do; nil: the builder finds out
	build   builder
	depth   depths               // nil: one slice
	spare   func(*request) bool  // whether another algorithm does at least as well here; nil: never
	cost    func(*request) int64 // of its simulation (see perCandidate); nil: little
}

// Options of a build.
type Options struct {
	Protocol schedule.Protocol // "" is simple
	Channels int               // 0: the algorithm's own choice
	Slices   int               // 0: 1
	Streams  int               // up to so many slices are on their way side by side, even those of one phase; 0: 1
	Budget   Budget            // 0: DefaultBudget
}

// errNotApplicable is wrapped by algorithms that do not fit a topology or collective.
var errNotApplicable = errors.New("does not apply")

func notApplicable(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errNotApplicable, fmt.Sprintf(format, args...))
}

// NotApplicable reports whether an error of Build says that the algorithm does not fit
// the topology or the collective, rather than that something is wrong.
func NotApplicable(err error) bool { return errors.Is(err, errNotApplicable) }

// Algorithms are all algorithms, by name.
func Algorithms() []Algorithm { return slices.Clone(algorithms) }

// Build makes a schedule by one algorithm. The error says why it does not apply.
func Build(t *topology.Topology, spec collective.Spec, name string, o Options) (*schedule.Schedule, error) {
	if err := spec.Validate(); err != nil {
		return nil, err
	}
	a, err := find(name)
	if err != nil {
		return nil, err
	}
	return newRequest(t, spec, o).build(a)
}

func find(name string) (*Algorithm, error) {
	for i := range algorithms {
		if algorithms[i].Name == name {
			return &algorithms[i], nil
		}
	}
	var names []string
	for _, a := range algorithms {
		names = append(names, a.Name)
	}
	return nil, fmt.Errorf("unknown algorithm %q: must be one of %s", name, strings.Join(names, ", "))
}

// request is what an algorithm builds from.
type request struct {
	t      *topology.Topology
	spec   collective.Spec
	o      Options
	router *topology.Router
	built  *schedule.Schedule // the last one; nil: none
}

func newRequest(t *topology.Topology, spec collective.Spec, o Options) *request {
	o.Budget = cmp.Or(o.Budget, DefaultBudget)
	return &request{t: t, spec: spec, o: o, router: topology.NewRouter(t)}
}

func (r *request) build(a *Algorithm) (*schedule.Schedule, error) {
	if err := a.refuses(r.spec.Kind); err != nil {
		return nil, err
	}
	s, err := a.made(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", a.Name, err)
	}
	s.Channels = repeat(s.Channels, r.o.Channels)
	s.Algorithm = a.Name
	s.Spec = r.spec
	s.Protocol = cmp.Or(r.o.Protocol, schedule.Simple)
	s.TopologyName, s.TopologyHash, s.Tool = r.t.Name(), r.t.Hash(), Tool
	s.Inputs = map[string]string{"algorithm": a.Name, "slices": fmt.Sprint(r.slices())}
	if r.o.Channels > 0 {
		s.Inputs["channels"] = fmt.Sprint(r.o.Channels)
	}
	s.Needs = s.Uses()
	if err := s.ValidateAfter(r.built); err != nil {
		return nil, fmt.Errorf("%s: %w", a.Name, err)
	}
	r.built = s
	return s, nil
}

func (a *Algorithm) made(r *request) (*schedule.Schedule, error) {
	if a.applies != nil {
		if err := a.applies(r); err != nil {
			return nil, err
		}
	}
	return a.build(r)
}

// repeat makes as many channels as are asked for of those that an algorithm has, in turn; 0 leaves it to the algorithm. Copies of a
// channel are of unlike numbers of slices: while the messages of one are on their way, those of another fill the links. In as many
// slices, all would wait at the same time. They are a third apart: by a quarter, pipelines of two rest on all adapters being equally fast
// (docs/evidence/planning-methods.md); by a half, they get deeper than small data are worth.
func repeat(channels []schedule.Channel, want int) []schedule.Channel {
	if want == 0 {
		return channels
	}
	out := make([]schedule.Channel, want)
	for i := range out {
		out[i] = channels[i%len(channels)]
		if copies := i / len(channels); out[i].Slices > 1 {
			out[i].Slices += copies * ((out[i].Slices + 1) / 3)
		}
	}
	return out
}

// twice is a channel in two that hide latencies from one another, where there is a pipeline to be filled.
func (r *request) twice(ch schedule.Channel) []schedule.Channel {
	if ch.Slices == 1 || r.o.Channels > 0 { // as many as are asked for
		return []schedule.Channel{ch}
	}
	return repeat([]schedule.Channel{ch}, 2)
}

func (r *request) slices() int { return max(r.o.Slices, 1) }

// rootIn is the position of the root rank in an order.
func (r *request) rootIn(order []int32) int {
	if !r.spec.Kind.Rooted() {
		return 0
	}
	return slices.Index(order, int32(r.spec.Root))
}

// identity is 0, 1, …, n−1.
func identity(n int) []int32 { return rotated(n, 0) }

// rotated is shift, shift+1, … modulo n.
func rotated(n int, shift int32) []int32 {
	out := make([]int32, n)
	for i := range out {
		out[i] = (int32(i) + shift) % int32(n)
	}
	return out
}

// all is one group of all ranks in an order.
func all(order []int32) schedule.Groups {
	return schedule.Groups{List: []schedule.Group{{Ranks: order}}}
}

// flat is a channel with one phase over all ranks.
func (r *request) flat(gen string, order []int32, chunks int) schedule.Channel {
	acc := schedule.Scratch
	if r.spec.Kind == collective.AllReduce {
		acc = schedule.Output
	}
	return schedule.Channel{Share: 1, Slices: r.slices(), Chunks: chunks, Phases: []schedule.Phase{{
		Gen: gen, Op: r.spec.Kind, Groups: all(order), Src: schedule.Input, Acc: acc, Dst: schedule.Output, Root: r.rootIn(order)}}}
}

// of is a schedule of channels.
func of(channels ...schedule.Channel) *schedule.Schedule {
	return &schedule.Schedule{Channels: channels}
}

// pipeline is a channel of phases each of which goes on with what the one before it leaves (see chained).
func (r *request) pipeline(chunks int, phases ...schedule.Phase) schedule.Channel {
	return schedule.Channel{Share: 1, Slices: r.slices(), Chunks: chunks, Phases: chained(phases)}
}

// chained says where phases read and write: from the input to the output, by way of scratch as long as what they leave is no result of
// all ranks that the phases behind them only spread.
func chained(phases []schedule.Phase) []schedule.Phase {
	spreads := func(ph schedule.Phase) bool { return ph.Op == collective.AllGather || ph.Op == collective.Broadcast }
	src := schedule.Input
	for i := range phases {
		ph, behind := &phases[i], phases[i+1:]
		ph.Src, ph.Acc, ph.Dst = src, schedule.Scratch, schedule.Scratch
		if !slices.ContainsFunc(behind, func(o schedule.Phase) bool { return !spreads(o) }) {
			if ph.Dst = schedule.Output; spreads(*ph) || ph.Op == collective.Scatter && len(behind) > 0 {
				ph.Acc = schedule.Output
			}
		}
		src = ph.Dst
	}
	return phases
}

// twoPhases is an all-reduce as reduce-scatter and all-gather by one generator.
func (r *request) twoPhases(gen string, order []int32) schedule.Channel {
	return r.pipeline(len(order), schedule.Phase{Gen: gen, Op: collective.ReduceScatter, Groups: all(order)},
		schedule.Phase{Gen: gen, Op: collective.AllGather, Groups: all(order)})
}

// chunksFor is n for collectives that are split by rank, else 1.
func (r *request) chunksFor(n int) int {
	switch r.spec.Kind {
	case collective.Broadcast, collective.Reduce, collective.SendRecv, collective.Barrier:
		return 1
	}
	return n
}

// routable reports whether every rank of a cyclic order reaches the next.
func (r *request) routable(order []int32) error {
	for i, a := range order {
		b := order[(i+1)%len(order)]
		if a == b {
			continue
		}
		if err := r.router.Reach(int(a), int(b)); err != nil {
			return notApplicable("%v", err)
		}
	}
	return nil
}

// allRoutable reports whether all pairs reach one another, which is asked once: over one connected network, or,
// where that is not what joins them, by routes, of which a regular sample stands for those of many ranks. Links lead both
// ways but where one of them has failed.
func (r *request) allRoutable() error {
	type key struct{}
	return topology.Once(r.t, key{}, r.reachAll)
}

// sampled is up to how many ranks all routes are looked up to see that there are some; of more, about as many stand for all. A fault may
// leave a single pair without.
const sampled = 256

func (r *request) reachAll() error {
	n := r.spec.Ranks
	if r.router.ReachesAll() {
		return nil
	}
	step := max(1, n/sampled) | 1 // odd, so that the sample changes nodes and rails
	for a := 0; a < n; a += step {
		for b := a + step; b < n; b += step {
			for _, pair := range [2][2]int{{a, b}, {b, a}} {
				if err := r.router.Reach(pair[0], pair[1]); err != nil {
					return notApplicable("%v", err)
				}
			}
		}
	}
	return nil
}
