package mscclxml

import (
	"slices"

	"railyard/interop/foreign"
	"railyard/model/program"
	"railyard/model/schedule"
)

// emit writes a thread block's steps; a node that waits for several others is preceded
// by a nop for each further one.
func (g *gpuBuilder) emit(b *block, waits map[*node][]*node) []Step {
	var out []Step
	for _, n := range b.nodes {
		steps := g.translate(n)
		w := waits[n]
		for i, x := range w {
			if i < len(w)-1 {
				out = append(out, Step{Type: "nop", S: len(out), Src: Place{"i", -1}, Dst: Place{"o", -1}, DepBlock: x.tb.id,
					DepStep: x.last})
				continue
			}
			steps[0].DepBlock, steps[0].DepStep = x.tb.id, x.last
		}
		steps[len(steps)-1].HasDep = n.used
		for _, s := range steps {
			s.S = len(out)
			out = append(out, s)
		}
	}
	return out
}

// translate are the file's steps for a node.
func (g *gpuBuilder) translate(n *node) []Step {
	s := &g.steps[n.steps[0]]
	step := Step{Src: named(s.Src), Dst: named(s.Dst), Count: s.Count, DepBlock: -1, DepStep: -1}
	forwards := len(n.steps) == 2
	switch s.Kind {
	case schedule.Send:
		step.Type, step.Dst = "s", step.Src
	case schedule.Copy:
		step.Type = "cpy"
	case schedule.Reduce:
		return g.reductions(s)
	case schedule.Recv:
		step.Type, step.Src = "r", step.Dst
		if forwards {
			step.Type = "rcs"
		}
	case schedule.RecvReduce:
		switch {
		case !forwards:
			step.Type = "rrc"
		case g.readElsewhere(n.steps[0], n.steps[1]):
			step.Type = "rrcs"
		default:
			step.Type, step.Dst = "rrs", step.Src
		}
	}
	return []Step{step}
}

// reductions add the sources to the destination. It is one of them, or first gets the
// one that it is in in-place calls, or any.
func (g *gpuBuilder) reductions(s *program.Step) []Step {
	own := max(slices.IndexFunc(s.Srcs, func(p program.Place) bool { return g.memory(p, 0) == g.memory(s.Dst, 0) }), 0)
	step := Step{Type: "cpy", Src: named(s.Srcs[own]), Dst: named(s.Dst), Count: s.Count, DepBlock: -1, DepStep: -1}
	var out []Step
	if s.Srcs[own] != s.Dst || len(s.Srcs) == 1 {
		out = append(out, step)
	}
	for i, src := range s.Srcs {
		if i != own {
			step.Type, step.Src = "re", named(src)
			out = append(out, step)
		}
	}
	return out
}

func named(p program.Place) Place { return Place{foreign.BufferName(p.Buf), p.At} }

// packScratch numbers the scratch chunks that are used without holes and returns how
// many there are.
func packScratch(blocks []Block) int {
	var used []int
	each := func(visit func(p *Place, n int)) {
		for b := range blocks {
			for i := range blocks[b].Steps {
				s := &blocks[b].Steps[i]
				if s.Src.Buf == "s" {
					visit(&s.Src, s.Count)
				}
				if s.Dst.Buf == "s" {
					visit(&s.Dst, s.Count)
				}
			}
		}
	}
	each(func(p *Place, n int) {
		for k := range n {
			used = append(used, p.Off+k)
		}
	})
	slices.Sort(used)
	used = slices.Compact(used)
	each(func(p *Place, _ int) { p.Off, _ = slices.BinarySearch(used, p.Off) })
	return len(used)
}
