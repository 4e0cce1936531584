package planner

import (
	"cmp"
	"math"
	"slices"

	"railyard/model/collective"
	"railyard/model/schedule"
	"railyard/model/units"
)

// buildHierarchicalTree takes each rank's part across nodes over two shifted binary
// trees (see buildDoubleBinaryTree), direct inside the node: fewer steps than rings
// where there are many nodes. Broadcast and reduce go over two such trees, the root above both.
func buildHierarchicalTree(r *request) (*schedule.Schedule, error) {
	if r.spec.Kind == collective.Broadcast || r.spec.Kind == collective.Reduce {
		return r.hierarchicalRooted(schedule.GenDirect, twoTrees(shiftedTree))
	}
	nodes, local, err := r.byNode()
	if err != nil {
		return nil, err
	}
	dims := []int32{nodes, local}
	inside := onAxis(dims, 1, []int{0})
	parents := inOrderTree(int(nodes))
	s := &schedule.Schedule{}
	for shift := range int32(2) {
		across := onAxis(dims, 0, []int{0})
		across.Grid.Order = rotated(int(nodes), shift)
		s.Channels = append(s.Channels, r.pipeline(int(local),
			schedule.Phase{Gen: schedule.GenDirect, Op: collective.ReduceScatter, Groups: inside},
			schedule.Phase{Gen: schedule.GenTree, Op: collective.Reduce, Groups: across, Parents: parents},
			schedule.Phase{Gen: schedule.GenTree, Op: collective.Broadcast, Groups: across, Parents: parents},
			schedule.Phase{Gen: schedule.GenDirect, Op: collective.AllGather, Groups: inside}))
	}
	return s, nil
}

// hierarchicalRooted broadcasts by scattering inside the root's node, taking each part
// across the nodes on its own rail, as a chain (ring) or over two binary trees, and
// gathering inside every node; reduces by the same way back. The root's links inside its node and
// all NICs of a node work at once, each byte leaves a node once on a chain.
func (r *request) hierarchicalRooted(gen string, across func(nodes, root int) []overNodes) (*schedule.Schedule, error) {
	if r.rerouted() {
		return r.rootedOverRails(gen, across)
	}
	nodes, local, err := r.byNode()
	if err != nil {
		return nil, err
	}
	dims := []int32{nodes, local}
	rootNode := r.rootNode(local)
	atRoot := schedule.Phase{Gen: schedule.GenDirect, Op: collective.Scatter, Groups: schedule.Groups{List: []schedule.Group{rootNode}},
		Root: r.spec.Root % int(local)}
	s := &schedule.Schedule{}
	for _, order := range r.innerOrders(dims, schedule.GenRing) {
		inside := schedule.Phase{Gen: gen, Op: collective.AllGather, Groups: onAxis(dims, 1, []int{0})}
		if order != nil {
			inside.Gen, inside.Groups.Grid.Order = schedule.GenRing, order
		}
		for _, x := range across(int(nodes), r.spec.Root/int(local)) {
			rail := schedule.Phase{Gen: x.gen, Op: r.spec.Kind, Groups: onAxis(dims, 0, []int{0}), Root: x.root, Parents: x.parents}
			rail.Groups.Grid.Order = x.order
			s.Channels = append(s.Channels, r.rooted(int(local), atRoot, rail, inside))
		}
	}
	return s, nil
}

// rootedOverRails is the same over the rails that all nodes have, of which each takes what it has room for in every node: all data enter
// every node, or leave it, so that the narrowest one sets the pace.
func (r *request) rootedOverRails(gen string, across func(nodes, root int) []overNodes) (*schedule.Schedule, error) {
	b, err := r.reroutes()
	if err != nil {
		return nil, err
	}
	common, err := r.common(b)
	if err != nil {
		return nil, err
	}
	var lanes []schedule.Group // those with most chunks first, so that GPUs which do alike have the same program; at last, those without
	chunks := int32(0)
	for _, x := range common {
		lane := schedule.Group{Whole: schedule.Range(chunks, x.chunks)}
		for node := range b.rank {
			lane.Ranks = append(lane.Ranks, b.rank[node][x.rail])
		}
		lanes = append(lanes, lane)
		chunks += x.chunks
	}
	inside := schedule.Phase{Gen: gen, Op: collective.AllGather}
	for node := range b.rank {
		group := schedule.Group{}
		for _, lane := range lanes {
			if rank := lane.Ranks[node]; rank >= 0 {
				group.Ranks, group.Parts = append(group.Ranks, rank), append(group.Parts, lane.Whole)
			}
		}
		inside.Groups.List = append(inside.Groups.List, group)
	}
	root := slices.IndexFunc(inside.Groups.List, func(g schedule.Group) bool { return slices.Contains(g.Ranks, int32(r.spec.Root)) })
	rootNode := inside.Groups.List[root]
	atRoot := schedule.Phase{Gen: schedule.GenDirect, Op: collective.Scatter, Groups: schedule.Groups{List: []schedule.Group{rootNode}},
		Root: slices.Index(rootNode.Ranks, int32(r.spec.Root))}
	s := &schedule.Schedule{}
	for _, x := range across(len(b.rank), root) {
		rails := schedule.Phase{Gen: x.gen, Op: r.spec.Kind, Root: x.root, Parents: x.parents}
		for _, lane := range lanes {
			if lane.Whole.Count > 0 {
				rails.Groups.List = append(rails.Groups.List, schedule.Group{Ranks: inOrder(lane.Ranks, x.order), Whole: lane.Whole})
			}
		}
		s.Channels = append(s.Channels, r.rooted(int(chunks), atRoot, rails, inside))
	}
	return s, nil
}

// rooted is a pipeline of what is done at the root, across nodes and inside these; of a reduce, the other way round.
func (r *request) rooted(chunks int, atRoot, across, inside schedule.Phase) schedule.Channel {
	if r.spec.Kind == collective.Reduce {
		inside.Op, atRoot.Op = collective.ReduceScatter, collective.Gather
		return r.pipeline(chunks, inside, across, atRoot)
	}
	return r.pipeline(chunks, atRoot, across, inside)
}

// railPart is how many chunks a rail takes.
type railPart struct {
	rail   int
	chunks int32
}

// common are how many chunks each rail takes in the narrowest node, most first.
func (r *request) common(b *reroutes) ([]railPart, error) {
	room, err := r.commonRoom(b)
	if err != nil {
		return nil, err
	}
	total := sum(room)
	if total == 0 {
		return nil, notApplicable("there is no rail that all nodes have")
	}
	for i := range room {
		room[i] /= total
	}
	var best []int
	for least, all := math.Inf(1), 1; all <= b.rails*mostRailUnits && least > fewUnitsLoss; all++ {
		full, deal := 0.0, units.Apportion(all, room)
		for i, n := range deal {
			if n > 0 {
				full = max(full, float64(n)/room[i]/float64(all))
			}
		}
		if full < least {
			best, least = deal, full
		}
	}
	out := make([]railPart, b.rails)
	for i, n := range best {
		out[i] = railPart{i, int32(n)}
	}
	slices.SortStableFunc(out, func(x, y railPart) int { return cmp.Compare(y.chunks, x.chunks) })
	return out, nil
}

// commonRoom is what the way of each rail into the network carries in every node.
func (r *request) commonRoom(b *reroutes) ([]float64, error) {
	room, nodes := slices.Repeat([]float64{math.Inf(1)}, b.rails), r.nodes()
	for i, ranks := range nodes {
		leave, enter, err := r.gatewaysOf(ranks, nodes[(i+1)%len(nodes)])
		if err != nil {
			return nil, err
		}
		out, in := ofFirst(leave), ofFirst(enter)
		for rail, rank := range b.rank[i] {
			if at := slices.Index(ranks, rank); at >= 0 {
				room[rail] = min(room[rail], out[at], in[at])
			} else {
				room[rail] = 0
			}
		}
	}
	return room, nil
}

// ofFirst are the rates of gateways, of those that share an adapter all at the first one: fewer rails take as much, and are as wide as
// others.
func ofFirst(list []gateway) []float64 {
	out, shared := make([]float64, len(list)), rates(list)
	for i, g := range list {
		if shared[i] > 0 {
			out[slices.IndexFunc(list, func(o gateway) bool { return o.nic == g.nic && o.hops == g.hops })] += shared[i]
		}
	}
	return out
}

// inOrder are ranks in an order; nil: as they are.
func inOrder(ranks schedule.RankList, order []int32) schedule.RankList {
	if order == nil {
		return ranks
	}
	out := make(schedule.RankList, len(order))
	for i, at := range order {
		out[i] = ranks[at]
	}
	return out
}

// overNodes is a way of a rail's data from node to node, from or to the root's.
type overNodes struct {
	gen            string
	order, parents []int32
	root           int // a place in this order
}

// oneChain goes from node to node.
func oneChain(_, root int) []overNodes { return []overNodes{{gen: schedule.GenRing, root: root}} }

// twoTrees takes half of the data over each of two binary trees of a kind, the root above both.
func twoTrees(of func(n, root, tree int) (order, parents []int32)) func(nodes, root int) []overNodes {
	return func(nodes, root int) (out []overNodes) {
		for tree := range 2 {
			order, parents := of(nodes, root, tree)
			out = append(out, overNodes{schedule.GenTree, order, parents, len(order) - 1})
		}
		return out
	}
}

// rootNode is the group of the root's node: member i has part i.
func (r *request) rootNode(local int32) schedule.Group {
	first := int32(r.spec.Root) / local * local
	g := schedule.Group{}
	for i := range local {
		g.Ranks = append(g.Ranks, first+i)
		g.Parts = append(g.Parts, schedule.One(i))
	}
	return g
}

// hierarchicalGather brings each rank's block on its own rail to the root's node, whose
// NICs all work, and from there inside the node to the root; scatter is the way back.
// Scratch chunk i·m+l is the block of GPU l of node i.
func (r *request) hierarchicalGather() (*schedule.Schedule, error) {
	nodes, local, err := r.byNode()
	if err != nil {
		return nil, err
	}
	atRoot := schedule.Group{}
	for l := range local {
		atRoot.Ranks = append(atRoot.Ranks, int32(r.spec.Root)/local*local+l)
		atRoot.Parts = append(atRoot.Parts, schedule.ChunkSet{First: l, Count: nodes, Stride: local})
	}
	rail := schedule.Phase{Gen: schedule.GenDirect, Op: r.spec.Kind, Groups: onAxis([]int32{nodes, local}, 0, nil),
		Root: r.spec.Root / int(local)}
	inside := schedule.Phase{Gen: schedule.GenDirect, Op: r.spec.Kind, Groups: schedule.Groups{List: []schedule.Group{atRoot}},
		Root: r.spec.Root % int(local)}
	if r.spec.Kind == collective.Scatter {
		rail, inside = inside, rail
	}
	return of(r.pipeline(r.spec.Ranks, rail, inside)), nil
}
