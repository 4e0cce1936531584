package schedule

import (
	"math"
	"slices"

	"railyard/model/collective"
)

// Tree is a spanning tree that carries some units of its root's data outwards
// (all_gather) or of its root's result inwards (reduce_scatter).
type Tree struct {
	Root   int32    `json:"root"`
	Weight int32    `json:"weight"` // units of the root's data that it carries
	Parent RankList `json:"parent"` // by rank, −1 at the root
	// Up are the parents along which an all_reduce sums up, where these are others than those along which results spread.
	Up RankList `json:"up,omitempty"`
	// Levels are those of the hops to each rank, where they are not how many hops it is from the root; they rise along every path.
	Levels RankList `json:"levels,omitempty"`
}

// levels are those of the hops between each rank and the one above it; 0 at the root.
func (t *Tree) levels(up bool) []int32 {
	if t.Levels != nil {
		return t.Levels
	}
	return depths(t.Parents(up))
}

// begins is the level of its first hops down.
func (t *Tree) begins() int32 {
	first := int32(math.MaxInt32)
	for v, level := range t.Levels {
		if int32(v) != t.Root {
			first = min(first, level)
		}
	}
	if t.Levels == nil {
		return 1
	}
	return first
}

// Parents are those of a tree: as sums go up it, or as data go down.
func (t *Tree) Parents(up bool) RankList {
	if up && t.Up != nil {
		return t.Up
	}
	return t.Parent
}

// Trees are packed spanning trees. Either those of each root carry all of its Units
// together: chunks are Units for each rank, in the order of ranks, and the trees of a
// root take its units in the order in which they are listed. Or, where Units is 0 and the
// buffer is one block (all_reduce, broadcast, reduce), roots are unequal: the trees take
// all chunks in the order in which they are listed. A phase of generator "trees" takes
// one level of all of them, so that a schedule is a pipeline of levels over slices; or
// all levels, as a pipeline over Pieces in the order that it holds (see TreeOrder).
//
// J. Edmonds, "Edge-disjoint branchings", 1973; L. Zhao et al., "ForestColl:
// throughput-optimal collective communications on heterogeneous network fabrics", 2024.
type Trees struct {
	Units int32 `json:"units"` // of each root; 0: roots are unequal
	Local int32 `json:"local"` // ranks of a node: the order of messages looks the same from each of them
	// Pieces is in how many each tree's chunks are cut where a phase takes all levels.
	Pieces int32 `json:"pieces,omitempty"` // 0: 1
	// Join sends what a level has for a connection in few messages, and puts hops into the
	// last level that leaves room for those below them; with Early, into the first, as without
	// Join, and sets of chunks in equal steps go before neighbouring ones.
	Join  bool   `json:"join,omitempty"`
	Early bool   `json:"early,omitempty"`
	List  []Tree `json:"list"`
}

// Height is the number of levels: the most hops from a root, or the last level that is given.
func (t *Trees) Height() int { return max(t.Levels(true), t.Levels(false)) }

// Levels are those of hops up or down trees.
func (t *Trees) Levels(up bool) int {
	h := int32(0)
	for i := range t.List {
		h = max(h, slices.Max(t.List[i].levels(up)))
	}
	return int(h)
}

// Used says of each level whether trees have hops up or down in it.
func (t *Trees) Used(up bool) []bool {
	out := make([]bool, t.Levels(up)+1)
	for i := range t.List {
		for v, level := range t.List[i].levels(up) {
			out[level] = out[level] || int32(v) != t.List[i].Root
		}
	}
	return out
}

// Ordered is how many operations of trees stand in one order because a phase takes all
// levels: so many are played in a slice, and they are many before anything is expanded.
func (s *Schedule) Ordered() int64 {
	n := int64(0)
	for i := range s.Channels {
		for _, ph := range s.Channels[i].Phases {
			if ph.Gen != GenTrees || ph.Level > 0 {
				continue
			}
			t := s.Channels[i].Trees
			messages := int64(len(t.List)*(s.Spec.Ranks-1)) * int64(t.pieces())
			if ph.Op == collective.AllReduce {
				messages *= 2
			}
			n += 2 * messages // sent and received
		}
	}
	return n
}

// treePhases lays trees out in levels.
type treePhases struct {
	*Trees
	ranks    int
	sums     *treePhases // of what goes up; itself where that goes along the same trees
	up       bool
	level    [][]int32   // by tree and rank: of the hop to it
	children [][][]int32 // by tree and rank
	high     int         // the height of the highest
	sketched []bool      // by rank, of a sketch: its programs are asked for; nil: all, in order
	chunks   []ChunkSet
	hops     [][]levelHop // by rank, ascending, where phases take levels
	rooted   [][]int32    // by rank: its trees
	begins   []int32      // by tree: its first level down
}

func newTreePhases(trees *Trees, ranks int, sketched []bool) *treePhases {
	b := treePhasesOf(trees, ranks, false, sketched)
	if b.sums = b; slices.ContainsFunc(trees.List, func(t Tree) bool { return t.Up != nil }) {
		b.sums = treePhasesOf(trees, ranks, true, sketched)
		b.sums.sums = b.sums
	}
	return b
}

func treePhasesOf(trees *Trees, ranks int, up bool, sketched []bool) *treePhases {
	b := &treePhases{Trees: trees, ranks: ranks, up: up, sketched: sketched}
	used := make([]int32, ranks) // units of each root given to trees so far
	next := int32(0)             // chunk, where roots are unequal
	for i := range trees.List {
		t := &trees.List[i]
		first := next
		if trees.Units > 0 {
			first = t.Root*trees.Units + used[t.Root]
		}
		b.chunks = append(b.chunks, Range(first, t.Weight))
		used[t.Root] += t.Weight
		next += t.Weight
		b.level = append(b.level, t.levels(up))
		b.high = max(b.high, int(slices.Max(b.level[i])))
		below := make([][]int32, ranks)
		for v, u := range t.Parents(up) {
			if u >= 0 {
				below[u] = append(below[u], int32(v))
			}
		}
		b.children = append(b.children, below)
	}
	if b.Join && !b.Early {
		b.latestLevels()
	}
	return b
}

// pieces is in how many a tree's chunks are cut.
func (t *Trees) pieces() int { return max(int(t.Pieces), 1) }

// treePrograms are those of a phase: how to write each rank's.
type treePrograms struct {
	*treePhases
	ph      *Phase
	ordered *orderedTrees
}

func (p *treePrograms) append(dst []Op, rank int) []Op {
	if p.ordered != nil {
		return p.ordered.append(dst, rank)
	}
	return p.appendLevel(dst, p.ph, int32(rank))
}

// programs are those of all ranks in a phase.
func (b *treePhases) programs(ph *Phase) treePrograms {
	if ph.Level == 0 {
		return treePrograms{ordered: b.ordered(ph)}
	}
	if ph.Op == collective.ReduceScatter {
		b = b.sums
	}
	if b.hops == nil {
		b.indexHops()
	}
	return treePrograms{treePhases: b, ph: ph}
}

// leaves reports whether nobody asks for a rank's programs.
func (b *treePhases) leaves(rank int32) bool { return b.sketched != nil && !b.sketched[rank] }

// depths counts the hops from the root to each rank.
func depths(parent RankList) []int32 {
	out := make([]int32, len(parent))
	for r := range out {
		for v := int32(r); parent[v] >= 0; v = parent[v] {
			out[r]++
		}
	}
	return out
}

// ahead counts from a rank on, node by node and place by place.
func (b *treePhases) ahead(from, to int32) int32 {
	n := int32(b.ranks) / b.Local
	return (to/b.Local-from/b.Local+n)%n*b.Local + (to%b.Local-from%b.Local+b.Local)%b.Local
}

// own are the chunks of which each rank is the root, neighbouring ones as one.
func (b *treePhases) own() [][]ChunkSet {
	out := make([][]ChunkSet, b.ranks)
	for i, set := range b.chunks {
		out[b.List[i].Root] = append(out[b.List[i].Root], set)
	}
	for r := range out {
		out[r] = neighbours(out[r])
	}
	return out
}
