package planner

import (
	"railyard/model/collective"
	"railyard/model/schedule"
	"slices"
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
func (r *request) hierarchicalRooted(gen string, across func(rail schedule.Phase) []schedule.Phase) (*schedule.Schedule, error) {
	nodes, local, err := r.byNode()
	if err != nil {
		return nil, err
	}
	dims := []int32{nodes, local}
	rail := schedule.Phase{Op: r.spec.Kind, Groups: onAxis(dims, 0, []int{0}), Root: r.spec.Root / int(local)}
	rootNode := r.rootNode(local)
	atRoot := schedule.Phase{Gen: schedule.GenDirect, Op: collective.Scatter, Groups: schedule.Groups{List: []schedule.Group{rootNode}},
		Root: r.spec.Root % int(local)}
	s := &schedule.Schedule{}
	for _, order := range r.innerOrders(dims, schedule.GenRing) {
		inside := schedule.Phase{Gen: gen, Op: collective.AllGather, Groups: onAxis(dims, 1, []int{0})}
		if order != nil {
			inside.Gen, inside.Groups.Grid.Order = schedule.GenRing, order
		}
		for _, way := range across(rail) {
			phases := []schedule.Phase{atRoot, way, inside}
			if r.spec.Kind == collective.Reduce {
				slices.Reverse(phases)
				phases[0].Op, phases[2].Op = collective.ReduceScatter, collective.Gather
			}
			s.Channels = append(s.Channels, r.pipeline(int(local), phases...))
		}
	}
	return s, nil
}

// oneChain takes a rail's data from node to node.
func oneChain(rail schedule.Phase) []schedule.Phase {
	rail.Gen = schedule.GenRing
	return []schedule.Phase{rail}
}

// twoTrees takes half of a rail's data over each of two binary trees of a kind, the root above both.
func twoTrees(of func(n, root, tree int) (order, parents []int32)) func(rail schedule.Phase) []schedule.Phase {
	return func(rail schedule.Phase) (out []schedule.Phase) {
		for tree := range 2 {
			way, g := rail, *rail.Groups.Grid
			way.Gen = schedule.GenTree
			g.Order, way.Parents = of(int(g.Dims[0]), rail.Root, tree)
			way.Groups.Grid, way.Root = &g, len(g.Order)-1
			out = append(out, way)
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
