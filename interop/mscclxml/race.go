package mscclxml

import (
	"slices"

	"railyard/model/collective"
	"railyard/model/program"
)

// clocks are vector clocks of the thread blocks: a use of memory that conflicts with one
// that neither a dependence nor a message puts before it is an error, even if it goes
// well in the order that was played.
type clocks struct {
	f     *File
	spec  collective.Spec
	unit  int
	first []int             // by GPU: the number of its first thread block
	known [][]int           // by thread block: steps of each known to have ended
	ended map[[2]int][]int  // by thread block and step with hasdep: what was known then
	mem   map[memory]*usage // by GPU and chunk
}

type memory struct {
	gpu int
	at  program.Place
}

// usage is the last write and the reads since; step 0 is none, they count from 1.
type usage struct {
	write use
	reads []use
}

type use struct{ block, step int }

func newClocks(f *File, spec collective.Spec, unit int) *clocks {
	c := &clocks{f: f, spec: spec, unit: unit, ended: map[[2]int][]int{}, mem: map[memory]*usage{}}
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
	for i := range s.Count {
		x := place(p)
		x.At += i
		if c.f.InPlace {
			x = program.Shared(c.spec, c.unit, g, x)
		}
		u := c.mem[memory{g, x}]
		if u == nil {
			u = &usage{}
			c.mem[memory{g, x}] = u
		}
		against := []use{u.write}
		if write {
			against = append(against, u.reads...)
		}
		for _, o := range against {
			if o.step > 0 && o.block != t && c.known[t][o.block] < o.step {
				return at(s, g, tb, "%s[%d] may still be in use by step %d of thread block %d: neither a dependence nor a message orders them", p.Buf, p.Off+i, o.step-1, o.block-c.first[g])
			}
		}
		if write {
			u.write, u.reads = use{t, s.S + 1}, nil
		} else {
			u.reads = append(u.reads, use{t, s.S + 1})
		}
	}
	return nil
}
