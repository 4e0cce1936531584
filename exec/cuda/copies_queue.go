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
	lanes   []driver.Stream      // for copies
	marked  int                  // events used
	reduced map[int]driver.Event // by slice: the kernel of the phase before
}

// begin launches the first kernels; copies follow that which says that all ranks are there.
func (q *copyQueue) begin() error {
	if err := q.run(&q.r.start); err != nil {
		return err
	}
	for _, s := range q.lanes {
		if err := q.link(q.g.Stream, s); err != nil {
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
	e, err := q.mark(q.g.Stream)
	q.reduced[st.Slice] = e
	return err
}

// copies deals a stage's copies out to the lanes, the first of each behind what the phase
// before has made of the slice.
func (q *copyQueue) copies(st *block.CopyStage) error {
	for k, c := range st.Copies[q.g.place] {
		s := q.lanes[k%len(q.lanes)]
		if e, ok := q.reduced[st.Slice]; ok && k < len(q.lanes) {
			if err := s.Wait(e); err != nil {
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
		if err := q.link(s, q.g.Stream); err != nil {
			return err
		}
	}
	return nil
}

// link makes one stream wait for what another has been given so far.
func (q *copyQueue) link(from, to driver.Stream) error {
	e := q.g.marks[q.marked]
	q.marked++
	return follow(to, from, e)
}

// mark is an event behind what a stream has been given so far.
func (q *copyQueue) mark(s driver.Stream) (driver.Event, error) {
	e := q.g.marks[q.marked]
	q.marked++
	return e, e.Record(s)
}

// run launches a kernel, where there is one.
func (q *copyQueue) run(l *launches) error { return l.run(q.g.Stream, q.turn) }
