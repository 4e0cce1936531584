package blocks

import (
	"fmt"

	"railyard/model/block"
	"railyard/model/cost"
	"railyard/model/schedule"
	"railyard/model/units"
)

// event is the end of a chain: when it is reached, and what led there.
type event struct {
	at     float64 // ps
	before *event
	parts  Work // what the last step adds to the chain before
}

// work is all of a chain.
func (e *event) work() (out Work) {
	for ; e != nil; e = e.before {
		out = append(out, e.parts...)
	}
	return out
}

// later is the one that ends last.
func later(a, b *event) *event {
	if b == nil || a != nil && a.at >= b.at {
		return a
	}
	return b
}

// place is where an event happens that others wait for: flags of a rank by lane, line, who
// raises them and step; packets of a rank by their place and slice.
type place struct {
	rank, lane, line, from int
	step                   int64
}

// walk plays the programs.
type walk struct {
	*machine
	costs    *cost.Profile
	happened map[place]*event
	runs     []*run
}

// run is a lane's program on a rank.
type run struct {
	rank, number int
	lane         *block.Lane
	slice, at    int
	now          *event
	stored       units.Bytes // the largest message stored at peers since the last flag
	last         step        // kind of the operation before
}

// step is what operations behind one another have to be for the second to cost more.
type step uint8

const (
	other step = iota
	put
	take
)

// longest is the chain that ends last.
func (m *machine) longest(costs *cost.Profile) (*event, error) {
	w := &walk{machine: m, costs: costs, happened: map[place]*event{}}
	for r, lanes := range m.p.Lanes {
		for i := range lanes {
			w.runs = append(w.runs, &run{rank: r, number: i, lane: &lanes[i], slice: -1, now: &event{}})
		}
	}
	for progress := true; progress; {
		progress = false
		for _, x := range w.runs {
			for x.op() != nil {
				ok, err := w.step(x)
				if err != nil {
					return nil, err
				}
				if !ok {
					break
				}
				progress = true
			}
		}
	}
	end := &event{}
	for _, x := range w.runs {
		if x.op() != nil {
			return nil, fmt.Errorf("rank %d waits for ever in lane %d", x.rank, x.number)
		}
		end = later(end, x.now)
	}
	return end, nil
}

// op is the operation that comes next: those before the first slice, of each slice, and
// behind the last; nil at the end.
func (x *run) op() *block.Op {
	for {
		list := x.lane.Body
		switch {
		case x.slice < 0:
			list = x.lane.Before
		case x.slice == x.lane.Slices:
			list = x.lane.After
		case x.slice > x.lane.Slices:
			return nil
		}
		if x.at < len(list) {
			return &list[x.at]
		}
		x.slice, x.at = x.slice+1, 0
	}
}

// step does an operation; false where it has to wait.
func (w *walk) step(x *run) (bool, error) {
	op := x.op()
	n := bytes(x.lane, op, min(max(x.slice, 0), x.lane.Slices-1))
	value := int64(op.Value + max(x.slice, 0)*op.PerSlice)
	var err error
	switch {
	case op.Kind == block.Signal:
		err = w.signal(x, op, value)
	case op.Kind == block.Wait:
		if op.Flags&block.Earlier == 0 {
			for peer := range w.p.Ranks {
				if op.Peers>>peer&1 == 0 {
					continue
				}
				e := w.happened[place{x.rank, op.Lane, int(op.Line), peer, value}]
				if e == nil {
					return false, nil
				}
				x.now = later(x.now, e)
			}
		}
		x.last = other
	case packetProtocol(op.Kind) == "":
		err = w.multi(x, op, n)
	default:
		return w.packets(x, op, n)
	}
	x.at++
	return true, err
}

// signal raises flags: behind what was stored at peers, which is a message of its size, or
// alone.
func (w *walk) signal(x *run, op *block.Op, value int64) error {
	protocol, n := cost.Flag, units.Bytes(0)
	switch {
	case op.Flags&block.Relaxed != 0:
		protocol = cost.RelaxedFlag
	case x.stored > 0:
		protocol, n = string(schedule.Simple), x.stored
	}
	for peer := range w.p.Ranks {
		if op.Peers>>peer&1 == 0 {
			continue
		}
		e := x.now
		if peer != x.rank {
			var err error
			if e, err = w.message(x, peer, Part{Protocol: protocol, Bytes: n, Messages: 1}); err != nil {
				return err
			}
		}
		w.happened[place{peer, op.Lane, int(op.Line), x.rank, value}] = e
	}
	if op.Flags&block.Relaxed == 0 {
		x.stored = 0
	}
	x.last = other
	return nil
}

// message is the arrival of what a rank sends now.
func (w *walk) message(x *run, to int, parts ...Part) (*event, error) {
	r, err := w.route(x.rank, to)
	if err != nil {
		return nil, err
	}
	for i := range parts {
		parts[i].Medium, parts[i].Latency = r.Medium, units.Time(parts[i].Messages*float64(r.Latency))
	}
	return w.then(x.now, parts), nil
}

// then is an event behind another.
func (w *walk) then(e *event, parts Work) *event {
	next := &event{at: e.at, before: e, parts: parts}
	for i := range parts {
		next.at += parts[i].time(w.costs)
	}
	return next
}

// multi loads, combines and stores. What it loads from peers costs what a pulled message
// does without the flags around it, which the program raises by itself.
func (w *walk) multi(x *run, op *block.Op, n units.Bytes) error {
	loaded := -1
	for _, f := range flows(x.rank, op, n) {
		if f.from != x.rank {
			loaded = f.from
		} else {
			x.stored = max(x.stored, n)
		}
	}
	if loaded >= 0 {
		e, err := w.message(x, loaded, Part{Protocol: string(schedule.Pulled), Bytes: n, Messages: 1},
			Part{Protocol: cost.RelaxedFlag, Messages: -1}, Part{Protocol: cost.Flag, Messages: -1})
		if err != nil {
			return err
		}
		x.now = later(x.now, e)
	}
	x.last = other
	return nil
}

// packets puts a source into peers' buffers, or takes what has come, combines and forwards.
// One operation looks at all its sources at once; one behind another of its kind costs more.
func (w *walk) packets(x *run, op *block.Op, n units.Bytes) (bool, error) {
	kind := put
	if len(op.PacketSources) > 0 {
		kind = take
	}
	arrived := x.now
	for _, s := range op.PacketSources {
		e := w.happened[packet(x.rank, s, x.slice)]
		if e == nil {
			return false, nil
		}
		arrived = later(arrived, e)
	}
	if x.last == kind {
		again := Part{Protocol: packetProtocol(op.Kind), Bytes: n, Puts: 1}
		if kind == take {
			again.Puts, again.Takes = 0, 1
		}
		more, err := w.message(x, (x.rank+1)%w.p.Ranks, again)
		if err != nil {
			return false, err
		}
		x.now = more
	}
	x.now = later(arrived, x.now)
	for _, d := range op.PacketTargets {
		e, err := w.message(x, d.Rank, Part{Protocol: packetProtocol(op.Kind), Bytes: n, Messages: 1})
		if err != nil {
			return false, err
		}
		w.happened[packet(d.Rank, d, x.slice)] = e
	}
	for _, d := range op.Destinations {
		if d.Rank != x.rank {
			x.stored = max(x.stored, n)
		}
	}
	x.last = kind
	x.at++
	return true, nil
}

// packet is where packets of a slice lie.
func packet(rank int, r block.Ref, slice int) place {
	return place{rank: rank, lane: -1, from: slice, step: r.Offset}
}
