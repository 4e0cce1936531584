//go:build cgo

package cuda

import (
	"fmt"
	"slices"

	"railyard/exec/cuda/driver"
	"railyard/model/block"
)

// programCode is a program with the kernels that run it.
type programCode struct {
	p       *block.Program
	how     Method
	options []string
	plans   []*plans // of interpreters, by rank; each has the longest lane's bytes
}

// mostSpecialised operations of a rank in one lane are compiled into its kernel, in which each has code of its own, which takes 0.2 s to
// compile; of several lanes the fewer, since each runs but its own code. On two H200 plans of one lane were up to 14 % faster so than
// interpreted, of four and eight up to 1.4 % faster and 0.7 % slower, of sixteen up to 13 % slower (docs/evidence/export.md).
const mostSpecialised = 64

func codeOf(p *block.Program, cfg Config, how Method) (*programCode, error) {
	options, err := kernelOptions(cfg, how)
	if err != nil {
		return nil, err
	}
	how.Specialise = how.Specialise && p.Operations()*len(p.Lanes[0]) <= mostSpecialised
	c := &programCode{p: p, how: how, options: options}
	longest := 0
	for _, lanes := range p.Lanes {
		if how.Specialise {
			break
		}
		x, err := plansOf(cfg, how, p.Instances, lanes...)
		if err != nil {
			return nil, err
		}
		c.plans, longest = append(c.plans, x), max(longest, x.laneBytes)
	}
	for _, x := range c.plans {
		x.laneBytes = longest
	}
	return c, nil
}

// source is the kernel of a rank of the node.
func (c *programCode) source(place int) source {
	if c.how.Specialise {
		options := append(slices.Clip(c.options), "-DSPECIALISED", fmt.Sprintf("-DPEERS=%d", c.p.Peers()))
		return source{"run.cu", whereUnaligned(options, block.Unaligned(c.p.Lanes[place]...)),
			map[string]string{"constants.cuh": c.p.Constants(place)}}
	}
	return c.plans[place].source
}

func (c *programCode) needs() needs {
	n := needs{scratch: c.p.Scratch, half: c.p.PacketHalf, control: c.p.ControlBytes(), empty: c.p.Mechanism.Empty()}
	if !c.how.Specialise {
		n.plan = c.plans[0].bytes(len(c.p.Lanes[0]))
	}
	return n
}

// load puts every rank's plan into its parameter or its memory.
func (c *programCode) load(m *memory) (operation, error) {
	o := &programOp{m: m, ranks: make([]launches, len(m.n.gpus)), special: make([]string, len(m.n.gpus))}
	return o, m.loaded(func(g *gpu) (err error) {
		l := &o.ranks[g.Rank]
		if *l, err = c.launch(m, g, o); err != nil {
			return err
		}
		l.shape.Overlap = c.how.Overlap && g.Overlap
		return m.n.fits(g, l.kernel, l.shape, m.n.share)
	})
}

func (c *programCode) launch(m *memory, g *gpu, o *programOp) (l launches, err error) {
	lanes := c.p.Lanes[g.place]
	if !c.how.Specialise {
		x, err := c.plans[g.place].placer(m, g)
		if err != nil {
			return l, err
		}
		return x.launch(lanes, c.p.Instances, c.p.Blocks(), true)
	}
	src := c.source(g.place)
	o.special[g.Rank] = src.key()
	l = launches{shape: driver.Dim{Blocks: c.p.Blocks(), Threads: c.how.Threads}, param: m.parameter(g.place, len(lanes), c.p.Instances)}
	m.table(l.param)
	l.kernel, err = g.kernel(src, "run_special")
	return l, err
}

// interpreter is made for plans of some forms: what they do not need would only make it
// slower.
func interpreter(options []string, f *block.Forms) source {
	options = append(slices.Clip(options), fmt.Sprintf("-DPEERS=%d", f.Width), fmt.Sprintf("-DREFS=%d", f.Refs))
	return source{"run.cu", whereUnaligned(options, f.Unaligned), map[string]string{"forms.cuh": f.Source()}}
}

func whereUnaligned(options []string, unaligned bool) []string {
	if unaligned {
		return append(options, "-DUNALIGNED")
	}
	return options
}
