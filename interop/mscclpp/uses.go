package mscclpp

import "railyard/model/program"

// maxClocks is how many thread blocks at most are looked at for unordered uses of memory:
// the time and room for it grow with their square.
const maxClocks = 1 << 12

// cell is a chunk of a GPU's memory.
type cell struct {
	gpu int
	at  program.Place
}

// uses are the last write and the reads since.
type uses struct {
	write use
	reads []use
}

// use is an operation, counted from 1, of a thread; 0 is none.
type use struct{ thread, op int }

// use notes that a thread uses memory; it must know that what conflicts has ended.
func (r *runner) use(t, gpu int, p program.Place, n int, write bool) error {
	if !r.clocked {
		return nil
	}
	now := use{t, r.threads[t].op + 1}
	for i := range n {
		at := program.Place{Buf: p.Buf, At: p.At + i}
		if r.f.InPlace {
			at = program.Shared(r.spec, r.unit, gpu, at)
		}
		c := cell{gpu, at}
		if r.mem[c] == nil {
			r.mem[c] = &uses{}
		}
		u := r.mem[c]
		against := []use{u.write}
		if write {
			against = append(against, u.reads...)
		}
		for _, x := range against {
			if x.op > 0 && x != now && r.threads[t].known[x.thread] < x.op {
				return r.race(t, gpu, p, i, x)
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

func (r *runner) race(t, gpu int, p program.Place, i int, x use) error {
	other := &r.threads[x.thread]
	if x.thread == t {
		return r.fail(t, "%v[%d] of gpu %d is used by op %d before: a nop must stand between", p.Buf, p.At+i, gpu, x.op-1)
	}
	return r.fail(t, "%v[%d] of gpu %d may still be in use by op %d of gpu %d tb %d: no signal, semaphore and nop order them", p.Buf, p.At+i, gpu, x.op-1, other.gpu, other.block)
}
