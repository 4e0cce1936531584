package program

import (
	"slices"

	"railyard/model/collective"
	"railyard/model/schedule"
)

// Shared is the place in the output that a place is where input and output are the
// same memory: the input of an all_gather is the rank's block of the output, the output
// of a reduce_scatter its block of the input. Scratch stays.
func Shared(spec collective.Spec, unit, rank int, p Place) Place {
	if p.Buf == schedule.Scratch {
		return p
	}
	if only := schedule.OnlyBlock(spec, rank, p.Buf); only >= 0 {
		p.At += only * unit
	}
	p.Buf = schedule.Output
	return p
}

// Memory is a place of a rank by one name where input and output are the same memory.
func (p *Program) Memory(rank int, at Place) Place {
	if p.InPlace {
		return Shared(p.Spec, p.Unit, rank, at)
	}
	return at
}

// Deps are, for each of a rank's steps, the earlier ones that must have ended before it
// starts: writers of what it reads, readers and the writer of what it overwrites.
func (p *Program) Deps(rank int) [][]int {
	steps := p.Ranks[rank]
	out := make([][]int, len(steps))
	mem := map[Place]*access{}
	at := func(pl Place) *access {
		if pl = p.Memory(rank, pl); mem[pl] == nil {
			mem[pl] = &access{writer: -1}
		}
		return mem[pl]
	}
	for i := range steps {
		out[i] = note(&steps[i], i, at)
	}
	return out
}

// access is who has used a chunk.
type access struct {
	writer  int
	readers []int
}

// note records step i's accesses and returns what it depends on.
func note(st *Step, i int, at func(Place) *access) []int {
	var deps []int
	for _, r := range st.Reads() {
		for j := range st.Count {
			a := at(r.plus(j))
			deps = append(deps, a.writer)
			a.readers = append(a.readers, i)
		}
	}
	if st.Writes() {
		for j := range st.Count {
			a := at(st.Dst.plus(j))
			deps = append(append(deps, a.writer), a.readers...)
			a.writer, a.readers = i, nil
		}
	}
	slices.Sort(deps)
	deps = slices.Compact(deps)
	return slices.DeleteFunc(deps, func(d int) bool { return d < 0 || d == i })
}
