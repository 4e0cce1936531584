package mscclxml

import (
	"cmp"
	"fmt"
	"slices"

	"railyard/model/program"
	"railyard/model/schedule"
)

// assemble gives a program's steps to thread blocks; deps are by rank, and found where
// they are not yet.
func assemble(f *File, p *program.Program, d Dialect, st style, deps [][][]int) error {
	channels := numberChannels(p, st)
	f.Channels, f.GPUs = len(channels), nil
	for r, steps := range p.Ranks {
		g := &gpuBuilder{p: p, rank: r, steps: steps, style: st, channels: channels}
		if n := g.peers(); (n+1)/2 > d.ThreadBlocks {
			return fmt.Errorf("gpu %d: at least %d thread blocks for %d connections: %s allows %d", r, (n+1)/2, n, d.Name, d.ThreadBlocks)
		}
		if deps[r] == nil {
			deps[r] = p.Deps(r)
		}
		g.deps = deps[r]
		gpu := GPU{ID: r, Input: p.Input[r], Output: p.Output[r], Blocks: g.build()}
		if err := d.holds(&gpu); err != nil {
			return err
		}
		gpu.Scratch = packScratch(gpu.Blocks)
		f.GPUs = append(f.GPUs, gpu)
	}
	return nil
}

// holds says at the first GPU what would be too much for all of a large plan.
func (d Dialect) holds(g *GPU) error {
	if len(g.Blocks) > d.ThreadBlocks {
		return fmt.Errorf("gpu %d: %d thread blocks: %s allows %d", g.ID, len(g.Blocks), d.Name, d.ThreadBlocks)
	}
	for i := range g.Blocks {
		if n := len(g.Blocks[i].Steps); n > d.Steps {
			return fmt.Errorf("gpu %d tb %d: %d steps: %s allows %d", g.ID, g.Blocks[i].ID, n, d.Name, d.Steps)
		}
	}
	return nil
}

// peers is the number of connections, either way: each is served by one thread block,
// which serves no more than one of either way.
func (g *gpuBuilder) peers() int {
	seen := map[[3]int]bool{}
	for i := range g.steps {
		if s := &g.steps[i]; s.Peer >= 0 {
			seen[[3]int{s.Channel, s.Peer, int(min(s.Kind, schedule.Recv))}] = true
		}
	}
	return len(seen)
}

// conn is one direction of a rank's connection.
type conn struct {
	strand
	peer int
}

// gpuBuilder makes a rank's thread blocks.
type gpuBuilder struct {
	p        *program.Program
	rank     int
	steps    []program.Step
	deps     [][]int
	style    style
	channels map[strand]int

	fused   map[int]int     // receive → the send that it is one step with
	sends   map[int]bool    // sends that are part of a receive
	sendTB  map[conn]*block // by connection
	recvTB  map[conn]*block
	blocks  []*block
	nodeOf  map[int]*node // by program step
	localTB map[strand]*block
}

func (g *gpuBuilder) strandOf(s *program.Step) strand { return g.style.strand(g.p, g.rank, s) }

// block is a thread block under construction.
type block struct {
	id         int
	strand     strand
	send, recv int
	nodes      []*node
}

// node is one program step, or a receive with the send of the same data.
type node struct {
	steps []int
	tb    *block
	last  int // number of its last step in the file
	used  bool
}

func (g *gpuBuilder) build() []Block {
	g.connections()
	g.place()
	slices.SortStableFunc(g.blocks, func(a, b *block) int {
		return cmp.Or(a.strand.compare(b.strand), cmp.Compare(a.send, b.send), cmp.Compare(a.recv, b.recv))
	})
	out := make([]Block, len(g.blocks))
	for i, b := range g.blocks {
		b.id = i
	}
	waits := g.waits()
	for i, b := range g.blocks {
		out[i] = Block{ID: i, Send: b.send, Recv: b.recv, Channel: g.channels[b.strand], Steps: g.emit(b, waits)}
	}
	return out
}

// connections makes the thread blocks that communicate.
func (g *gpuBuilder) connections() {
	g.sendTB, g.recvTB = map[conn]*block{}, map[conn]*block{}
	var sends, recvs []conn
	for i := range g.steps {
		s := &g.steps[i]
		c := conn{g.strandOf(s), s.Peer}
		switch {
		case s.Kind == schedule.Send && !slices.Contains(sends, c):
			sends = append(sends, c)
		case s.Peer >= 0 && s.Kind != schedule.Send && !slices.Contains(recvs, c):
			recvs = append(recvs, c)
		}
	}
	if g.style.fuse {
		g.pairFused()
	}
	if g.style.merge {
		g.pairRest(sends, recvs)
	}
	for _, c := range sends {
		if g.sendTB[c] == nil {
			g.sendTB[c] = g.newBlock(c.strand, c.peer, -1)
		}
	}
	for _, c := range recvs {
		if g.recvTB[c] == nil {
			g.recvTB[c] = g.newBlock(c.strand, -1, c.peer)
		}
	}
}

func (g *gpuBuilder) newBlock(s strand, send, recv int) *block {
	b := &block{strand: s, send: send, recv: recv}
	g.blocks = append(g.blocks, b)
	return b
}

// pairRest puts sends and receives that are alone into common thread blocks.
func (g *gpuBuilder) pairRest(sends, recvs []conn) {
	for _, s := range sends {
		for _, r := range recvs {
			if g.sendTB[s] == nil && g.recvTB[r] == nil && s.strand == r.strand {
				b := g.newBlock(s.strand, s.peer, r.peer)
				g.sendTB[s], g.recvTB[r] = b, b
			}
		}
	}
}

// place makes nodes of the steps and gives them to thread blocks, in program order.
func (g *gpuBuilder) place() {
	g.nodeOf, g.localTB = map[int]*node{}, map[strand]*block{}
	for i := range g.steps {
		if g.sends[i] {
			continue
		}
		n := &node{steps: []int{i}, tb: g.blockOf(i)}
		if j, ok := g.fused[i]; ok {
			n.steps = append(n.steps, j)
		}
		for _, j := range n.steps {
			g.nodeOf[j] = n
		}
		n.tb.nodes = append(n.tb.nodes, n)
	}
}

// blockOf is the thread block of a step. Local steps go where what they need is made.
func (g *gpuBuilder) blockOf(i int) *block {
	s := &g.steps[i]
	c := conn{g.strandOf(s), s.Peer}
	switch {
	case s.Kind == schedule.Send:
		return g.sendTB[c]
	case s.Peer >= 0:
		return g.recvTB[c]
	}
	if d := g.deps[i]; len(d) > 0 {
		if n := g.nodeOf[d[len(d)-1]]; n != nil {
			return n.tb
		}
	}
	if g.localTB[c.strand] == nil {
		g.localTB[c.strand] = g.newBlock(c.strand, -1, -1)
	}
	return g.localTB[c.strand]
}

// waits are, for each node, the nodes of other thread blocks that it must wait for: the
// last of each, unless the thread block has waited for it or a later one before.
func (g *gpuBuilder) waits() map[*node][]*node {
	out := map[*node][]*node{}
	for _, b := range g.blocks {
		known := map[*block]int{}
		for _, n := range b.nodes {
			need := map[*block]*node{}
			for _, i := range n.steps {
				for _, d := range g.deps[i] {
					x := g.nodeOf[d]
					if x.tb != b && (need[x.tb] == nil || need[x.tb].steps[0] < x.steps[0]) {
						need[x.tb] = x
					}
				}
			}
			for _, x := range need {
				if at := x.steps[0] + 1; known[x.tb] < at {
					known[x.tb] = at
					x.used = true
					out[n] = append(out[n], x)
				}
			}
			slices.SortFunc(out[n], func(x, y *node) int { return cmp.Compare(x.tb.id, y.tb.id) })
		}
	}
	g.number(out)
	return out
}

// number finds the number of each node's last step in the file.
func (g *gpuBuilder) number(waits map[*node][]*node) {
	for _, b := range g.blocks {
		s := 0
		for _, n := range b.nodes {
			s += max(len(waits[n])-1, 0) + g.width(n)
			n.last = s - 1
		}
	}
}

// width is how many steps a node takes in the file, without nops.
func (g *gpuBuilder) width(n *node) int {
	s := &g.steps[n.steps[0]]
	if s.Kind != schedule.Reduce {
		return 1
	}
	if slices.Contains(s.Srcs, s.Dst) {
		return max(len(s.Srcs)-1, 1)
	}
	return len(s.Srcs)
}
