package mscclpp

import (
	"railyard/interop/foreign"
	"railyard/model/program"
)

// use notes that a thread uses memory; it must know that what conflicts has ended.
func (r *runner) use(t, gpu int, p program.Place, n int, write bool) error {
	if !r.clocked {
		return nil
	}
	race := r.mem.Use(foreign.Use{Block: t, Op: r.threads[t].op + 1}, r.threads[t].known, gpu, p, n, write)
	if race == nil {
		return nil
	}
	op, other := race.Earlier.Op-1, &r.threads[race.Earlier.Block]
	if race.Earlier.Block == t {
		return r.fail(t, "%v[%d] of gpu %d is used by op %d before: a nop must stand between", p.Buf, race.At.At, gpu, op)
	}
	return r.fail(t, "%v[%d] of gpu %d may still be in use by op %d of gpu %d tb %d: no signal, semaphore and nop order them", p.Buf,
		race.At.At, gpu, op, other.gpu, other.block)
}
