//go:build cgo

package cuda

import (
	"railyard/exec/cuda/driver"
	"railyard/model/block"
)

// copyQueue is one GPU's part of an operation while it is put on its streams.
type copyQueue struct {
	o       *copiesOp
	g       *gpu
	r       *copyRank
	turn    int
	lanes   []driver.Stream // for copies
	reduced map[int]bool    // by slice: whether its mark is behind the kernel of the phase before
}

// begin launches the first kernels; copies follow that which says that all ranks are there.
func (q *copyQueue) begin() error {
	if err := q.run(&q.r.start); err != nil {
		return err
	}
	for _, s := range q.lanes {
		if err := q.g.Follow(s, q.g.Stream); err != nil {
			return err
		}
	}
	return q.run(&q.r.local)
}

// stage queues a stage's copies and the kernel behind them.
func (q *copyQueue) stage(j int) error {
	st := &q.o.p.Stages[j]
	if err := q.copies(st); err != nil || q.r.stages[j].param == nil {
		return err
	}
	if err := q.join(); err != nil {
		return err
	}
	if err := q.run(&q.r.stages[j]); err != nil {
		return err
	}
	q.reduced[st.Slice] = true
	return q.g.marks[st.Slice].Record(q.g.Stream)
}

// copies deals a stage's copies out to the lanes, the first of each behind what the phase
// before has made of the slice.
func (q *copyQueue) copies(st *block.CopyStage) error {
	for k, c := range st.Copies[q.g.place] {
		s := q.lanes[k%len(q.lanes)]
		if q.reduced[st.Slice] && k < len(q.lanes) {
			if err := s.Wait(q.g.marks[st.Slice]); err != nil {
				return err
			}
		}
		if err := s.Copy(q.o.m.ref(c.To), q.o.m.ref(c.From), c.Bytes); err != nil {
			return err
		}
	}
	return nil
}

// join makes the GPU's stream wait for all lanes.
func (q *copyQueue) join() error {
	for _, s := range q.lanes {
		if err := q.g.Follow(q.g.Stream, s); err != nil {
			return err
		}
	}
	return nil
}

// run launches a kernel, where there is one.
func (q *copyQueue) run(l *launches) error { return l.run(q.g.Stream, q.turn) }
