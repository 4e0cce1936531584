package pack

import (
	"math/big"
	"slices"
)

// stars has every root send to all ranks itself.
func stars(n int) *Packing {
	p := &Packing{K: 1, Trees: make([][]Tree, n), Method: "stars"}
	for r := range n {
		parent := slices.Repeat([]int32{int32(r)}, n)
		parent[r] = -1
		p.Trees[r] = []Tree{{Weight: 1, Parent: parent}}
	}
	return p
}

// box is nodes of equal size whose ranks reach one another without the network.
type box struct{ nodes, gpus int }

func boxOf(g *Graph) (box, bool) {
	if g.t == nil || g.t.NumNodes() < 2 || g.Ranks%g.t.NumNodes() != 0 {
		return box{}, false
	}
	b := box{g.t.NumNodes(), g.Ranks / g.t.NumNodes()}
	for r := range g.Ranks {
		if g.t.NodeOf(r) != r/b.gpus {
			return box{}, false
		}
	}
	return b, true
}

// boxes are trees of height two for nodes of GPUs. A root sends to all GPUs of its node
// and, over its rail, to its counterpart in every other node, which sends to the others
// there. That takes the network nodes−1 times. Where the network could take more, some
// of the parts enter some of the nodes a second time: a neighbour of the root sends to
// its own counterpart, which relieves the links inside that node. Network and links of a
// node are full at the same time if a tree has, on average, (ranks−1)·net/(net+local)
// hops over the network. Turned, each part has trees in which all neighbours take turns
// as the second entry: links between pairs of GPUs are then loaded alike.
func boxes(b box, r *routes, turned bool) (*Packing, error) {
	hops, err := b.crossings(r)
	if err != nil {
		return nil, err
	}
	p := &Packing{K: 1, Trees: make([][]Tree, b.ranks()), Method: "rails and stars"}
	low, more := int64(b.nodes-1), int64(0)
	if hops != nil {
		p.K = hops.Denom().Int64()
		low = new(big.Int).Quo(hops.Num(), hops.Denom()).Int64()
		more = new(big.Int).Rem(hops.Num(), hops.Denom()).Int64()
	}
	variants := 1
	if turned {
		variants = b.gpus - 1
	}
	for u := range p.Trees {
		for i := range variants {
			p.Trees[u] = append(p.Trees[u], Tree{Weight: p.K - more, Parent: b.tree(u, int(low), i)})
			if more > 0 {
				p.Trees[u] = append(p.Trees[u], Tree{Weight: more, Parent: b.tree(u, int(low)+1, i)})
			}
		}
	}
	p.K *= int64(variants)
	return p, nil
}

func (b box) ranks() int { return b.nodes * b.gpus }

// crossings is how many hops over the network a tree has on average where network and links
// of nodes are full at the same time; nil where that is no more than one into each node.
func (b box) crossings(r *routes) (*big.Rat, error) {
	local, err := b.inside(r)
	if err != nil {
		return nil, err
	}
	net, err := b.between(r)
	if err != nil {
		return nil, err
	}
	hops := new(big.Rat).Mul(net, big.NewRat(int64(b.ranks()-1), 1))
	hops.Quo(hops, local.Add(local, net))
	least, most := big.NewRat(int64(b.nodes-1), 1), big.NewRat(int64(b.gpus*(b.nodes-1)), 1)
	if hops.Cmp(least) <= 0 || !hops.Denom().IsInt64() {
		return nil, nil
	}
	if hops.Cmp(most) > 0 {
		return most, nil
	}
	return hops, nil
}

// inside is what a rank sends to the others of its node, all at once.
func (b box) inside(r *routes) (*big.Rat, error) {
	if b.gpus == 1 {
		return new(big.Rat), nil
	}
	return b.rate(r, b.gpus-1, func(u, v int) bool { return u/b.gpus == v/b.gpus })
}

// between is what a rank sends to its counterparts in the other nodes, all at once.
func (b box) between(r *routes) (*big.Rat, error) {
	return b.rate(r, b.nodes-1, func(u, v int) bool { return u%b.gpus == v%b.gpus })
}

// rate is what each rank sends to its peers where all ranks do.
func (b box) rate(r *routes, peers int, are func(u, v int) bool) (*big.Rat, error) {
	each, err := r.rate(pairsOf(b.ranks(), are))
	if err != nil {
		return nil, err
	}
	return each.Mul(each, big.NewRat(int64(peers), 1)), nil
}

// tree is one of root's trees, with a given number of hops over the network.
func (b box) tree(root, hops, turn int) []int32 {
	parent := make([]int32, b.nodes*b.gpus)
	home, rail := root/b.gpus, root%b.gpus
	extra := hops - (b.nodes - 1)
	for i := range b.nodes {
		node := (home + i) % b.nodes
		entry := node*b.gpus + rail
		for j := range b.gpus {
			parent[node*b.gpus+j] = int32(entry)
		}
		parent[entry] = int32(root)
		if i == 0 {
			continue
		}
		second := extra / (b.nodes - 1)
		if i <= extra%(b.nodes-1) {
			second++
		}
		for j := 1; j <= second; j++ {
			k := (rail + 1 + (i+j-2+turn)%(b.gpus-1)) % b.gpus
			parent[node*b.gpus+k] = int32(home*b.gpus + k)
		}
	}
	parent[root] = -1
	return parent
}

// starsFall reports whether stars do not reach a rate, from what a part of the ranks
// sends and takes in.
func starsFall(g *Graph, x Fraction, r *routes) bool {
	n := g.Ranks
	part := 1
	for _, more := range []bool{false, true} {
		for more && part < n && g.t != nil && g.t.NodeOf(part) == g.t.NodeOf(0) {
			part++
		}
		per, err := r.rate(pairsOf(n, func(u, v int) bool { return u < part || v < part }))
		if err != nil || per.Cmp(big.NewRat(x.Num, x.Den)) < 0 {
			return true
		}
	}
	return false
}
