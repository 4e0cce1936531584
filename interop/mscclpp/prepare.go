package mscclpp

import (
	"slices"

	"railyard/model/program"
)

// prepare makes ready for an operation that uses memory, connections and remote buffers:
// threads are brought together where it needs the result of another one, and a thread
// block that has no room for it is ended.
func (g *gpuBuilder) prepare(uses []span, links []link, remotes []remoteKey, ops int) {
	if g.full(links, remotes, ops) {
		g.next()
	}
	if len(uses) > 0 && (g.fresh || g.conflict(uses)) {
		g.nop()
	}
}

// full reports whether the thread block has no room for some operations more and the
// two that end it, or for the connections and remote buffers they name.
func (g *gpuBuilder) full(links []link, remotes []remoteKey, ops int) bool {
	if len(g.tb.Ops)+ops+2 > maxOps {
		return true
	}
	channels, buffers := map[string][]int{}, map[string][]int{}
	for _, c := range g.tb.Channels {
		channels[c.Type] = slices.Clone(c.IDs)
	}
	for _, c := range g.tb.Remote {
		buffers[c.Type] = slices.Clone(c.IDs)
	}
	for _, l := range links {
		kind := g.kind(l.from, l.to)
		channels[kind] = with(channels[kind], g.channelOf[l])
	}
	for _, k := range remotes {
		buffers[k.kind] = with(buffers[k.kind], g.remoteNumber(k))
	}
	for _, kind := range []string{memory, port} {
		if len(channels[kind]) > maxChannels || len(buffers[kind]) > maxChannels {
			return true
		}
	}
	return false
}

func with(list []int, v int) []int {
	if slices.Contains(list, v) {
		return list
	}
	return append(list, v)
}

// next ends the thread block and goes on in a new one, which waits for it.
func (g *gpuBuilder) next() {
	if len(g.touched) > 0 || g.fresh {
		g.nop()
	}
	sem := len(g.out.Semaphores)
	g.out.Semaphores = append(g.out.Semaphores, Semaphore{})
	g.tb.Ops = append(g.tb.Ops, Op{Name: "sem_release", Semaphores: []int{sem}})
	g.out.Blocks[g.tb.ID] = *g.tb
	g.tb = g.newBlock()
	g.tb.Ops = append(g.tb.Ops, Op{Name: "sem_acquire", Semaphores: []int{sem}})
	g.fresh = true
}

// nop brings a thread block's threads together.
func (g *gpuBuilder) nop() {
	g.tb.Ops = append(g.tb.Ops, Op{Name: "nop"})
	g.touched, g.fresh = nil, false
}

// conflict reports whether memory is used that was written since the last nop, or
// written that was used.
func (g *gpuBuilder) conflict(uses []span) bool {
	for _, a := range uses {
		for _, b := range g.touched {
			if (a.write || b.write) && g.overlap(a, b) {
				return true
			}
		}
	}
	return false
}

func (g *gpuBuilder) overlap(a, b span) bool {
	x, y := g.p.Memory(g.rank, a.at), g.p.Memory(g.rank, b.at)
	return x.Buf == y.Buf && x.At < y.At+b.n && y.At < x.At+a.n
}

// channels are the thread block's numbers of connections.
func (g *gpuBuilder) channels(kind string, links []link) []int {
	i := slices.IndexFunc(g.tb.Channels, func(c ChannelIDs) bool { return c.Type == kind })
	if i < 0 {
		i = len(g.tb.Channels)
		g.tb.Channels = append(g.tb.Channels, ChannelIDs{Type: kind})
	}
	var out []int
	for _, l := range links {
		c := &g.tb.Channels[i]
		c.IDs = with(c.IDs, g.channelOf[l])
		out = append(out, slices.Index(c.IDs, g.channelOf[l]))
	}
	return out
}

// remoteNumber is the GPU's number of a remote buffer.
func (g *gpuBuilder) remoteNumber(k remoteKey) int {
	n, ok := g.remote[k]
	if !ok {
		n = len(g.out.RemoteBuffers)
		g.remote[k] = n
		g.out.RemoteBuffers = append(g.out.RemoteBuffers, RemoteBuffer{Rank: k.rank, Type: local(program.Place{Buf: k.buf}, 0).Type,
			Access: []string{k.kind}})
	}
	return n
}

// remoteRef is the thread block's number of a remote buffer.
func (g *gpuBuilder) remoteRef(k remoteKey) int {
	i := slices.IndexFunc(g.tb.Remote, func(c BufferIDs) bool { return c.Type == k.kind })
	if i < 0 {
		i = len(g.tb.Remote)
		g.tb.Remote = append(g.tb.Remote, BufferIDs{Type: k.kind})
	}
	n := g.remoteNumber(k)
	g.tb.Remote[i].IDs = with(g.tb.Remote[i].IDs, n)
	return slices.Index(g.tb.Remote[i].IDs, n)
}
