// Package ncclgraph writes and reads the graph files of NCCL (NCCL_GRAPH_FILE,
// NCCL_GRAPH_DUMP_FILE): for each pattern the channels, each the order in which it
// visits the GPUs of one node, with the NIC that it enters and leaves by. The form is
// that of https://github.com/NVIDIA/nccl, src/graph/search.cc and xml.cc (2.30).
package ncclgraph

import (
	"slices"

	"railyard/interop/foreign"
)

// Graphs are a file.
type Graphs struct {
	Graphs []Graph
}

// Graph is the channels of a pattern.
type Graph struct {
	ID                     int // 0 ring, 1 tree, 2 CollNet chain, 3 NVLS, 4 CollNet direct
	Pattern                int // 1 balanced tree, 2 split tree, 3 tree, 4 ring, 5 NVLS, 6 CollNet direct
	CrossNIC               int
	SpeedIntra, SpeedInter float64 // GB/s a channel
	LatencyInter           float64 // µs
	TypeIntra, TypeInter   string  // the worst path
	SameChannels           bool
	Channels               []Channel
	line                   int
}

// Channel is an order of GPUs; Nets are the NICs at its ends, none on a single node.
type Channel struct {
	Nets []int64
	GPUs []GPU
	line int
}

// GPU is a GPU by its number on the node, and its rank; −1 leaves the rank to NCCL,
// which finds it by the number: so one file serves all nodes.
type GPU struct {
	Dev  int64
	Rank int
}

// Ids and patterns of the graphs that are made here.
const (
	RingID, RingPattern = 0, 4
	TreeID, TreePattern = 1, 3
	nvlsID              = 3
)

// pathTypes are what NCCL reads as a path: C2C, NET and DIS are not in its table.
var pathTypes = []string{"LOC", "NVL", "NVB", "PIX", "PXB", "P2C", "PXN", "PHB", "SYS"}

// Bounds of NCCL: MAXCHANNELS, and MAX_SUBS of src/graph/xml.h.
const (
	maxChannels = 64
	maxFound    = maxChannels / 2 // of a search: NCCL makes two of each (src/graph/connect.cc)
	maxParts    = 640             // of a channel
)

// Validate checks what NCCL takes for granted.
func (g *Graphs) Validate() error {
	v := &validator{}
	seen := map[int]bool{}
	if len(g.Graphs) == 0 {
		v.Add(0, "no graph")
	}
	for i := range g.Graphs {
		x := &g.Graphs[i]
		if seen[x.ID] {
			v.Add(x.line, "graph %d twice", x.ID)
		}
		seen[x.ID] = true
		v.graph(x)
	}
	return v.Err()
}

type validator struct{ foreign.Mistakes }

func (v *validator) graph(g *Graph) {
	if g.ID < 0 || g.ID > 4 {
		v.Add(g.line, "graph id %d: must be from 0 to 4", g.ID)
	}
	if g.Pattern < 1 || g.Pattern > 6 || g.ID == RingID && g.Pattern != RingPattern || g.ID == TreeID && g.Pattern > TreePattern {
		v.Add(g.line, "graph %d: pattern %d does not belong to it", g.ID, g.Pattern)
	}
	if g.CrossNIC < 0 || g.CrossNIC > 2 {
		v.Add(g.line, "graph %d: crossnic %d: must be 0, 1 or 2", g.ID, g.CrossNIC)
	}
	for _, speed := range []float64{g.SpeedIntra, g.SpeedInter, g.LatencyInter} {
		if !(speed >= 0 && speed < 1e6) {
			v.Add(g.line, "graph %d: speed or latency %g is out of range", g.ID, speed)
		}
	}
	for _, t := range []string{g.TypeIntra, g.TypeInter} {
		if !slices.Contains(pathTypes, t) {
			v.Add(g.line, "graph %d: path %q: NCCL reads %v only", g.ID, t, pathTypes)
		}
	}
	if len(g.Channels) > maxChannels {
		v.Add(g.line, "graph %d: %d channels: at most %d", g.ID, len(g.Channels), maxChannels)
	}
	for i := range g.Channels {
		v.channel(g, i)
	}
}

// channel checks that a channel visits the same GPUs as the first, each once.
func (v *validator) channel(g *Graph, i int) {
	c := &g.Channels[i]
	if n := len(c.Nets); n != 0 && n != 2 || n != len(g.Channels[0].Nets) {
		v.Add(c.line, "graph %d channel %d: %d nets: must be one at either end, in all channels or none", g.ID, i, n)
	}
	if n := len(c.Nets) + len(c.GPUs); n > maxParts {
		v.Add(c.line, "graph %d channel %d: %d GPUs and nets: NCCL reads %d at most", g.ID, i, n, maxParts)
	}
	if g.ID == nvlsID && len(c.GPUs) == 1 {
		return
	}
	devs := func(c *Channel) []int64 {
		var out []int64
		for _, x := range c.GPUs {
			out = append(out, x.Dev)
		}
		slices.Sort(out)
		return out
	}
	own := devs(c)
	if len(own) == 0 || len(slices.Compact(slices.Clone(own))) != len(own) {
		v.Add(c.line, "graph %d channel %d: no GPU, or one twice", g.ID, i)
	}
	if !slices.Equal(own, devs(&g.Channels[0])) {
		v.Add(c.line, "graph %d channel %d: visits other GPUs than channel 0", g.ID, i)
	}
}
