package blocks

import (
	"fmt"
	"slices"

	"railyard/model/block"
	"railyard/model/cost"
	"railyard/model/schedule"
	"railyard/model/units"
)

// event is the end of a chain: when it is reached, and what led there.
type event struct {
	at     float64 // ps
	before *event
	parts  Work    // what the last step adds to the chain before
	wire   Work    // what is put with its message, on the link that takes longest
	loads  float64 // ps that the bytes of a message that is loaded from a peer take on their way
}

// work is all of a chain.
func (e *event) work() (out Work) {
	for ; e != nil; e = e.before {
		out = append(out, e.parts...)
	}
	return out
}

// pipelined is how much of what further loads wait for others use: a lane's blocks do not wait for one another, so that some load while
// others wait. If it were 1, a further load would take no longer than its wait or its bytes, whichever is longer. Fitted on imported plans
// of one channel on two H200 (docs/evidence/export.md).
const pipelined = 0.8

// hidden is the part of a chain's waiting in which other blocks load.
func (e *event) hidden() units.Time {
	ps, last := 0., (*event)(nil)
	for ; e != nil; e = e.before {
		if e.loads == 0 {
			continue
		}
		if last != nil {
			ps += min(last.at-e.at, last.loads)
		}
		last = e
	}
	return units.Time(pipelined * ps)
}

// latest is the one that ends last.
func latest(a, b *event) *event {
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
	storedAt     int         // at so many
	loaded       bool        // some of it from this rank's memory
	pulled       Part        // the largest message loaded from a peer since the last flag
}

// longest is the chain that ends last.
func (m *machine) longest() (*event, error) {
	w := &walk{machine: m, happened: map[place]*event{}}
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
			return nil, fmt.Errorf("deadlock: rank %d waits in lane %d", x.rank, x.number)
		}
		end = latest(end, x.now)
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
				x.now = latest(x.now, e)
			}
		}
	case packetProtocol(op.Kind) == "":
		err = w.multi(x, op, n)
	default:
		return w.packets(x, op, n)
	}
	x.at++
	return true, err
}

// signal raises flags.
func (w *walk) signal(x *run, op *block.Op, value int64) error {
	for peer := range w.p.Ranks {
		if op.Peers>>peer&1 == 0 {
			continue
		}
		e := x.now
		if peer != x.rank {
			raised, err := w.raised(x, op, peer)
			if err != nil {
				return err
			}
			if e, err = w.message(x, peer, raised...); err != nil {
				return err
			}
		}
		w.happened[place{peer, op.Lane, int(op.Line), x.rank, value}] = e
	}
	if op.Flags&block.Relaxed == 0 {
		x.stored, x.storedAt, x.loaded, x.pulled = 0, 0, false, Part{}
	}
	return nil
}

// raised is what a flag costs: alone, or behind what was stored at peers, which is a message of
// its size. Such a message begins with a load from memory: what came over links and is
// stored as it comes has none, and only the flag behind it is left.
func (w *walk) raised(x *run, op *block.Op, peer int) (Work, error) {
	switch {
	case op.Flags&block.Relaxed != 0:
		return Work{{Protocol: cost.RelaxedFlag, Messages: 1}}, nil
	case x.stored == 0:
		return x.flag(), nil
	}
	r, err := w.route(x.rank, peer)
	if err != nil {
		return nil, err
	}
	stored, err := w.sent(x.rank, peer, string(schedule.Simple), x.storedAt-1)
	stored.Bytes = x.stored
	if x.loaded || !w.costs.Covers(r.Medium, cost.Flag) {
		return Work{stored}, err
	}
	stored.Messages = 0
	return append(x.flag(), stored), err
}

// flag is one that orders what the lane's blocks have loaded. Larger messages take more blocks, each with a flag of its own, which is what
// they cost more than the smallest but for their bytes: four loads of 4 KiB in a row take two H200 14.7 us by one block, 18.4 by 32 and
// more, as four of 64 KiB (docs/measured/h200-2/links.csv, pull_pair_x4).
func (x *run) flag() Work {
	out := Work{{Protocol: cost.Flag, Messages: 1}}
	if x.pulled.Bytes > 0 {
		large, small := x.pulled, x.pulled
		small.Bytes, small.Messages = 0, -large.Messages
		out = append(out, large, small)
	}
	return out
}

// message is the arrival of what a rank sends now. Flags that the costs do not know are left out, so that
// a profile that is fitted on the work has none either, and has the same chains.
func (w *walk) message(x *run, to int, parts ...Part) (*event, error) {
	r, err := w.route(x.rank, to)
	if err != nil {
		return nil, err
	}
	parts = slices.DeleteFunc(parts, func(p Part) bool {
		return (p.Protocol == cost.Flag || p.Protocol == cost.RelaxedFlag) && !w.costs.Covers(r.Medium, p.Protocol)
	})
	for i := range parts {
		parts[i].Medium, parts[i].Latency = r.Medium, units.Time(parts[i].Messages*float64(w.costs.ExtraLatency(&r)))
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

// multi loads, combines and stores. In the rank's own memory that takes what the shortest copy does: its bytes hide behind those that
// cross links meanwhile (counted as well they make plans of one to 64 MiB too long). What it loads from peers costs what the smallest
// pulled message does without the flags around it, which the program raises by itself.
func (w *walk) multi(x *run, op *block.Op, n units.Bytes) error {
	from, loads := 0, 0
	for _, s := range op.Sources {
		if s.Rank != x.rank {
			from, loads = s.Rank, loads+1
		}
	}
	x.store(op, n)
	if loads == 0 && !remote(op.Destinations, x.rank) && w.costs.LocalOp > 0 {
		x.now = w.then(x.now, Work{{Local: w.costs.LocalOp}})
	}
	if loads > 0 {
		sent, err := w.sent(from, x.rank, string(schedule.Pulled), loads-1)
		if err != nil {
			return err
		}
		if n > x.pulled.Bytes {
			x.pulled = Part{Protocol: sent.Protocol, Bytes: n, Messages: sent.Messages}
		}
		e, err := w.message(x, from, sent,
			Part{Protocol: cost.RelaxedFlag, Messages: -1}, Part{Protocol: cost.Flag, Messages: -1})
		if err != nil {
			return err
		}
		if e.loads, err = w.onTheWay(from, x.rank, sent.Protocol, n); err != nil {
			return err
		}
		x.now = latest(x.now, e)
	}
	return nil
}

// onTheWay is what bytes take on their way to a rank, ps.
func (w *walk) onTheWay(from, to int, protocol string, n units.Bytes) (longest float64, err error) {
	r, err := w.route(from, to)
	for _, h := range r.Hops {
		longest = max(longest, w.ps(h, n))
	}
	return longest / w.costs.Transfer(r.Medium, protocol, n).Efficiency, err
}

// store notes what an operation stores at peers.
func (x *run) store(op *block.Op, n units.Bytes) {
	at := 0
	for _, d := range op.Destinations {
		if d.Rank != x.rank {
			at++
		}
	}
	if at > 0 {
		x.stored, x.storedAt = max(x.stored, n), max(x.storedAt, at)
		x.loaded = x.loaded || len(op.PacketSources) == 0 && !remote(op.Sources, x.rank)
	}
}
