package study

import (
	"fmt"

	"railyard/model/collective"
	"railyard/model/topology"
)

// Collective is an operation that can be asked of machines of any number of ranks.
type Collective struct {
	Kind   collective.Kind
	Root   int       // of broadcast, reduce, gather and scatter
	Counts [][]int64 // of all_to_allv, [source][destination]; nil: everybody sends everybody the same
}

// Over is the collective over so many ranks.
func (c Collective) Over(ranks int) (collective.Spec, error) {
	s := collective.Spec{Kind: c.Kind, Ranks: ranks, Root: c.Root, Counts: c.Counts}
	if c.Kind == collective.AllToAllV && s.Counts == nil {
		s.Counts = collective.UniformCounts(ranks)
	}
	if n := len(s.Counts); n > 0 && n != ranks {
		return s, fmt.Errorf("a matrix for %d ranks, but there are %d", n, ranks)
	}
	return s, s.Validate()
}

// onWhole is the same on the whole of a degraded machine, where lost ranks send nothing.
func (c Collective) onWhole(t *topology.Topology) Collective {
	if c.Kind.Rooted() {
		c.Root = t.OriginalRank(c.Root)
	}
	if c.Counts == nil || len(t.LostRanks()) == 0 {
		return c
	}
	n := t.Healthy().NumRanks()
	whole := make([][]int64, n)
	for i := range whole {
		whole[i] = make([]int64, n)
	}
	for i, row := range c.Counts {
		for j, count := range row {
			whole[t.OriginalRank(i)][t.OriginalRank(j)] = count
		}
	}
	c.Counts = whole
	return c
}
