package block

import (
	"slices"

	"railyard/model/schedule"
)

// cut takes a channel's slice apart where messages go from node to node. Kernels of level 0 come first, then the first
// group of such messages, then kernels of level 1 and so on: a message's level is the number of messages between nodes on
// the longest chain before it, where a chain follows ranks' programs and messages. Two things differ from the programs:
//
//   - A message is posted as soon as its data are there and nothing uses the memory that it is for, so that a rank receives
//     from several nodes at once; the steps behind the receive stay behind it.
//   - A message within a node is in its receiver's kernel; until then nobody overwrites what is sent.
//
// So of two steps that the programs order, the later one has no lower level, and where both are in one kernel, so is the
// chain between them.
type cut struct {
	nodes   [][]int // ranks
	node    []int   // of each rank
	number  []int   // of each rank, in its node
	inPlace bool
	st      *strand // of all ranks
	chunks  int32   // of the channel's slice
	copies  int32   // of the buffer that the schedule's scratch holds
	more    int32   // of the buffer that scratch holds for what is combined with what is there

	at     []int   // by rank: the level that it has come to
	level  [][]int // of each rank's steps; noLevel where a group does them
	left   map[*message]departure
	used   map[place]usage
	landed map[place]int32 // messages between nodes that were combined there

	kernels [][]*strand  // by level and node; nil where there is nothing to do
	groups  [][]crossing // by level
}

const noLevel = -1

// departure is where a message is sent: by which step, and of what level that is.
type departure struct{ step, level int }

// usage is the last level of the kernels and of the groups that use a place, from 1; 0: none.
type usage struct{ kernel, group int }

// crossing is a message between nodes.
type crossing struct {
	from, to int // ranks
	src, dst schedule.Loc
}

// cutChannel cuts what a channel's ranks do in each slice.
func (c *compiler) cutChannel(channel int, nodes [][]int) (*cut, error) {
	ranks := c.s.Spec.Ranks
	all, err := c.marked([]*strand{c.strand(channel, 0, len(c.s.Channels[channel].Phases), 0)})
	if err != nil {
		return nil, err
	}
	x := &cut{nodes: nodes, node: make([]int, ranks), number: make([]int, ranks), inPlace: c.o.InPlace, st: all[0],
		chunks: int32(c.s.Channels[channel].Chunks), copies: int32(c.at.copies[channel]), at: make([]int, ranks),
		level: make([][]int, ranks), left: map[*message]departure{}, used: map[place]usage{}, landed: map[place]int32{}}
	for n, list := range nodes {
		for i, r := range list {
			x.node[r], x.number[r] = n, i
		}
	}
	for r, steps := range x.st.steps {
		x.level[r] = make([]int, len(steps))
	}
	if err := inOrder(all, func(_ *strand, r, i int) { x.place(r, i) }); err != nil {
		return nil, err
	}
	x.keep()
	x.gather()
	return x, nil
}

// place gives a step its level.
func (x *cut) place(r, i int) {
	s := &x.st.steps[r][i]
	switch {
	case s.op.Kind == schedule.Send:
		x.left[s.msg], x.level[r][i] = departure{i, x.at[r]}, noLevel
		return
	case receives(s.op) && x.node[s.msg.from] != x.node[r]:
		if x.cross(r, s); s.op.Kind == schedule.Recv {
			x.level[r][i] = noLevel
			return
		}
	case receives(s.op):
		sent := x.left[s.msg]
		x.at[r] = max(x.at[r], sent.level)
		x.level[s.msg.from][sent.step] = x.at[r]
		x.use(s.msg.from, s.msg.send.Src, usage{kernel: x.at[r] + 1})
	}
	x.level[r][i] = x.at[r]
	for _, l := range slices.Concat(reads(s.op), []schedule.Loc{s.op.Dst}) {
		x.use(r, l, usage{kernel: x.at[r] + 1})
	}
}

// cross posts what a rank receives from another node. What is combined lands in scratch of its own, and its step
// combines what is there.
func (x *cut) cross(r int, s *step) {
	m, group := crossing{s.msg.from, r, s.msg.send.Src, s.op.Dst}, x.left[s.msg].level
	if s.op.Kind == schedule.RecvReduce {
		m.dst = x.landing(r, s.op.Dst)
		s.op = &schedule.Op{Kind: schedule.Reduce, Peer: -1, Srcs: []schedule.Loc{s.op.Src, m.dst}, Dst: s.op.Dst}
		s.msg = nil
	} else {
		x.each(r, m.dst, func(p place) { group = max(group, x.used[p].kernel-1, x.used[p].group) })
	}
	for len(x.groups) <= group {
		x.groups = append(x.groups, nil)
	}
	x.groups[group] = append(x.groups[group], m)
	x.use(m.from, m.src, usage{group: group + 1})
	x.use(r, m.dst, usage{group: group + 1})
	x.at[r] = max(x.at[r], group+1)
}

// landing is where a message lies until it is combined: behind the schedule's scratch, in as many copies of the buffer as
// there are messages for a place.
func (x *cut) landing(r int, dst schedule.Loc) schedule.Loc {
	var n int32
	x.each(r, dst, func(p place) { n = max(n, x.landed[p]) })
	x.each(r, dst, func(p place) { x.landed[p] = n + 1 })
	first, size := n*(1+x.copies), int32(1) // of what is combined into output; then of what is into scratch
	if dst.Buf == schedule.Scratch {
		first, size = first+1, x.copies
	}
	x.more = max(x.more, first+size)
	dst.Set.First += (x.copies + first) * x.chunks
	dst.Buf = schedule.Scratch
	return dst
}

func (x *cut) use(r int, l schedule.Loc, u usage) {
	x.each(r, l, func(p place) {
		old := x.used[p]
		x.used[p] = usage{max(old.kernel, u.kernel), max(old.group, u.group)}
	})
}

// each visits the places of a location; in place, input and output are one.
func (x *cut) each(r int, l schedule.Loc, visit func(place)) {
	if x.inPlace && l.Buf == schedule.Input {
		l.Buf = schedule.Output
	}
	l.Set.Each(func(chunk int32) { visit(place{r, l.Buf, chunk}) })
}

// keep finds what kernels receive for others than themselves: it has to be stored.
func (x *cut) keep() {
	for r, steps := range x.st.steps {
		for i := range steps {
			if s := &steps[i]; s.op.Kind == schedule.Recv && x.level[r][i] != noLevel && s.op.Dst.Buf == schedule.Scratch {
				s.readByOthers = x.readElsewhere(r, i)
			}
		}
	}
}

// readElsewhere reports whether a step of another level reads what step i has received.
func (x *cut) readElsewhere(r, i int) bool {
	dst := x.st.steps[r][i].op.Dst
	for j, s := range x.st.steps[r][i+1:] {
		for _, l := range reads(s.op) {
			if x.level[r][i+1+j] != x.level[r][i] && overlap(l, dst) {
				return true
			}
		}
		if writes(s.op) && s.op.Dst == dst {
			break
		}
	}
	return false
}

// gather makes strands of the steps of each level and node, in the order of the programs.
func (x *cut) gather() {
	for r, steps := range x.st.steps {
		for i, s := range steps {
			if level := x.level[r][i]; level != noLevel {
				st := x.strand(level, x.node[r])
				st.steps[x.number[r]] = append(st.steps[x.number[r]], s)
			}
		}
	}
	for _, kernels := range x.kernels {
		for _, st := range kernels {
			if st != nil {
				st.renumber(x.number)
			}
		}
	}
}

// strand is that of a level on a node.
func (x *cut) strand(level, node int) *strand {
	for len(x.kernels) <= level {
		x.kernels = append(x.kernels, make([]*strand, len(x.nodes)))
	}
	at := &x.kernels[level][node]
	if *at == nil {
		*at = &strand{channel: x.st.channel, slices: 1, ranks: x.nodes[node], steps: make([][]step, len(x.nodes[node]))}
	}
	return *at
}

// renumber has messages go between the strand's own numbers.
func (st *strand) renumber(number []int) {
	for _, steps := range st.steps {
		for _, s := range steps {
			if s.op.Kind == schedule.Send {
				s.msg.from, s.msg.to = number[s.msg.from], number[s.msg.to]
			}
		}
	}
	st.number()
}
