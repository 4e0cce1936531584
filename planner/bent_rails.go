package planner

import (
	"cmp"
	"slices"

	"railyard/model/collective"
	"railyard/model/schedule"
)

// buildBentRails is hierarchical_two_shot for nodes whose ways into the network are not
// alike, since adapters, GPUs or links are lost, slow or busy. There, a rail bends: some of
// its units cross by way of other GPUs of the node, so that all adapters that are left
// are full at once, and of an all-reduce such a node is root of less. Nodes that are
// alike do alike: the plan has as many kinds of programs as there are kinds of nodes.
func buildBentRails(r *request) (*schedule.Schedule, error) {
	if err := r.wants(collective.AllReduce, collective.AllGather, collective.ReduceScatter, collective.AllToAll); err != nil {
		return nil, err
	}
	if r.spec.Ranks > maxBentRanks {
		return nil, notApplicable("it is for up to %d ranks", maxBentRanks)
	}
	b, err := r.bends()
	if err != nil {
		return nil, err
	}
	if r.spec.Kind == collective.AllToAll {
		return r.bentAllToAll(b)
	}
	w := &bentRails{bends: b, slices: r.slices(), ranks: r.spec.Ranks}
	ch := schedule.Channel{Share: 1, Slices: r.slices()}
	const in, out, scratch = schedule.Input, schedule.Output, schedule.Scratch
	switch r.spec.Kind {
	case collective.AllGather:
		w.rows()
		ch.Phases = []schedule.Phase{w.home(collective.Scatter, in, out), w.across(collective.AllGather, out, out), w.inside(collective.Broadcast, out, out)}
	case collective.ReduceScatter:
		w.rows()
		ch.Phases = []schedule.Phase{w.inside(collective.Reduce, in, scratch), w.across(collective.ReduceScatter, scratch, scratch), w.home(collective.Gather, scratch, out)}
	default:
		w.columns()
		ch.Phases = []schedule.Phase{w.inside(collective.Reduce, in, scratch), w.across(collective.ReduceScatter, scratch, out),
			w.across(collective.AllGather, out, out), w.inside(collective.Broadcast, out, out)}
	}
	ch.Chunks = w.chunks
	return &schedule.Schedule{Channels: []schedule.Channel{ch}}, nil
}

// enoughToBend is from beyond how many ranks on bent rails come nearer to the bound than
// trees that fill scale-up links and NICs at once: NICs alone limit many nodes.
const enoughToBend = 64

// maxBentRanks bounds what is compiled for each pair of ranks on a rail before it folds.
const maxBentRanks = 1024

// bentRails has the chunks of units of rails: part[rail][unit][node] are those of which
// the node's GPU on the rail, or whoever stands in for it, is the root.
type bentRails struct {
	*bends
	slices, ranks, chunks int
	part                  [][][]schedule.ChunkSet
}

func (w *bentRails) makeParts() {
	w.part = make([][][]schedule.ChunkSet, w.rails)
	for rail := range w.part {
		w.part[rail] = make([][]schedule.ChunkSet, w.units)
		for u := range w.part[rail] {
			w.part[rail][u] = make([]schedule.ChunkSet, len(w.kind))
		}
	}
}

// rows numbers chunks by rank: each has as many units.
func (w *bentRails) rows() {
	w.makeParts()
	w.chunks = w.ranks * w.units
	for node, ranks := range w.rank {
		for rail, r := range ranks {
			for u := range w.units {
				if r >= 0 {
					w.part[rail][u][node] = schedule.One(r*int32(w.units) + int32(u))
				}
			}
		}
	}
}

// columns numbers chunks by rail, and of units that bend alike by node.
func (w *bentRails) columns() {
	w.makeParts()
	next := int32(0)
	for rail := range w.rails {
		for _, x := range w.runs(rail, w.kinds) {
			for node, k := range w.kind {
				for u := x.first; u < x.first+x.count; u++ {
					n := w.kinds[k].roots[rail][u]
					w.part[rail][u][node] = schedule.Range(next, n)
					next += n
				}
			}
		}
	}
	w.chunks = int(next)
}

// of are the chunks of units of a node.
func (w *bentRails) of(rail int, x run, node int) schedule.ChunkSet {
	out := w.part[rail][x.first][node]
	for u := x.first + 1; u < x.first+x.count; u++ {
		out.Count += w.part[rail][u][node].Count
	}
	return out
}

// all are the chunks of units of all nodes, in as few sets as possible.
func (w *bentRails) all(rail int, x run) []schedule.ChunkSet {
	var list, whole, out []schedule.ChunkSet
	for _, parts := range w.part[rail][x.first : x.first+x.count] {
		list = append(list, parts...)
	}
	slices.SortFunc(list, func(a, b schedule.ChunkSet) int { return cmp.Compare(a.First, b.First) })
	for _, s := range list {
		if n := len(whole) - 1; n >= 0 && whole[n].First+whole[n].Count == s.First {
			whole[n].Count += s.Count
		} else if s.Count > 0 {
			whole = append(whole, s)
		}
	}
	for _, s := range whole {
		if n := len(out) - 1; n < 0 || !out[n].Extend(s) {
			out = append(out, s)
		}
	}
	return out
}

func (w *bentRails) phase(op collective.Kind, src, dst schedule.Buffer, list []schedule.Group) schedule.Phase {
	return schedule.Phase{Gen: schedule.GenDirect, Op: op, Src: src, Acc: dst, Dst: dst, Groups: schedule.Groups{List: list}}
}

// home brings what bends from its root to those who stand in for it, or back.
func (w *bentRails) home(op collective.Kind, src, dst schedule.Buffer) schedule.Phase {
	var list []schedule.Group
	for node, ranks := range w.rank {
		kind := w.kinds[w.kind[node]]
		for rail, r := range ranks {
			if r < 0 {
				continue
			}
			g := schedule.Group{Ranks: schedule.RankList{r}, Parts: []schedule.ChunkSet{w.of(rail, run{}, node)}}
			g.Parts[0].Count = 0
			for _, x := range w.runs(rail, []*railKind{kind}) {
				if by := ranks[kind.by[rail][x.first]]; by != r {
					g.Ranks, g.Parts = append(g.Ranks, by), append(g.Parts, w.of(rail, x, node))
				} else {
					g.Parts[0] = w.of(rail, x, node)
				}
			}
			list = append(list, g)
		}
	}
	return w.phase(op, src, dst, list)
}

// across is between the nodes, on each rail, or part of one that bends otherwise.
func (w *bentRails) across(op collective.Kind, src, dst schedule.Buffer) schedule.Phase {
	var list []schedule.Group
	for rail := range w.rails {
		for _, x := range w.runs(rail, w.kinds) {
			var g schedule.Group
			for node, k := range w.kind {
				g.Ranks = append(g.Ranks, w.rank[node][w.kinds[k].by[rail][x.first]])
				g.Parts = append(g.Parts, w.of(rail, x, node))
			}
			list = append(list, g)
		}
	}
	return w.phase(op, src, dst, list)
}

// inside is between a GPU and all others of its node, about what it takes across.
func (w *bentRails) inside(op collective.Kind, src, dst schedule.Buffer) schedule.Phase {
	var list []schedule.Group
	for node, ranks := range w.rank {
		kind := w.kinds[w.kind[node]]
		for rail := range w.rails {
			for _, x := range w.runs(rail, []*railKind{kind}) {
				var from schedule.RankList
				for i := range ranks {
					if r := ranks[(kind.by[rail][x.first]+i)%len(ranks)]; r >= 0 {
						from = append(from, r)
					}
				}
				for _, set := range w.all(rail, x) {
					list = append(list, schedule.Group{Ranks: from, Whole: set})
				}
			}
		}
	}
	return w.phase(op, src, dst, list)
}

// bentAllToAll takes to each GPU of the other nodes what goes to it on its rail.
func (r *request) bentAllToAll(b *bends) (*schedule.Schedule, error) {
	x := &schedule.Bends{Units: int32(b.units)}
	stages := 2
	for _, k := range b.kinds {
		var rails []schedule.RankList
		for rail, units := range k.by {
			var list schedule.RankList
			for _, by := range units {
				if by != rail {
					stages = 3
				}
				list = append(list, int32(by))
			}
			rails = append(rails, list)
		}
		x.Kinds = append(x.Kinds, rails)
	}
	for node, k := range b.kind {
		if slices.Contains(b.rank[node], -1) {
			return nil, notApplicable("nodes have lost GPUs")
		}
		x.Nodes = append(x.Nodes, int32(k))
	}
	ch := schedule.Channel{Share: 1, Slices: r.slices(), Chunks: r.spec.Ranks * b.units, Bends: x}
	for level := 1; level <= stages; level++ {
		ch.Phases = append(ch.Phases, schedule.Phase{Gen: schedule.GenBends, Op: collective.AllToAll, Level: level})
	}
	return &schedule.Schedule{Channels: []schedule.Channel{ch}}, nil
}
