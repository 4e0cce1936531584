package sim

import "slices"

// Channels that share programs differ in the sizes of their messages alone: the first is compiled, and others are copied from it.

// mark is where a channel begins in what is compiled.
type mark struct {
	lanes, conns, laneConns int
	compiled                int64
}

func (c *compiler) mark() mark { return mark{len(c.lanes), len(c.conns), len(c.laneConns), c.compiled} }

// copied is the channel that another one can be copied from; −1: none. Where channels have ways or carriers of their own, switches copy
// or add up what they carry, one rank stands for others, or sizes come from counts, each is compiled by itself; so it is in flat plans,
// with which tests compare.
func (c *compiler) copied(ch int) int {
	s := c.strands[ch]
	if c.symmetry != nil || c.options.Flat || c.options.Hashing != nil || c.counted ||
		c.sharedInNodes(c.jobs[s.job].Schedule.Protocol).channels {
		return -1
	}
	phases := c.channel(int32(ch)).Phases
	for like, o := range c.strands[:ch] {
		if o.job == s.job && (o.slices == 1) == (s.slices == 1) && c.channel(int32(ch)).SharesPrograms(c.channel(int32(like))) {
			for p := range phases {
				if phases[p].InNetwork() {
					return -1
				}
			}
			return like
		}
	}
	return -1
}

// copy compiles a channel as another, which is at marks[like].
func (c *compiler) copy(ch, like int, marks []mark) error {
	from, to, here := marks[like], marks[like+1], c.mark()
	if most := c.options.Connections; most > 0 && here.conns+to.conns-from.conns > most {
		return ErrTooLong
	}
	left := len(c.strands) - ch // which are copied as well, as a rule
	c.lanes, c.laneConns = slices.Grow(c.lanes, left*(to.lanes-from.lanes)), slices.Grow(c.laneConns, left*(to.laneConns-from.laneConns))
	c.conns, c.ends = slices.Grow(c.conns, left*(to.conns-from.conns)), slices.Grow(c.ends, left*(to.conns-from.conns))
	x := &resized{compiler: c, shape: c.shape[ch], programs: map[[2]int32]int32{}, seqs: map[sequence]sequence{}}
	later := func(lane int32) int32 {
		if lane < 0 {
			return lane
		}
		return lane + int32(here.lanes-from.lanes)
	}
	for _, l := range c.lanes[from.lanes:to.lanes] {
		first, err := x.program(&l)
		if err != nil {
			return err
		}
		l.first, l.end = first, first+l.end-l.first
		l.channel, l.before, l.after, l.conns = int32(ch), later(l.before), later(l.after), l.conns+int32(here.laneConns-from.laneConns)
		c.lanes = append(c.lanes, l)
	}
	for i, k := range c.conns[from.conns:to.conns] {
		e := c.ends[from.conns+i]
		k.channel, k.receiver = int32(ch), later(k.receiver)
		c.conns, c.ends = append(c.conns, k), append(c.ends, ends{x.seqs[e.send], x.seqs[e.recv]})
	}
	for _, k := range c.laneConns[from.laneConns:to.laneConns] {
		c.laneConns = append(c.laneConns, k+int32(here.conns-from.conns))
	}
	if c.compiled += to.compiled - from.compiled; c.options.Operations > 0 && c.compiled > c.options.Operations {
		return ErrTooLong
	}
	return nil
}

// resized are programs and sequences of messages in the sizes of a channel.
type resized struct {
	*compiler
	shape    int32
	programs map[[2]int32]int32    // by the first operation and the last one
	seqs     map[sequence]sequence // of these programs
}

func (x *resized) size(i int32) int32 {
	z := x.sizes[i]
	z.shape = x.shape
	return x.addSize(&x.sizeOf, z)
}

// program is where the program of a lane begins in these sizes.
func (x *resized) program(l *lane) (int32, error) {
	key := [2]int32{l.first, l.end}
	if first, ok := x.programs[key]; ok {
		return first, nil
	}
	ops := slices.Clone(x.compiler.programs.all[l.first:l.end])
	for i := range ops {
		ops[i].size = x.size(ops[i].size)
	}
	first, err := x.compiler.programs.intern(append(ops, l.loop.marks()...))
	if err != nil {
		return 0, err
	}
	x.programs[key] = first
	seqs := slices.Clone(x.progSeqs[l.first])
	for i, s := range seqs {
		if seqs[i], err = x.sequence(s); err != nil {
			return 0, err
		}
	}
	if l.first < l.end {
		x.progSeqs[first] = seqs
	}
	return first, nil
}

func (x *resized) sequence(s sequence) (sequence, error) {
	if known, ok := x.seqs[s]; ok {
		return known, nil
	}
	list := slices.Clone(x.seqTable.all[s.first : s.first+s.n])
	for i := range list {
		list[i] = x.size(list[i])
	}
	first, err := x.seqTable.intern(list)
	x.seqs[s] = sequence{first, s.n, s.loop}
	return x.seqs[s], err
}
