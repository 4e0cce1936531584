package foreign

import (
	"railyard/model/collective"
	"railyard/model/program"
)

// MaxClocks is how many thread blocks at most are looked at for unordered uses of memory: the time
// and room for it grow with their square.
const MaxClocks = 1 << 12

// Memory knows who uses the chunks of GPUs' memory while a file is played. A use that conflicts with
// one that nothing puts before it is a race, even if it goes well in the order that was played.
type Memory struct {
	Spec    collective.Spec
	Unit    int  // chunks of a block
	InPlace bool // input and output are the same memory
	chunks  map[chunk]*uses
}

type chunk struct {
	gpu int
	at  program.Place
}

// uses are the last write and the reads since.
type uses struct {
	write Use
	reads []Use
}

// Use is an operation, counted from 1, of a thread block, counted over all GPUs.
type Use struct{ Block, Op int }

// Race is a use of a GPU's memory that conflicts with an earlier one.
type Race struct {
	Earlier Use
	At      program.Place
}

// Use notes that an operation reads or writes n chunks of a GPU's memory; known says, by thread block,
// how many operations it knows to have ended. It returns the first race; nil where there is none.
func (m *Memory) Use(now Use, known []int, gpu int, p program.Place, n int, write bool) *Race {
	if m.chunks == nil {
		m.chunks = map[chunk]*uses{}
	}
	for i := range n {
		at := program.Place{Buf: p.Buf, At: p.At + i}
		key := chunk{gpu, at}
		if m.InPlace {
			key.at = program.Shared(m.Spec, m.Unit, gpu, at)
		}
		u := m.chunks[key]
		if u == nil {
			u = &uses{}
			m.chunks[key] = u
		}
		against := []Use{u.write}
		if write {
			against = append(against, u.reads...)
		}
		for _, x := range against {
			if x.Op > 0 && x != now && known[x.Block] < x.Op {
				return &Race{x, at}
			}
		}
		if write {
			u.write, u.reads = now, nil
		} else {
			u.reads = append(u.reads, now)
		}
	}
	return nil
}
