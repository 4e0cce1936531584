package pack

import "railyard/model/topology"

// thinned are some of many transfers: between the ranks of a node all, or where there are
// many those along chords; between nodes those along chords, to the rank of the same number
// there. Chords lead from each of n places to those 1, 2, 4, … farther and back, on a
// circle, so that trees can be as low as log₂ n, and each has about 2·log₂ n of them.
func thinned(t *topology.Topology, list []transfer) []transfer {
	local, size := placesIn(t)
	var out []transfer
	for _, x := range list {
		a, b := t.NodeOf(int(x.u)), t.NodeOf(int(x.v))
		keep := false
		if a == b {
			keep = size[a] <= fewInNode || chord(local[x.u], local[x.v], size[a])
		} else {
			keep = chord(a, b, t.NumNodes()) && local[x.u]%size[b] == local[x.v]%size[a]
		}
		if keep {
			out = append(out, x)
		}
	}
	return out
}

// fewInNode is up to how many ranks of a node all transfers between them are kept.
const fewInNode = 8

// placesIn are the ranks' numbers in their nodes, and how many ranks each node has.
func placesIn(t *topology.Topology) (local, size []int) {
	local, size = make([]int, t.NumRanks()), make([]int, t.NumNodes())
	for r := range local {
		n := t.NodeOf(r)
		local[r] = size[n]
		size[n]++
	}
	return local, size
}

// chord reports whether two of n places on a circle are a power of two apart.
func chord(a, b, n int) bool {
	d := (b - a + n) % n
	d = min(d, n-d)
	return d > 0 && d&(d-1) == 0
}
