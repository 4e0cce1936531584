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
	runs := make([]int, conns) // of receives, in which a connection is used; −1: in several
	waits, run := uint64(0), 0
	for i := range ops {
		o := &ops[i]
		switch {
		case o.kind == schedule.Send:
			run++
			out[o.conn].sends = true
			out[o.conn].when = symmetry.Mix(out[o.conn].when, waits)
			continue
		case o.kind == schedule.Recv:
			if runs[o.conn] == 0 {
				runs[o.conn] = run + 1
			} else if runs[o.conn] != run+1 {
				runs[o.conn] = -1
			}
		default:
			run++
			if o.conn >= 0 {
				runs[o.conn] = -1
			}
		}
		waits++
	}
	for j := range out {
		switch {
		case out[j].sends:
		case runs[j] < 0:
			out[j].when = symmetry.Mix(8, uint64(j))
		default:
			out[j].when = symmetry.Mix(9, uint64(runs[j]))
		}
	}
	return out
}
