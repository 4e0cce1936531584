package host

import (
	"unsafe"

	"railyard/model/schedule"
)

// guard is the number of elements before and after every buffer that nobody may touch.
const guard = 64

// memory is one rank's buffers, each inside an allocation with guard zones.
type memory[T element] struct {
	rank  int
	bufs  [3][]T
	whole [][]T // the allocations
}

// allocate makes the buffers of a rank, whose scratch holds so many copies of the whole buffer.
func (r *runner[T]) allocate(rank, copies int) {
	m := &r.mem[rank]
	m.rank = rank
	m.bufs[schedule.Scratch] = m.take(r.layout.Scratch(rank, copies))
	in, out := r.layout.Elements(rank, schedule.Input), r.layout.Elements(rank, schedule.Output)
	if !r.cfg.InPlace {
		m.bufs[schedule.Input], m.bufs[schedule.Output] = m.take(in), m.take(out)
		return
	}
	both := m.take(max(in, out))
	m.bufs[schedule.Input] = both[r.layout.Shift(rank, schedule.Input):]
	m.bufs[schedule.Output] = both[r.layout.Shift(rank, schedule.Output):]
}

// stagger is by how many bytes more each buffer is off the start of a page. Large
// allocations start at one, so that places of the same number would compete for the same
// lines of a cache, and some pairs of buffers, by chance, would run at half the speed.
const stagger = 9 * 64

func (m *memory[T]) take(n int64) []T {
	var one T
	skip := int64(3*m.rank+len(m.whole)) * stagger % 4096 / int64(unsafe.Sizeof(one))
	all := make([]T, skip+n+2*guard)[skip:]
	m.whole = append(m.whole, all)
	return all[guard : guard+n : guard+n]
}

// piece is the memory of a chunk.
func (r *runner[T]) piece(rank int32, b schedule.Buffer, channel int32, slice int, chunk int32) []T {
	off, n := r.layout.Place(int(rank), b, int(channel), slice, chunk)
	return r.mem[rank].bufs[b][off : off+n]
}
