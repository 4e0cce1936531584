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
type depths func(*request) []int

var pipelined = []int{1, 4, 16, 64}

// packedDepths: levels of trees are the stages, and all links are in use from the first
// level on, so that only many slices come near the optimum; high trees are cut into
// pieces, which overlap better.
func packedDepths(r *request) []int { return r.treeStages(r.allTrees()) }

// fewDepths: where very many pieces are worth it, so are more parts.
func fewDepths(r *request) []int {
	return slices.DeleteFunc(r.treeStages(r.fewTrees()), func(n int) bool { return n > 64 })
}

func (r *request) treeStages(x *treeSet) []int {
	if route, err := r.router.Route(0, min(1, r.spec.Ranks-1)); err != nil || route.Kind > topology.Switched {
		return []int{1, 16, 64} // over PCIe everything shares, and nothing is gained beyond
	}
	hops := x.hops(r.spec.Ranks)
	if hops > 0 && x.worthOrder() {
		if r.unlike() {
			return upTo([]int{1, 4, 16, 64}, maxUnlikeHops/hops)
		}
		out := upTo([]int{1, 4, 16, 32, 64, 256, 1024, 2048}, min(maxProgram/hops, maxChunks/chunksOf(x.trees)))
		if x.trees.Height() <= maxLevels && hops*levelSlices <= maxPackedHops && x.rates != nil {
			out = append(out, levelSlices) // links that are shared unevenly do not keep to an order
		}
		return out
	}
	// Chunks are whole bytes: of 1,400 and 1,500 slices, rounding takes less now of the one, now of the other.
	all := []int{1, 8, 32, 128, 512, 1400, 1500, 2800}
	if r.t.NumNodes() > 1 && !r.unlike() {
		return all // equal nodes, which the simulator folds
	}
	return upTo(all, maxPackedHops/max(hops, 1))
}

// unlike reports whether nodes differ since something has failed or is busy: nothing folds
// then, and all messages have to be simulated.
func (r *request) unlike() bool {
	return r.t.NumNodes() > 1 && (r.t.Healthy() != r.t || r.t.Idle() != r.t)
}

// maxUnlikeHops bounds the messages of high trees there: some seconds of simulation.
const maxUnlikeHops = 200_000

// levelSlices is how many slices high trees have whose levels are phases: more than maxPieces.
const levelSlices = 2400

// upTo are the depths that are not too large; the least in any case.
func upTo(depths []int, most int) []int {
	n := len(depths)
	for n > 1 && depths[n-1] > most {
		n--
	}
	return depths[:n]
}

// maxPackedHops bounds the messages of a candidate whose ranks all differ: some seconds
// of simulation.
const maxPackedHops = 3_000_000

// flowDepths: the hops of the paths are the stages; of all pairs, there are many messages.
func flowDepths(r *request) []int {
	if r.spec.Kind == collective.AllToAll || r.spec.Kind == collective.AllToAllV {
		return []int{1, 16, 256}
	}
	return []int{1, 4, 16, 32, 64, 256}
}

// oneDepth is for algorithms of one phase whose slices would only follow one another, and for
// those of pairs, which have to keep step: where one adapter is 1 % slower, a rank that is
// ahead sends into what its partner still receives from another, and falls behind in turn. A
// slice recovers from that, a pipeline of them adds it up until nothing moves both ways at once.
func oneDepth(*request) []int { return []int{1} }

// ringDepths: broadcast and reduce on a ring are chains, the longest pipelines there
// are; the other collectives already keep all links busy.
func ringDepths(r *request) []int {
	if r.separateDimensions() { // a pipeline of dimensions
		return pipelined
	}
	if k := r.spec.Kind; k == collective.Broadcast || k == collective.Reduce {
		return append(pipelined[:len(pipelined):len(pipelined)], 256)
	}
	return []int{1}
}

// switchDepths: the two directions of an all-reduce overlap.
func switchDepths(r *request) []int {
	if r.spec.Kind == collective.AllReduce {
		return append(pipelined[:len(pipelined):len(pipelined)], 256)
	}
	return []int{1}
}

// hierarchicalSwitchDepths: what switches save is gained only where the tiers' links are
// busy all of the time.
func hierarchicalSwitchDepths(r *request) []int {
	if r.spec.Ranks > 4*maxRing && r.spec.Kind.Rooted() { // more slices take seconds to simulate
		return pipelined
	}
	return append(pipelined[:len(pipelined):len(pipelined)], 256)
}

// treeDepths: parts that differ by rank (gather, scatter) gain nothing from slices.
func treeDepths(r *request) []int {
	switch r.spec.Kind {
	case collective.Gather, collective.Scatter, collective.Barrier:
		return []int{1}
	}
	return pipelined
}

// tierDepths: phases are the stages of the pipeline. Large machines have more tiers, and
// flat rings, which need no filling, are what deep pipelines save them from.
func tierDepths(r *request) []int {
	if r.spec.Ranks > maxFlat && r.spec.Kind.Rooted() { // more slices may be too many to simulate
		return []int{1, 4, 8, 16, 64, 256}
	}
	if r.spec.Ranks > maxFlat && !r.unlike() { // one node stands for all, so that more depths cost little
		return []int{1, 4, 16, 32, 64, 128, 256, 1024}
	}
	return []int{1, 4, 16, 32, 64}
}

// bentDepths: two channels hide latencies from one another (see staggered), so that few depths
// are as good as many.
func bentDepths(*request) []int { return []int{1, 4, 16, 48} }

// twoShotDepths: where one node stands for all, a deeper one costs little. Very deep ones are left
// to hierarchical_direct, whose one channel repeats itself.
func twoShotDepths(r *request) []int {
	if r.spec.Kind.Rooted() {
		return bentDepths(r)
	}
	return append(bentDepths(r), 96)
}

// Candidates are the schedules of all algorithms that apply, in the order of their
// names, each at a few pipeline depths; without those of too many messages (see
// maxFlat). only restricts them to one algorithm; "" is
// all. The error says why nothing applies.
func Candidates(t *topology.Topology, spec collective.Spec, only string, o Options) ([]*schedule.Schedule, error) {
	if err := spec.Validate(); err != nil {
		return nil, err
	}
	if only != "" {
		if _, err := find(only); err != nil {
			return nil, err
		}
	}
	var out []*schedule.Schedule
	r := newRequest(t, spec, o)
	for i := range algorithms {
		a := &algorithms[i]
		if only != "" && a.Name != only || only == "" && (r.redundant(a.Name) || r.tooMany(a.Name)) {
			continue
		}
		choices := a.depth(r)
		if o.Slices > 0 {
			choices = []int{o.Slices}
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
			out = append(out, s)
		}
	}
	if len(out) == 0 {
		if err := r.allRoutable(); err != nil {
			return nil, fmt.Errorf("no algorithm makes %v on %s, where GPUs must pass it on: %w", spec.Kind, t.Name(), err)
		}
		return nil, fmt.Errorf("no algorithm makes %v on %s", spec.Kind, t.Name())
	}
	return out, nil
}

// redundant reports whether an algorithm makes here what another one makes as well.
func (r *request) redundant(name string) bool {
	switch name {
	case "simple_ring": // ring is simple where there is one order
		return r.o.Channels == 0 && len(r.ringOrders()) == 1
	case "rail_flows": // where nodes are alike, hierarchies do the same
		return !r.unlike() || r.spec.Kind == collective.AllToAll && r.spec.Ranks > enoughToBend && r.bent() && len(r.t.LostRanks()) == 0
	case "rail_shares":
		return !r.unlike() || r.spec.Ranks > enoughToBend && r.bent()
	case "bent_rails":
		return !r.unlike() || r.spec.Ranks <= maxRing && !r.bent()
	case "packed_trees", "few_trees", "parallel_trees":
		return r.unlike() && (r.spec.Ranks > enoughToBend && r.bent() || r.railShares().share >= enoughOfRails)
	case "hierarchical_ring": // ring is hierarchical there
		return r.separateDimensions()
	case "quadrinomial": // up to three ranks, every tree is binomial or a star
		return r.spec.Ranks < 4
	}
	return false
}

// maxFlat bounds the ranks of candidates that grow faster than the others, where nodes
// do not all do alike, so that one could stand for all. Asked for by name, they are built
// at any size.
const maxFlat = 512

// maxRing bounds the ranks of flat rings and chains where there are tiers to go by.
const maxRing = 1024

// TooMany reports whether an algorithm makes so many messages on a topology that it is left
// out unless it is asked for.
func TooMany(t *topology.Topology, s *schedule.Schedule) bool {
	return newRequest(t, s.Spec, Options{}).tooMany(s.Algorithm)
}

// tooMany reports whether an algorithm makes more of its messages here than is worth a
// try: n² of them, or as many as another one that is as good.
func (r *request) tooMany(name string) bool {
	n := r.spec.Ranks
	if n > maxRing && r.unlike() && r.bendable() && r.inClasses() { // these fold there, others do not
		return name != "bent_rails" && name != "hierarchical_all_to_all"
	}
	if r.crowds(name) {
		return true
	}
	switch name {
	case "two_shot":
		return n > maxFlat && !r.alikeByTier()
	case "direct":
		if _, err := r.grid(); err != nil && n <= maxRing && r.spec.Kind == collective.AllToAll { // nothing else comes near
			return false
		}
		return n > maxFlat && !r.spec.Kind.Rooted() && r.spec.Kind != collective.SendRecv && !r.alikeByTier()
	case "ring", "alternating_ring", "simple_ring", "scatter_allgather": // rings at every tier take fewer steps with as few bytes
		_, err := r.grid()
		return n > maxRing && err == nil && !r.separateDimensions()
	case "double_binary_tree": // two trees across nodes have fewer levels, and all NICs work
		_, err := r.grid()
		return n > maxRing && err == nil && r.spec.Kind.Rooted()
	case "hierarchical_ring": // two trees instead of a chain
		return n > 4*maxRing && r.spec.Kind.Rooted()
	case "pairwise", "scatter_exchange":
	case "bruck": // halving_doubling takes as many steps, in pairs
		if n&(n-1) != 0 || r.spec.Kind == collective.AllToAll || r.spec.Kind == collective.Barrier {
			return false
		}
	case "hierarchical_tree": // hierarchical_doubling takes as few steps with as few bytes
		if r.spec.Kind != collective.AllReduce {
			return false
		}
	default:
		return false
	}
	return n > maxFlat && !r.alike()
}

// maxCrowd bounds the pairs of ranks that send one another different amounts at once, where
// there are rails to go by instead: whenever one ends, the rates of all others are worked out,
// which is half the square, 34 million; that is about what the simulation of a candidate may
// take at a prompt (36 million, see score.Scorer and the plan command), so that more would be left out at last.
const maxCrowd = 8192

// crowds reports whether an algorithm makes so many messages of different sizes, of which so
// many share links at once.
func (r *request) crowds(name string) bool {
	if name != "direct" && name != "pairwise" || r.spec.Kind != collective.AllToAllV || r.spec.Uniform() {
		return false
	}
	pairs := r.pairs()
	atOnce := pairs
	if name == "pairwise" {
		atOnce = min(pairs, r.spec.Ranks)
	}
	if int64(pairs)*int64(atOnce) <= maxCrowd*maxCrowd {
		return false
	}
	_, _, err := r.byNode()
	return err == nil
}

// alike reports whether the topology looks the same after every node has moved one on.
func (r *request) alike() bool { return r.turns(&r.rotates, []int32{int32(r.t.NumNodes())}) }

// alikeByTier reports whether the topology looks the same after every node has moved one
// on in its group of each tier, which is enough where everybody talks to everybody.
func (r *request) alikeByTier() bool { return r.turns(&r.rotatesByTier, r.t.NodeGrid()) }

func (r *request) turns(known **bool, dims []int32) bool {
	if *known == nil {
		_, ok := topology.NewSymmetry(r.t, symmetry.Radix(dims))
		*known = &ok
	}
	return **known
}
