package topology

// Components numbers the strongly connected components of n devices (Kosaraju's
// algorithm with an explicit stack). Devices that use does not admit stand alone, with
// component −1; a nil use admits all.
func Components(n int, links []Link, use func(DeviceID) bool) []int32 {
	if use != nil {
		inside := make([]bool, n)
		for i := range inside {
			inside[i] = use(DeviceID(i))
		}
		use = func(d DeviceID) bool { return inside[d] }
		kept := make([]Link, 0, len(links)/4)
		for _, l := range links {
			if inside[l.From] && inside[l.To] {
				kept = append(kept, l)
			}
		}
		links = kept
	}
	g := newGraph(n, links)
	order := g.finishOrder(n)
	component := make([]int32, n)
	for i := range component {
		component[i] = -1
	}
	for i := n - 1; i >= 0; i-- {
		root := order[i]
		if component[root] >= 0 || use != nil && !use(root) {
			continue
		}
		component[root] = int32(root)
		for stack := []DeviceID{root}; len(stack) > 0; {
			v := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			for _, u := range g.step(v, true) {
				if component[u] < 0 {
					component[u] = int32(root)
					stack = append(stack, u)
				}
			}
		}
	}
	return component
}

// finishOrder lists the devices in the order in which a depth-first search leaves them.
func (g *graph) finishOrder(n int) []DeviceID {
	type frame struct {
		v    DeviceID
		next int
	}
	seen := make([]bool, n)
	order := make([]DeviceID, 0, n)
	var stack []frame
	for root := range n {
		if seen[root] {
			continue
		}
		seen[root] = true
		stack = append(stack[:0], frame{DeviceID(root), 0})
		for len(stack) > 0 {
			f := &stack[len(stack)-1]
			onward := g.out.of(f.v)
			if f.next == len(onward) {
				order = append(order, f.v)
				stack = stack[:len(stack)-1]
				continue
			}
			to := g.links[onward[f.next]].To
			f.next++
			if !seen[to] {
				seen[to] = true
				stack = append(stack, frame{to, 0})
			}
		}
	}
	return order
}
