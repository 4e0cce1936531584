package mscclxml

import (
	"slices"

	"railyard/interop/foreign"
	"railyard/model/collective"
)

// clocks are vector clocks of the thread blocks: a use of memory that conflicts with one
// that neither a dependence nor a message puts before it is an error, even if it goes
// well in the order that was played.
type clocks struct {
	f     *File
	first []int            // by GPU: the number of its first thread block
	known [][]int          // by thread block: steps of each known to have ended
	ended map[[2]int][]int // by thread block and step with hasdep: what was known then
	mem   foreign.Memory
}

func newClocks(f *File, spec collective.Spec, unit int) *clocks {
	c := &clocks{f: f, ended: map[[2]int][]int{}, mem: foreign.Memory{Spec: spec, Unit: unit, InPlace: f.InPlace}}
	n := 0
	for _, g := range f.GPUs {
		c.first = append(c.first, n)
		n += len(g.Blocks)
	}
	c.known = make([][]int, n)
	return c
}

// join adds to what a thread block knows.
func (c *clocks) join(t int, other []int) {
	if len(c.known[t]) == 0 {
		c.known[t] = make([]int, len(c.known))
	}
	for i, n := range other {
		c.known[t][i] = max(c.known[t][i], n)
	}
}

// step notes what a step uses; msg is what the sender of its message knew. It returns
// what the step's own message carries.
func (c *clocks) step(g int, tb *Block, s *Step, msg []int) ([]int, error) {
	t := c.first[g] + tb.ID
	c.join(t, msg)
	if s.DepBlock >= 0 {
		c.join(t, c.ended[[2]int{c.first[g] + s.DepBlock, s.DepStep}])
	}
	k := kinds[s.Type]
	if k.src {
		if err := c.use(g, tb, s, s.Src, false); err != nil {
			return nil, err
		}
	}
	if k.dst && s.Type != "rrs" {
		if err := c.use(g, tb, s, s.Dst, true); err != nil {
			return nil, err
		}
	}
	c.known[t][t] = s.S + 1
	now := slices.Clone(c.known[t])
	if s.HasDep {
		c.ended[[2]int{t, s.S}] = now
	}
	return now, nil
}

// use notes the use of memory; what conflicts must be known to have ended.
func (c *clocks) use(g int, tb *Block, s *Step, p Place, write bool) error {
	t := c.first[g] + tb.ID
	race := c.mem.Use(foreign.Use{Block: t, Op: s.S + 1}, c.known[t], g, place(p), s.Count, write)
	if race == nil {
		return nil
	}
	return at(s, g, tb, "%s[%d] may still be in use by step %d of thread block %d: neither a dependence nor a message orders them",
		p.Buf, race.At.At, race.Earlier.Op-1, race.Earlier.Block-c.first[g])
}
