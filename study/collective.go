package study

import (
	"fmt"

	"railyard/model/collective"
	"railyard/model/topology"
	"railyard/model/units"
)

// Collective is an operation that can be asked of machines of any number of ranks.
type Collective struct {
	Kind   collective.Kind
	Root   int       // of broadcast, reduce, gather and scatter
	Counts [][]int64 // of all_to_allv, [source][destination]; nil: everybody sends everybody the same
	Unit   int       // bytes of what is counted; 0: as many as a size has for each
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

// Element is how many bytes the elements of a size have that nobody named: as many as the size and its parts divide by, at most four.
func (c Collective) Element(size units.Bytes) int {
	parts, unit := int64(size), int64(c.Unit)
	if row := (collective.Spec{Counts: c.Counts}).LargestRow(); unit == 0 && row > 0 && parts%row == 0 {
		unit = parts / row
	}
	for _, row := range c.Counts {
		for _, n := range row {
			parts |= n * unit
		}
	}
	for e := 4; e > 1; e /= 2 {
		if parts%int64(e) == 0 {
			return e
		}
	}
	return 1
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
