package cost

import (
	"slices"

	"railyard/model/units"
)

// Method is what was fastest on a machine for a collective up to a size: a schedule's
// algorithm and how GPUs run it.
type Method struct {
	Collective string
	GPUs       int
	UpTo       units.Bytes // the largest size; 0: without end
	Algorithm  string
	Slices     int
	Mechanism  string // how messages travel: pull, push, packets, lines, words, words_push, copies
	Blocks     int    // thread blocks a lane; 0: as many as the size needs
	Threads    int    // of a block
	Streams    int    // that copies are spread over
}

// Method is the row for a collective on so many GPUs and a size; nil where none was
// measured. Rows of a collective ascend.
func (f *Fastest) Method(collective string, gpus int, size units.Bytes) *Method {
	i := slices.IndexFunc(f.Methods, func(m Method) bool {
		return m.Collective == collective && m.GPUs == gpus && (m.UpTo == 0 || size <= m.UpTo)
	})
	if i < 0 {
		return nil
	}
	return &f.Methods[i]
}
