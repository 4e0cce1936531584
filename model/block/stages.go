package block

import (
	"fmt"
	"slices"

	"railyard/model/schedule"
)

// Staged is a schedule over several nodes. Inside nodes kernels run block programs; between them groups of sends and
// receives of a library move bytes. No kernel waits for what a group brings: a rank's stages follow one another on a
// stream, and streams run side by side.
type Staged struct {
	Nodes      [][]int   // ranks, by node
	Streams    [][]Stage // by stream, in order
	Instances  int
	Lanes      int   // of all kernels of a node: each has flags of its own
	Scratch    int64 // bytes by rank
	PacketHalf int64 // bytes of one half of the packet buffer
	Mechanism  Mechanism
}

// Stage is kernels, and then messages between nodes.
type Stage struct {
	// Kernels are those of each node, which number its ranks, and their memory, from 0; nil where it has nothing to do.
	Kernels []*Program
	// Group is in the order in which every rank posts its own: of two ranks, sends and receives match in order.
	Group []Transfer
}

// Transfer is bytes from the memory of one rank to that of another: by copy engine, or a message between nodes, whose ranks are as
// the schedule numbers them.
type Transfer struct {
	From, To Ref
	Bytes    int64
}

// token is what a message without data sends, so that its receiver knows of it: bytes behind a count of launches, which
// nobody reads.
var token = Transfer{Ref{Buffer: ControlBuffer, Offset: FlagLine / 2}, Ref{Buffer: ControlBuffer, Offset: FlagLine / 2}, 8}

// Blocks are the most blocks that a kernel of a rank needs at once.
func (p *Staged) Blocks() (most int) {
	for _, k := range p.kernels() {
		most = max(most, k.Blocks())
	}
	return most
}

// ControlBytes is the size of a rank's flags.
func (p *Staged) ControlBytes() int64 { return controlBytes(p.Lanes * p.Instances) }

// Of are a node's kernels.
func (p *Staged) Of(node int) (out []*Program) {
	for _, stages := range p.Streams {
		for _, s := range stages {
			if k := s.Kernels[node]; k != nil {
				out = append(out, k)
			}
		}
	}
	return out
}

// kernels are those of all nodes.
func (p *Staged) kernels() (out []*Program) {
	for node := range p.Nodes {
		out = append(out, p.Of(node)...)
	}
	return out
}

// MostStreams are as many as a schedule's stages are dealt out to: while one adds up what has come, others' messages are on
// their way.
const MostStreams = 4

// StreamsOf are those that a schedule's stages have work for.
func StreamsOf(s *schedule.Schedule) int {
	items := len(s.Channels)
	for _, ch := range s.Channels {
		items = max(items, ch.Slices)
	}
	return max(min(items, MostStreams), 1)
}

// CompileStages turns a valid schedule into stages for nodes of these ranks, on at most so many streams. The slices of a
// channel are dealt out to the streams; on each, a slice is one level behind the one before.
func CompileStages(s *schedule.Schedule, o Options, nodes [][]int, streams int) (*Staged, error) {
	g, err := newStager(s, o, nodes)
	if err != nil {
		return nil, err
	}
	p := &Staged{Nodes: nodes, Streams: make([][]Stage, g.streams(streams)), Instances: o.Instances, Mechanism: o.Mechanism}
	for n := range p.Streams {
		if p.Streams[n], err = g.stream(n, len(p.Streams)); err != nil {
			return nil, err
		}
	}
	p.Lanes, p.PacketHalf = slices.Max(g.lanes), slices.Max(g.c.packetBytes)
	for _, k := range p.kernels() {
		p.Scratch = max(p.Scratch, k.scratchUsed())
	}
	p.Scratch = max(p.Scratch, g.landed)
	return p, nil
}

func newStager(s *schedule.Schedule, o Options, nodes [][]int) (*stager, error) {
	if err := partition(nodes, s.Spec.Ranks); err != nil {
		return nil, err
	}
	most := 0
	for _, list := range nodes {
		most = max(most, len(list))
	}
	s, err := ready(s, o, most)
	if err != nil {
		return nil, err
	}
	g := &stager{c: newCompiler(s, o), nodes: nodes, lanes: make([]int, len(nodes))}
	for ch := range g.c.s.Channels {
		x, err := g.c.cutChannel(ch, nodes)
		if err != nil {
			return nil, fmt.Errorf("channel %d: %w", ch, err)
		}
		g.c.at.copies[ch] += int64(x.more)
		g.cuts = append(g.cuts, x)
	}
	return g, nil
}

// streams are those of so many that there is work for.
func (g *stager) streams(most int) int { return max(min(most, StreamsOf(g.c.s)), 1) }

// blocks are the most that kernels of all so many streams have at once, in one instance.
func (g *stager) blocks(streams int) int {
	most := 1
	for n := range streams {
		for _, wave := range g.waves(n, streams) {
			for node := range g.nodes {
				lanes := 0
				for _, x := range wave {
					if x.level < len(x.cut.kernels) && x.cut.kernels[x.level][node] != nil {
						lanes++
					}
				}
				most = max(most, lanes)
			}
		}
	}
	return most * streams
}

// partition refuses nodes that are not all ranks, each once.
func partition(nodes [][]int, ranks int) error {
	all := slices.Concat(nodes...)
	slices.Sort(all)
	for i := range max(len(all), ranks) {
		if len(all) != ranks || all[i] != i {
			return fmt.Errorf("nodes of ranks %v: must be all of %d ranks, each once", nodes, ranks)
		}
	}
	return nil
}

// stager puts the levels of all channels and slices onto streams.
type stager struct {
	c      *compiler
	nodes  [][]int
	cuts   []*cut // by channel
	lanes  []int  // by node: numbered so far
	landed int64  // bytes of scratch that groups use
}

// item is a level of a channel's slice.
type item struct {
	cut          *cut
	slice, level int
}

// waves are what the stages of a stream, one of so many, do.
func (g *stager) waves(n, of int) (out [][]item) {
	for wave, more := 0, true; more; wave++ {
		var list []item
		more = false
		for ch, x := range g.cuts {
			for slice := range g.c.s.Channels[ch].Slices {
				level := wave - slice/of
				if (slice+ch)%of != n || level >= max(len(x.kernels), len(x.groups)) {
					continue
				}
				if more = true; level >= 0 {
					list = append(list, item{x, slice, level})
				}
			}
		}
		out = append(out, list)
	}
	return out
}

// stream is one of so many.
func (g *stager) stream(n, of int) (out []Stage, err error) {
	for _, wave := range g.waves(n, of) {
		s := Stage{Kernels: make([]*Program, len(g.nodes))}
		for _, x := range wave {
			if err := g.add(&s, x.cut, x.slice, x.level); err != nil {
				return nil, err
			}
		}
		if len(s.Group) > 0 || slices.ContainsFunc(s.Kernels, func(k *Program) bool { return k != nil }) {
			out = append(out, s)
		}
		for node, k := range s.Kernels {
			if k == nil {
				continue
			}
			if err := k.check(); err != nil {
				return nil, err
			}
			g.lanes[node] += len(k.Lanes[0])
		}
	}
	return out, nil
}

// add puts a level of a slice into a stage.
func (g *stager) add(s *Stage, x *cut, slice, level int) error {
	if level < len(x.kernels) {
		for node, st := range x.kernels[level] {
			if st == nil {
				continue
			}
			if s.Kernels[node] == nil {
				s.Kernels[node] = g.c.program(len(g.nodes[node]))
			}
			st.slice = slice
			if err := g.c.lanes(s.Kernels[node], g.lanes[node], []*strand{st}); err != nil {
				return err
			}
		}
	}
	if level < len(x.groups) {
		for _, m := range x.groups[level] {
			s.Group = append(s.Group, g.transfers(x, m, slice)...)
		}
	}
	return nil
}

// transfers are a message's bytes in a slice; chunks that follow one another on both sides are one.
func (g *stager) transfers(x *cut, m crossing, slice int) (out []Transfer) {
	if m.src.Set.Len() == 0 {
		t := token
		t.From.Rank, t.To.Rank = m.from, m.to
		return []Transfer{t}
	}
	c := g.c
	st := &strand{channel: x.st.channel, slice: slice, slices: 1, ranks: x.st.ranks}
	src, limits := c.refs(st, m.from, m.src)
	dst, ends := c.refs(st, m.to, m.dst)
	chunk := c.at.unit(st.channel) * int64(c.o.Instances*c.o.Size)
	for i := range src {
		bytes := chunk
		if limit := shorter(limits[i], ends[i]); limit >= 0 {
			bytes = min(chunk, limit)
		}
		if m.dst.Buf == schedule.Scratch {
			g.landed = max(g.landed, dst[i].Offset+bytes)
		}
		if m.src.Buf == schedule.Scratch {
			g.landed = max(g.landed, src[i].Offset+bytes)
		}
		if last := len(out) - 1; last >= 0 && out[last].meets(src[i], dst[i]) {
			out[last].Bytes += bytes
		} else if bytes > 0 {
			out = append(out, Transfer{src[i], dst[i], bytes})
		}
	}
	return out
}

// meets reports whether places lie behind those of a message.
func (t *Transfer) meets(from, to Ref) bool {
	return moved(t.From, t.Bytes) == from && moved(t.To, t.Bytes) == to
}
