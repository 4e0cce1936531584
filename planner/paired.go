package planner

// pairedTree is one of two binary trees below a root, as positions' order and parents: the
// inner members of one are leaves of the other, so that each sends and receives each byte
// about once (see buildDoubleBinaryTree). Members take turns: those at odd places (1, 3, …)
// are inner members of tree 1, the others of tree 0, in order. The two below a member of
// one tree are leaves below its neighbour in the other one. So siblings are siblings in
// both trees, and what flows into them is shared out between their two parents alone: all
// members of a level are equivalent, whatever way leads to them.
func pairedTree(n, root, tree int) (order, parents []int32) {
	for v := range int32(n) {
		if int(v) != root {
			order = append(order, v)
		}
	}
	order = append(order, int32(root))
	parents = make([]int32, n)
	mine, theirs := members(n-1, tree), members(n-1, 1-tree)
	children := make([]int, n)
	hang := func(member, parent int) {
		parents[member] = int32(parent)
		children[parent]++
	}
	top := -1 // of the other tree
	for i, up := range inOrderTree(len(mine)) {
		if up < 0 {
			hang(mine[i], n-1)
		} else {
			hang(mine[i], mine[up])
		}
	}
	for i, up := range inOrderTree(len(theirs)) {
		if up < 0 {
			top = theirs[i]
			continue
		}
		hang(theirs[i], mine[up-1]) // up is odd (counted from 0), so that its neighbour is at the bottom
	}
	if top >= 0 {
		hang(top, spare(mine, children, n-1))
	}
	parents[n-1] = -1
	return order, parents
}

// spare is a member with room for one more below it, at the bottom if there is one there.
func spare(members, children []int, otherwise int) int {
	host := otherwise
	for i, v := range members {
		if children[v] < 2 && (i%2 == 0 || host == otherwise) {
			host = v
		}
	}
	return host
}

// members are every second one of n, from the first or from the second.
func members(n, first int) []int {
	var out []int
	for v := first; v < n; v += 2 {
		out = append(out, v)
	}
	return out
}
