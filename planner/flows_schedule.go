package planner

import (
	"slices"

	"railyard/model/collective"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/planner/pack"
)

// sentFlow is a flow as ranks send it: in a channel of so many messages a slice, over these paths.
type sentFlow struct {
	channel  schedule.Channel
	messages int
	paths    []schedule.Path
}

// sendFlow sends all units of a flow along their paths, as is worked out once for all pipelines.
func (r *request) sendFlow(stage flowStage, f *flow) *schedule.Schedule {
	x := onceFlow(r, stage, func() *sentFlow {
		messages := f.messages(r.spec.Ranks)
		if r.spec.Kind == collective.Gather {
			endTogether(messages)
		}
		x := &sentFlow{paths: r.pathsOf(f.switchPaths().Paths(r.t))}
		x.channel, x.messages = r.alongPaths(messages, f.units)
		return x
	})
	s := r.outOfStep(x.channel, x.messages)
	s.Paths = x.paths
	return s
}

// switchPaths is over which switches all units go from rank to rank.
func (f *flow) switchPaths() pack.PathUse {
	use, ranks := pack.PathUse{}, int32(f.g.Ranks)
	for i, p := range f.paths {
		var over [][]topology.DeviceID
		from := int32(-1)
		for _, v := range p {
			if v >= ranks {
				over = append(over, f.g.Switches[v-ranks])
				continue
			}
			if from >= 0 {
				use.Add(from, v, over, max(1, int64(weightOfUnit*f.size(i))))
			}
			from, over = v, nil
		}
	}
	return use
}

// weightOfUnit is that of the largest unit in a path's stripes; those by counts are smaller.
const weightOfUnit = 1000

// endTogether has what goes on shorter paths wait at its source, so that all arrives at the last
// hop: a gather is a scatter backwards, of which all begins at the first.
func endTogether(messages []pathMessage) {
	hops := make([]int, len(messages))
	for i := range messages {
		hops[i] = len(messages[i].path)
	}
	startLate(messages, hops)
}

// startLate has messages wait at their sources, so that all have come as far at the same hop, after so many of their own.
func startLate(messages []pathMessage, hops []int) {
	most := slices.Max(hops)
	for i := range messages {
		m := &messages[i]
		m.path = slices.Concat(slices.Repeat([]int32{m.src}, most-hops[i]), m.path)
	}
}

// alongPaths makes a phase of the hops with the same number, and counts the messages. Units on their way lie in
// scratch, each in a place of its own.
func (r *request) alongPaths(messages []pathMessage, units int) (ch schedule.Channel, sent int) {
	n, hops := r.spec.Ranks, 0
	for i := range messages {
		hops = max(hops, len(messages[i].path)-1)
		sent += len(messages[i].path) - 1
	}
	sends, recvs := r.pathPrograms(messages, units, hops)
	ch = schedule.Channel{Share: 1, Slices: 1, Chunks: r.chunksFor(n) * units}
	for h := range hops {
		programs := make([]schedule.Program, n)
		for v := range programs {
			programs[v] = sends[h][v]
			if h == 0 && carries(r.spec, v, v) && r.spec.Kind != collective.Barrier {
				own := schedule.Range(int32(v*units), int32(units))
				programs[v] = append(programs[v], schedule.Op{Kind: schedule.Copy, Peer: -1, Src: schedule.Loc{Buf: schedule.Input,
					Set: own}, Dst: schedule.Loc{Buf: schedule.Output, Set: own}})
			}
			programs[v] = append(programs[v], recvs[h][v]...)
		}
		ch.Phases = append(ch.Phases, schedule.Phase{Gen: schedule.GenOps, Op: r.spec.Kind, Src: schedule.Input, Acc: schedule.Scratch,
			Dst: schedule.Output, Ops: programs})
	}
	return ch, sent
}

const (
	mostOutOfStep  = 8  // channels
	leastOutOfStep = 16 // slices: fewer are for messages that wait for latencies
)

// outOfStep makes channels of a pipeline whose ranks send so many messages a slice, each in one slice more than the one before, as far as
// there may be as many. In one channel, links stand idle where their ranks wait for what others receive in the same phase, and again so in
// each slice; of several that are not in step, one takes what another leaves.
func (r *request) outOfStep(ch schedule.Channel, messages int) *schedule.Schedule {
	ch.Slices = r.slices()
	out, most := []schedule.Channel{ch}, 1
	if len(ch.Phases) > 1 && ch.Slices >= leastOutOfStep {
		most = min(mostOutOfStep, r.o.Budget.part(ofChannels)/max(1, messages*ch.Slices))
	}
	for len(out) < most {
		ch.Slices++
		out = append(out, ch)
	}
	return of(out...)
}

// pathPrograms are the sends and receives by hop and rank, in the order of units.
func (r *request) pathPrograms(messages []pathMessage, units, hops int) (sends, recvs [][]schedule.Program) {
	n := r.spec.Ranks
	sends, recvs = make([][]schedule.Program, hops), make([][]schedule.Program, hops)
	for h := range hops {
		sends[h], recvs[h] = make([]schedule.Program, n), make([]schedule.Program, n)
	}
	rooms := scratchPlaces{counts: r.spec.Kind == collective.AllToAllV, n: int32(n), units: int32(units), used: make([]int32, n*units)}
	for _, m := range messages {
		in, out := blocks(r.spec.Kind, int(m.src), int(m.dst))
		at := schedule.Loc{Buf: schedule.Input, Set: schedule.Range(int32(in)*rooms.units+m.unit, m.count)}
		for h := 1; h < len(m.path); h++ {
			a, b := m.path[h-1], m.path[h]
			if a == b { // it waits for the others
				continue
			}
			to := schedule.Loc{Buf: schedule.Output, Set: schedule.Range(int32(out)*rooms.units+m.unit, m.count)}
			if b != m.dst {
				to = schedule.Loc{Buf: schedule.Scratch, Set: schedule.Range(rooms.place(b, &m), m.count)}
			}
			if r.spec.Kind == collective.Barrier { // without data
				at, to = schedule.Loc{}, schedule.Loc{}
			}
			sends[h-1][a] = append(sends[h-1][a], schedule.Op{Kind: schedule.Send, Peer: b, Src: at})
			recvs[h-1][b] = append(recvs[h-1][b], schedule.Op{Kind: schedule.Recv, Peer: a, Dst: to})
			at = to
		}
	}
	return sends, recvs
}

// pathMessage is units of a pair that follow one another and share their path.
type pathMessage struct {
	src, dst, unit, count int32
	path                  []int32
}

// messages are those of all pairs, from rank to rank: what lies between, vertices behind them,
// routes know.
func (f *flow) messages(ranks int) (out []pathMessage) {
	n := f.g.Vertices
	for pair := range n * n {
		out = appendMessages(out, int32(pair/n), int32(pair%n), f.paths[pair*f.units:(pair+1)*f.units])
	}
	for i := range out {
		out[i].path = slices.DeleteFunc(slices.Clone(out[i].path), func(v int32) bool { return int(v) >= ranks })
	}
	return out
}

// appendMessages adds those of the units of a pair, by path; units without one have no data.
func appendMessages(out []pathMessage, src, dst int32, paths [][]int32) []pathMessage {
	for unit, p := range paths {
		switch {
		case p == nil:
		case unit > 0 && slices.Equal(p, paths[unit-1]):
			out[len(out)-1].count++
		default:
			out = append(out, pathMessage{src, dst, int32(unit), 1, p})
		}
	}
	return out
}

// scratchPlaces finds places in scratch for units on their way: places have the size of
// their units. By counts, units have places of their own (see schedule.Buffer); else
// each rank has a row for every unit's number.
type scratchPlaces struct {
	counts bool
	n      int32
	units  int32
	used   []int32 // by rank and unit
}

// place is the first chunk number of a message's place at a rank.
func (w *scratchPlaces) place(rank int32, m *pathMessage) int32 {
	if w.counts {
		return (m.src*w.n+m.dst)*w.units + m.unit
	}
	rows := w.used[rank*w.units+m.unit:][:m.count]
	row := slices.Max(rows)
	for i := range rows {
		rows[i] = row + 1
	}
	return row*w.units + m.unit
}
