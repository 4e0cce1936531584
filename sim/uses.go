package sim

import (
	"railyard/model/schedule"
	"railyard/model/symmetry"
)

// connUse is what a program does with one of its connections: it sends on it, after how
// many operations that may take time, or receives. Connections on which it only receives
// between the same two of its other operations are used at the same time, whatever their
// order: it waits for the last of them.
type connUse struct {
	sends bool
	when  uint64
}

// usesOf are the uses of a lane's connections, worked out once for each program.
func (f *folder) usesOf(l *lane, conns int) []connUse {
	if l.first == l.end {
		return nil
	}
	out, ok := f.uses[l.first]
	if !ok {
		out = usesIn(f.p.ops[l.first:l.end], conns)
		f.uses[l.first] = out
	}
	return out
}

func usesIn(ops []op, conns int) []connUse {
	out := make([]connUse, conns)
	waits, run := uint64(0), uint64(0) // of receives between two other operations
	for i := range ops {
		o := &ops[i]
		if o.kind == schedule.Send {
			run++
			out[o.conn] = connUse{true, symmetry.Mix(out[o.conn].when, waits)}
			continue
		}
		waits++
		alone := uint64(1) // a run by itself
		if o.kind == schedule.Recv {
			alone = 0
		}
		if run += alone; o.conn >= 0 {
			out[o.conn].when = symmetry.Mix(out[o.conn].when, run+1)
		}
		run += alone
	}
	return out
}
