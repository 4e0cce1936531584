package planner

import (
	"errors"
	"fmt"
	"slices"

	"railyard/model/collective"
	"railyard/model/schedule"
	"railyard/model/symmetry"
	"railyard/model/topology"
)

// depths are the pipeline depths (slices) at which an algorithm is worth a try. For s
// bytes down h hops of α and β, the best number of slices is √((h−1)·s/(α·β)); steps of
// four around it lose little, and which of them is near depends on the size, so all are
// candidates and the score decides.
//
// Algorithms without any are of one phase, whose slices would only follow one another (but on streams: Options.Streams), or of
// pairs, which have to keep step: where one adapter is 1 % slower, a rank that is
// ahead sends into what its partner still receives from another, and falls behind in turn. A
// slice recovers from that, a pipeline of them adds it up until nothing moves both ways at once.
type depths func(*request) []int

var pipelined, deep = []int{1, 4, 16, 64}, []int{1, 4, 16, 64, 256}

// packedDepths: levels of trees are the stages, and all links are in use from the first
// level on, so that only many slices come near the optimum; high trees are cut into
// pieces, which overlap better.
func packedDepths(r *request) []int { return r.treeStages(r.allTrees()) }

// fewDepths: where many pieces are worth it, so are more parts.
func fewDepths(r *request) []int {
	return slices.DeleteFunc(r.treeStages(r.fewTrees()), func(n int) bool { return n > 16 })
}

func (r *request) treeStages(x *treeSet) []int {
	if r.overPCIe(x) {
		return []int{1, 16, 64} // everything shares there, and nothing is gained beyond
	}
	hops := x.hops(r.spec.Ranks)
	if hops > 0 && x.worthOrder() {
		return upTo([]int{1, 4, 16, 32, 64, 256, 1024, 2048}, min(maxProgram/hops, maxChunks/chunksOf(x.trees)))
	}
	// Chunks are whole bytes: of 1,400 and 1,500 slices, rounding takes less now of the one, now of the other.
	all := []int{1, 8, 32, 128, 512, 1400, 1500, 2800}
	if r.t.NumBoxes() > 1 && !r.degraded() {
		return all // equal nodes, which the simulator folds
	}
	return upTo(all, r.o.Budget.part(ofAllTrees)/max(hops, 1))
}

// overPCIe reports whether the first hop of trees goes over PCIe, or memory.
func (r *request) overPCIe(x *treeSet) bool {
	if x.err != nil {
		return true
	}
	parent := x.trees.List[0].Parent
	v := slices.IndexFunc(parent, func(u int32) bool { return u >= 0 })
	route, err := r.router.Route(int(parent[v]), v)
	return err == nil && route.Kind > topology.Switched && route.Kind < topology.Net
}

// degraded reports whether nodes differ since something has failed or is busy: nothing folds
// then, and all messages have to be simulated.
func (r *request) degraded() bool {
	return r.t.NumBoxes() > 1 && (r.t.Healthy() != r.t || r.t.Idle() != r.t)
}

// upTo are the depths that are not too large; the least in any case.
func upTo(depths []int, most int) []int {
	n := len(depths)
	for n > 1 && depths[n-1] > most {
		n--
	}
	return depths[:n]
}

// flowDepths: the hops of the paths are the stages; of all pairs, there are many messages.
func flowDepths(r *request) []int {
	if !slices.Contains(exchanges, r.spec.Kind) {
		return []int{1, 4, 16, 32, 64, 256}
	}
	g, err := r.flowGraph()
	if err != nil {
		return railFlowDepths(r)
	}
	most := r.o.Budget.part(mostFlowSends)
	if g.Vertices > r.spec.Ranks {
		most /= 8 // rates of others are worked out again whenever a message ends
	}
	return upTo([]int{1, 16, 64, 256}, most/r.pairs())
}

// mostFlowSends is up to how many messages of pairs pipelines of flows have: where there are more, ordered_flows is as good with fewer.
const mostFlowSends = 270_000

// ringDepths: broadcast and reduce on a ring are chains, the longest pipelines there
// are, of as many stages as ranks; the other collectives already keep all links busy.
func ringDepths(r *request) []int {
	if r.separateDimensions() { // a pipeline of dimensions
		return pipelined
	}
	if k := r.spec.Kind; k == collective.Broadcast || k == collective.Reduce {
		return append(deep[:len(deep):len(deep)], 1024, 4096)
	}
	return []int{1}
}

// switchDepths: the two directions of an all-reduce overlap.
func switchDepths(r *request) []int {
	if r.spec.Kind == collective.AllReduce {
		return deep
	}
	return []int{1}
}

// hierarchicalSwitchDepths: what switches save is gained only where the tiers' links are
// busy all of the time.
func hierarchicalSwitchDepths(r *request) []int {
	if r.spec.Ranks > 4*maxRing && r.spec.Kind.Rooted() { // more slices take seconds to simulate
		return pipelined
	}
	return deep
}

// treeDepths: parts that differ by rank (gather, scatter) gain nothing from slices.
func treeDepths(r *request) []int {
	switch r.spec.Kind {
	case collective.Gather, collective.Scatter, collective.Barrier:
		return []int{1}
	}
	return pipelined
}

// tierDepths: phases are the stages of the pipeline. Where one node stands for all, deeper ones cost little, which save large machines
// from flat rings, that need no filling.
func tierDepths(r *request) []int {
	if r.spec.Ranks > maxFlat && !r.spec.Kind.Rooted() && !r.degraded() {
		return deep
	}
	return pipelined
}

// Candidates are the schedules of all algorithms that apply, in the order of their
// names, each at a few pipeline depths; without those that others make needless
// or that cost too much (see perCandidate). only restricts them to one algorithm; "" is
// all. The error says why nothing applies.
func Candidates(t *topology.Topology, spec collective.Spec, only string, o Options) ([]*schedule.Schedule, error) {
	if err := spec.Validate(); err != nil {
		return nil, err
	}
	if only != "" {
		a, err := find(only)
		if err == nil {
			err = a.refuses(spec.Kind)
		}
		if err != nil {
			return nil, err
		}
	}
	out, err := candidatesOn(t, spec, only, o)
	if err == nil {
		out = besidesSlow(t, spec, only, o, out)
	}
	if err != nil {
		return nil, err
	}
	if len(out) == 0 {
		if err := newRequest(t, spec, o).allRoutable(); err != nil {
			return nil, fmt.Errorf("no algorithm makes %v on %s, where GPUs must pass it on: %w", spec.Kind, t.Name(), err)
		}
		return nil, fmt.Errorf("no algorithm makes %v on %s", spec.Kind, t.Name())
	}
	return out, nil
}

// candidatesOn are those of the links that a topology has, slow ones included.
func candidatesOn(t *topology.Topology, spec collective.Spec, only string, o Options) ([]*schedule.Schedule, error) {
	r := newRequest(t, spec, o)
	out, err := r.candidates(only, o.Slices, r.left)
	if err == nil && len(out) == 0 { // what others make needless, if those do not apply
		out, err = r.candidates(only, o.Slices, r.beyondBudget)
	}
	if err == nil && len(out) == 0 && r.o.Budget < DefaultBudget { // an answer, however little there is
		r.o.Budget = DefaultBudget
		out, err = r.candidates(only, o.Slices, r.beyondBudget)
	}
	return out, err
}

// candidates are those of one algorithm, or of all that are not left out, in so many slices; 0: at all depths.
func (r *request) candidates(only string, pipeline int, left func(*Algorithm) bool) (out []*schedule.Schedule, err error) {
	for i := range algorithms {
		a := &algorithms[i]
		if only != "" && a.Name != only || only == "" && (a.refuses(r.spec.Kind) != nil || left(a)) {
			continue
		}
		choices := []int{max(pipeline, 1)}
		if pipeline == 0 {
			choices = r.depths(a)
		}
		for _, n := range choices {
			r.o.Slices = n
			s, err := r.build(a)
			if errors.Is(err, errNotApplicable) && only == "" {
				break
			}
			if err != nil {
				return nil, err
			}
			if n == choices[0] && slices.ContainsFunc(out, s.SameButSlices) {
				break // another name for it, here
			}
			out = append(out, s)
		}
	}
	return out, nil
}

// depths are those of an algorithm, and those that streams side by side ask for.
func (r *request) depths(a *Algorithm) []int {
	out := []int{1}
	if a.depth != nil {
		out = slices.Clone(a.depth(r))
	}
	for n := 2; n <= r.o.Streams; n *= 2 {
		out = append(out, n)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// What makes algorithms needless (see Algorithm.spare).

// reroutedFar: beyond so many ranks rerouted rails come nearer to the bound than trees.
func (r *request) reroutedFar() bool { return r.spec.Ranks > enoughToReroute && r.rerouted() }

// alike: where nodes are, hierarchies do what algorithms for others do.
func alike(r *request) bool {
	nodes := r.nodes()
	return !r.degraded() && !slices.ContainsFunc(nodes, func(ranks []int32) bool { return len(ranks) != len(nodes[0]) })
}

func spareRing(r *request) bool { return r.o.Channels == 0 && len(r.ringOrders()) == 1 }

// spareTrees: on degraded nodes, trees of all-reduces take up the budget that rerouted rails need, which come nearer to the bound there.
func spareTrees(r *request) bool {
	if r.t.NumBoxes() == 1 {
		return r.railShares().low >= enoughOfIslands
	}
	return r.degraded() && (r.reroutedFar() || r.spec.Kind == collective.AllReduce && r.railShares().share >= enoughOfRails)
}

func spareShares(r *request) bool { return r.t.NumBoxes() > 1 && alike(r) || r.reroutedFar() }

// spareReroutes: where nodes are alike, hierarchical_two_shot is the same, if it goes over one tier.
func spareReroutes(r *request) bool {
	dims, _ := r.t.Grid()
	return alike(r) && len(dims) <= 2
}

// few: up to three ranks, every tree is binomial or a star.
func few(r *request) bool { return r.spec.Ranks < 4 }

// inPairs: halving_doubling takes as many steps, in pairs.
func inPairs(r *request) bool {
	n := r.spec.Ranks
	return n&(n-1) == 0 && r.spec.Kind != collective.AllToAll && r.spec.Kind != collective.Barrier
}

// What algorithms cost: about how much there is to simulate of a slice, in messages, and four times as many where all
// are under way at once, since the rates of others are worked out again whenever one ends.

func square(n int) int64 { return int64(n) * int64(n) }

// betweenAll is that of messages between all pairs: those of one rank where one stands for all.
func betweenAll(r *request) int64 {
	if r.equivalentByTier() {
		return 4 * int64(r.spec.Ranks)
	}
	return 4 * square(r.spec.Ranks)
}

func betweenOthers(r *request) int64 {
	if r.nodesRotate() {
		return 4 * int64(r.spec.Ranks)
	}
	return 4 * square(r.spec.Ranks)
}

// overNodes is that of trees over nodes: messages between all GPUs of each node, beside which those across are few, but of every node,
// since each has a place of its own in the trees. In several tiers of equal groups, hierarchies that one node stands for take as few steps.
func overNodes(r *request) (sum int64) {
	if r.spec.Kind.Rooted() {
		return 0
	}
	if dims, err := r.grid(); r.nodesRotate() || err == nil && len(dims) > 2 && alike(r) {
		return betweenOthers(r)
	}
	for _, ranks := range r.nodes() {
		sum += 4 * square(len(ranks))
	}
	return sum
}

// ofDirect: messages of different sizes end one by one, while all that are under way share links; but it is looked at
// wherever there are no tiers to go by, since nothing else comes near then.
func ofDirect(r *request) int64 {
	_, err := r.grid()
	switch k := r.spec.Kind; {
	case k.Rooted(), k == collective.SendRecv:
		return int64(r.spec.Ranks)
	case k == collective.AllToAllV && !r.spec.Uniform():
		if _, _, err := r.byNode(); err == nil {
			return max(betweenAll(r), square(r.pairs())/64)
		}
	case k == collective.AllToAll && err != nil:
		return min(betweenAll(r), square(r.spec.Ranks))
	}
	return betweenAll(r)
}

// flat is that of a step for each rank, where rings at every tier take fewer with as few bytes.
func flat(r *request) int64 {
	if _, err := r.grid(); err != nil || r.separateDimensions() {
		return 0
	}
	return square(r.spec.Ranks)
}

func flatFromRoot(r *request) int64 {
	if !r.spec.Kind.Rooted() {
		return 0
	}
	return flat(r)
}

// chainOfNodes: where a root is, two trees over many nodes are as good as a chain.
func chainOfNodes(r *request) int64 { return flatFromRoot(r) / 16 }

// left reports whether an algorithm is left out unless it is asked for.
func (r *request) left(a *Algorithm) bool { return a.spare != nil && a.spare(r) || r.beyondBudget(a) }

// TooMany reports whether an algorithm makes so many messages on a topology that it is left
// out unless it is asked for.
func TooMany(t *topology.Topology, s *schedule.Schedule) bool {
	a, err := find(s.Algorithm)
	return err == nil && newRequest(t, s.Spec, Options{}).beyondBudget(a)
}

// beyondBudget reports whether an algorithm costs more than it may.
func (r *request) beyondBudget(a *Algorithm) bool {
	return a.cost != nil && a.cost(r) > int64(r.o.Budget.part(perCandidate))
}

// nodesRotate reports whether the topology looks the same after every node has moved one on.
func (r *request) nodesRotate() bool {
	return r.symmetric("turned", func() symmetry.Group { return symmetry.Radix([]int32{int32(r.t.NumNodes())}) })
}

// equivalentByTier reports whether nodes are equivalent but for the sizes of their groups, which is
// enough where everybody talks to everybody.
func (r *request) equivalentByTier() bool {
	return !r.degraded() && r.symmetric("by tier", func() symmetry.Group { return r.t.NodeTree(func(int) int { return 0 }) })
}

// symmetric reports whether a group of permutations of the nodes leaves the topology as it is.
func (r *request) symmetric(key any, group func() symmetry.Group) bool {
	type of struct{ group any }
	return topology.Once(r.t, of{key}, func() bool {
		_, ok := topology.NewSymmetry(r.t, group())
		return ok
	})
}
