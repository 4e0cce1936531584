package cost

import (
	"slices"

	"railyard/model/units"
	"railyard/model/yamlfile"
)

// Method is what was fastest on a machine for a collective up to a size: a schedule's
// algorithm and how GPUs run it.
type Method struct {
	Collective string      `file:"collective,need"`
	GPUs       int         `file:"gpus,some,lo=1,hi=1073741824"`
	UpTo       units.Bytes `file:"up_to"` // the largest size; 0: without end
	Algorithm  string      `file:"algorithm,need"`
	Slices     int         `file:"slices,default=1,hi=1073741824"`
	// Mechanism is how messages travel.
	Mechanism string `file:"mechanism,need,one=pull|push|packets|lines|words|words_push|copies"`
	Blocks    int    `file:"blocks,hi=1073741824"`  // thread blocks a lane; 0: as many as the size needs
	Threads   int    `file:"threads,hi=1073741824"` // of a block
	Streams   int    `file:"streams,hi=1073741824"` // that copies are spread over
}

// Check reports what does not go together.
func (m *Method) Check(o *yamlfile.Object) {
	m.Slices = max(m.Slices, 1)
	if m.Threads%32 != 0 {
		o.AddAt(o.Where("threads"), "%s: threads must be a multiple of 32", o.What)
	}
	before := yamlfile.Before[Method](o)
	if n := len(before); n > 0 {
		if last := &before[n-1]; last.Collective == m.Collective && last.GPUs == m.GPUs && (last.UpTo == 0 || m.UpTo != 0 &&
			m.UpTo <= last.UpTo) {
			o.AddAt(o.Where("up_to"), "%s: up_to must be larger than in the row before", o.What)
		}
	}
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
