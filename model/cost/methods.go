package cost

import (
	"slices"

	"railyard/model/units"
)

// Method is what was fastest on a machine for a collective up to a size: a schedule's
// algorithm and how GPUs run it.
type Method struct {
	Collective string      `file:"collective,need"`
	GPUs       int         `file:"gpus,lo=1,hi=1073741824"`
	UpTo       units.Bytes `file:"up_to"` // the largest size; 0: without end
	Algorithm  string      `file:"algorithm,need"`
	Slices     int         `file:"slices,default=1,hi=1073741824"`
	Mechanism  string      `file:"mechanism,need"`        // how messages travel: pull, push, packets, lines, words, words_push, copies
	Blocks     int         `file:"blocks,hi=1073741824"`  // thread blocks a lane; 0: as many as the size needs
	Threads    int         `file:"threads,hi=1073741824"` // of a block
	Streams    int         `file:"streams,hi=1073741824"` // that copies are spread over
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
