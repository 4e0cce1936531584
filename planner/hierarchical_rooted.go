package planner

import (
	"slices"

	"railyard/model/collective"
	"railyard/model/schedule"
)

// buildHierarchicalTree takes each rank's part across nodes over two shifted binary
// trees (see buildDoubleBinaryTree), direct inside the node: fewer steps than rings
// where there are many nodes. Broadcast and reduce go over two such trees, the root above both.
func buildHierarchicalTree(r *request) (*schedule.Schedule, error) {
	if r.spec.Kind == collective.Broadcast || r.spec.Kind == collective.Reduce {
		return r.hierarchicalRooted(schedule.GenDirect, twoTrees(shiftedTree))
	}
	if r.rerouted() {
		return r.treesOverRails()
	}
	nodes, local, err := r.byNode()
	if err != nil {
		return nil, err
	}
	dims := []int32{nodes, local}
	s := &schedule.Schedule{}
	for shift := range int32(2) {
		across := onAxis(dims, 0, []int{0})
		across.Grid.Order = rotated(int(nodes), shift)
		s.Channels = append(s.Channels, r.upAndDown(int(local), int(nodes), onAxis(dims, 1, []int{0}), across))
	}
	return s, nil
}

// upAndDown is an all-reduce that goes up a binary tree over the nodes, and down again.
func (r *request) upAndDown(chunks, nodes int, inside, across schedule.Groups) schedule.Channel {
	parents := inOrderTree(nodes)
	root := slices.Index(parents, -1)
	return r.pipeline(chunks,
		schedule.Phase{Gen: schedule.GenDirect, Op: collective.ReduceScatter, Groups: inside},
		schedule.Phase{Gen: schedule.GenTree, Op: collective.Reduce, Groups: across, Parents: parents, Root: root},
		schedule.Phase{Gen: schedule.GenTree, Op: collective.Broadcast, Groups: across, Parents: parents, Root: root},
		schedule.Phase{Gen: schedule.GenDirect, Op: collective.AllGather, Groups: inside})
}

// treesOverRails is hierarchical_tree over the rails that all nodes have.
func (r *request) treesOverRails() (*schedule.Schedule, error) {
	x, err := r.commonRails()
	if err != nil {
		return nil, err
	}
	s := &schedule.Schedule{}
	for shift := range int32(2) {
		s.Channels = append(s.Channels, r.upAndDown(x.chunks, x.nodes, x.inside(), x.across(rotated(x.nodes, shift))))
	}
	return s, nil
}

// hierarchicalRooted broadcasts by scattering inside the root's node, taking each part
// across the nodes on its own rail, as a chain (ring) or over two binary trees, and
// gathering inside every node; reduces by the same way back. The root's links inside its node and
// all NICs of a node work at once, each byte leaves a node once on a chain.
func (r *request) hierarchicalRooted(gen string, across func(nodes, root int) []wayOver) (*schedule.Schedule, error) {
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

// rootedOverRails is the same over the rails that all nodes have.
func (r *request) rootedOverRails(gen string, across func(nodes, root int) []wayOver) (*schedule.Schedule, error) {
	x, err := r.commonRails()
	if err != nil {
		return nil, err
	}
	inside := schedule.Phase{Gen: gen, Op: collective.AllGather, Groups: x.inside()}
	root := slices.IndexFunc(inside.Groups.List, func(g schedule.Group) bool { return slices.Contains(g.Ranks, int32(r.spec.Root)) })
	rootNode := inside.Groups.List[root]
	atRoot := schedule.Phase{Gen: schedule.GenDirect, Op: collective.Scatter, Groups: schedule.Groups{List: []schedule.Group{rootNode}},
		Root: slices.Index(rootNode.Ranks, int32(r.spec.Root))}
	s := &schedule.Schedule{}
	for _, way := range across(x.nodes, root) {
		rails := schedule.Phase{Gen: way.gen, Op: r.spec.Kind, Groups: x.across(way.order), Root: way.root, Parents: way.parents}
		s.Channels = append(s.Channels, r.rooted(x.chunks, atRoot, rails, inside))
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

// wayOver is a way of a rail's data from node to node, from or to the root's.
type wayOver struct {
	gen            string
	order, parents []int32
	root           int // a place in this order
}

// oneChain goes from node to node.
func oneChain(_, root int) []wayOver { return []wayOver{{gen: schedule.GenRing, root: root}} }

// twoTrees takes half of the data over each of two binary trees of a kind, the root above both.
func twoTrees(of func(n, root, tree int) (order, parents []int32)) func(nodes, root int) []wayOver {
	return func(nodes, root int) (out []wayOver) {
		for tree := range 2 {
			order, parents := of(nodes, root, tree)
			out = append(out, wayOver{schedule.GenTree, order, parents, len(order) - 1})
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
