package topology

import "slices"

// Components numbers the strongly connected components of n devices (Kosaraju's
// algorithm with an explicit stack). Devices that use does not admit stand alone, with
// component −1; a nil use admits all.
func Components(n int, links []Link, use func(DeviceID) bool) []int32 {
	inside := make([]bool, n)
	for i := range inside {
		inside[i] = use == nil || use(DeviceID(i))
	}
	kept := make([]Link, 0, len(links)/4)
	for _, l := range links {
		if inside[l.From] && inside[l.To] {
			kept = append(kept, l)
		}
	}
	g := newGraph(n, kept)
	component := slices.Repeat([]int32{-1}, n)
	for _, root := range slices.Backward(g.finishOrder(n)) {
		if component[root] >= 0 || !inside[root] {
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
	seen := make([]bool, n)
	order := make([]DeviceID, 0, n)
	var stack []DeviceID // to enter; ^d: to leave d
	for root := range n {
		for stack = append(stack, DeviceID(root)); len(stack) > 0; {
			d := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			if d < 0 {
				order = append(order, ^d)
			}
			if d < 0 || seen[d] {
				continue
			}
			seen[d] = true
			stack = append(stack, ^d)
			for _, to := range g.step(d, false) {
				if !seen[to] {
					stack = append(stack, to)
				}
			}
		}
	}
	return order
}
