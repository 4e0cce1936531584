package planner

import (
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
	build func(*request) (*schedule.Schedule, error)
	depth depths
}

// Options of a build.
type Options struct {
	Protocol schedule.Protocol // "" is simple
	Channels int               // 0: the algorithm's own choice
	Slices   int               // 0: 1
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

var algorithms []Algorithm

// Alphabetical, so that ties are broken by name.
func init() {
	algorithms = []Algorithm{
		{"alternating_ring", "a ring for each NIC, direction alternating from node to node, so that every NIC works",
			"S. Ozog, Penny, 2025", buildAlternatingRing, ringDepths},
		{"balanced_rails", "all_to_allv in equal parts over all rails, through the GPUs on them", "Valiant 1982", buildBalancedRails,
			tierDepths},
		{"bent_rails", "hierarchical_two_shot whose rails bend around what nodes have lost", "", buildBentRails, bentDepths},
		{"breadth_first", "store and forward on shortest paths over direct links, evenly spread", "Zhao et al., BFB, 2022",
			buildBreadthFirst, breadthFirstDepths},
		{"bruck", "⌈log₂ n⌉ steps for any number of ranks", "Bruck et al. 1997", buildBruck, oneDepth},
		{"direct", "everybody talks to everybody; all_reduce: in one shot", "", buildDirect, oneDepth},
		{"double_binary_tree", "two trees in which each rank is inner node once, half the bytes each", "Sanders, Speck, Träff 2009",
			buildDoubleBinaryTree, treeDepths},
		{"doubling", "recursive doubling: log₂ n exchanges of everything", "Thakur et al. 2005", buildDoubling, oneDepth},
		{"few_trees", "packed_trees with each root's data in eight parts at most: fewer messages",
			"Edmonds 1973; Zhao et al., ForestColl, 2024", buildFewTrees, fewDepths},
		{"flows", "every pair's data over paths that load all direct links evenly", "Garg, Könemann 1998; Zhao et al. 2023", buildFlows,
			flowDepths},
		{"halving_doubling", "recursive halving, then doubling", "Rabenseifner 2004", buildHalvingDoubling, oneDepth},
		{"hierarchical_all_to_all", "aggregate inside the node, then one message for each node on its rail", "Sanders, Träff 2002",
			buildHierarchicalAllToAll, tierDepths},
		{"hierarchical_direct", "reduce-scatter in each node, rings over the NICs, all-gather back", "Jia et al. 2018",
			buildHierarchicalDirect, tierDepths},
		{"hierarchical_doubling", "reduce-scatter in each node, ⌈log₂⌉ exchanges over the NICs, all-gather back",
			"Jia et al. 2018; Rabenseifner 2004", buildHierarchicalDoubling, oneDepth},
		{"hierarchical_in_network", "switches combine and multiply inside the node; across too where they can, else rings",
			"Graham et al., SHARP, 2016", buildHierarchicalInNetwork, hierarchicalSwitchDepths},
		{"hierarchical_ring", "a ring at every tier, one after the other", "Jia et al. 2018", buildHierarchicalRing, tierDepths},
		{"hierarchical_tree", "reduce-scatter in each node, a double binary tree over the NICs, all-gather back",
			"Sanders, Speck, Träff 2009", buildHierarchicalTree, tierDepths},
		{"hierarchical_two_shot", "everybody to everybody in each node, then over the NICs", "", buildHierarchicalTwoShot, twoShotDepths},
		{"in_network", "switches combine what goes to a rank and multiply what it sends to all", "Graham et al., SHARP, 2016",
			buildInNetwork, switchDepths},
		{"knomial", "binomial tree", "Thakur et al. 2005", buildKnomial, treeDepths},
		{"packed_trees", "spanning trees that fill scale-up links and NICs at once", "Edmonds 1973; Zhao et al., ForestColl, 2024",
			buildPackedTrees, packedDepths},
		{"pairwise", "all_to_all in n−1 steps, nobody hit by two at once", "Thakur et al. 2005", buildPairwise, oneDepth},
		{"parallel_trees", "packed_trees with a channel for each part of the data, where links behind switches are shared",
			"Edmonds 1973; Zhao et al., ForestColl, 2024", buildParallelTrees, parallelDepths},
		{"quadrinomial", "4-nomial tree: fewer levels, more children", "Thakur et al. 2005", buildQuadrinomial, treeDepths},
		{"rail_flows", "every pair's data between nodes over rails as these have room, where nodes are not alike", "Sanders, Träff 2002",
			buildRailFlows, railFlowDepths},
		{"rail_shares", "hierarchies for nodes that are not alike: shares of rails and of roots as these have room",
			"Garg, Könemann 1998; Zhao et al., ForestColl, 2024", buildRailShares, railDepths},
		{"ring", "as many link-disjoint rings as the topology has, both directions", "Patarasuk, Yuan 2009", buildRing, ringDepths},
		{"scatter_allgather", "broadcast as scatter and all-gather", "van de Geijn 1994", buildScatterAllGather, oneDepth},
		{"scatter_exchange", "broadcast dealt out to all others, who pass it on to one another", "", buildScatterExchange, oneDepth},
		{"short_flows", "flows on paths of as few links as the fullest link allows", "Garg, Könemann 1998; Zhao et al. 2023",
			buildShortFlows, flowDepths},
		{"simple_ring", "one ring, for small buffers", "Patarasuk, Yuan 2009", buildSimpleRing, ringDepths},
		{"two_shot", "direct reduce-scatter and direct all-gather", "", buildTwoShot, oneDepth},
	}
}

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
	inside [][]int32 // the first node's local rings, found once

	gridded map[string]error // by dimensions: what gridRoutable found
	rotates *bool            // what alike found

	rotatesByTier *bool // what alikeByTier found
}

func newRequest(t *topology.Topology, spec collective.Spec, o Options) *request {
	return &request{t: t, spec: spec, o: o, router: topology.NewRouter(t), gridded: map[string]error{}}
}

func (r *request) build(a *Algorithm) (*schedule.Schedule, error) {
	s, err := a.build(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", a.Name, err)
	}
	s.Channels = repeat(s.Channels, r.o.Channels)
	s.Algorithm = a.Name
	s.Spec = r.spec
	s.Protocol = r.o.Protocol
	if s.Protocol == "" {
		s.Protocol = schedule.Simple
	}
	s.TopologyName, s.TopologyHash, s.Tool = r.t.Name(), r.t.Hash(), Tool
	s.Inputs = map[string]string{"algorithm": a.Name, "slices": fmt.Sprint(r.slices()), "channels": fmt.Sprint(len(s.Channels))}
	s.Needs = s.Uses()
	if err := s.Validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", a.Name, err)
	}
	return s, nil
}

// repeat makes as many channels as are asked for of those that an algorithm has, in
// turn; 0 leaves it to the algorithm.
func repeat(channels []schedule.Channel, want int) []schedule.Channel {
	if want == 0 {
		return channels
	}
	out := make([]schedule.Channel, want)
	for i := range out {
		out[i] = channels[i%len(channels)]
	}
	return out
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
func identity(n int) []int32 {
	out := make([]int32, n)
	for i := range out {
		out[i] = int32(i)
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

// twoPhases is an all-reduce as reduce-scatter and all-gather by one generator.
func (r *request) twoPhases(gen string, order []int32) schedule.Channel {
	g := all(order)
	return schedule.Channel{Share: 1, Slices: r.slices(), Chunks: len(order), Phases: []schedule.Phase{
		{Gen: gen, Op: collective.ReduceScatter, Groups: g, Src: schedule.Input, Acc: schedule.Scratch, Dst: schedule.Output},
		{Gen: gen, Op: collective.AllGather, Groups: g, Src: schedule.Output, Acc: schedule.Output, Dst: schedule.Output}}}
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
		if _, err := r.router.Route(int(a), int(b)); err != nil {
			return notApplicable("%v", err)
		}
	}
	return nil
}

// allRoutable reports whether all pairs reach one another, which is asked once; where
// there are many ranks, a regular sample stands for all. Links lead both ways but where
// one of them has failed.
func (r *request) allRoutable() error {
	type key struct{}
	return topology.Once(r.t, key{}, r.reachAll)
}

// sampled is how many ranks stand for all where routes are looked up only to see that
// there are some; in networks of three levels, a route is hundreds of hops.
const sampled = 24

func (r *request) reachAll() error {
	n := r.spec.Ranks
	step := max(1, n/sampled) | 1 // odd, so that the sample changes nodes and rails
	for a := 0; a < n; a += step {
		for b := a + step; b < n; b += step {
			_, err := r.router.Route(a, b)
			if err == nil && len(r.t.Faults()) > 0 {
				_, err = r.router.Route(b, a)
			}
			if err != nil {
				return notApplicable("%v", err)
			}
		}
	}
	return nil
}

// wants refuses collectives that an algorithm does not make.
func (r *request) wants(kinds ...collective.Kind) error {
	if !slices.Contains(kinds, r.spec.Kind) {
		return notApplicable("it does not make %v", r.spec.Kind)
	}
	return nil
}
