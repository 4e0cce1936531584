package nccl

import (
	"math"

	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/units"
)

// Work is what a kernel has to do, whatever it costs (see cost.Kernel).
type Work struct {
	Size          units.Bytes // of the collective
	Hops, NetHops float64     // dependent steps inside nodes, and across the network
	Posts         float64     // messages that a rank hands to the network one after the other, behind the first
	Waits         float64     // chunks behind the first that a thread block waits for as for a hop (treeChunks)
	Steps         float64     // that move a chunk each, one after the other
	Drains        float64     // what thread blocks have to do beside that, in steps (cost.Kernel.Drain)
	Chunk         units.Bytes // a step's bytes
	Line          float64     // bytes/s at which a step's bytes can move at best
	Inside, Out   float64     // the same of hops inside nodes and across the network, where both matter; 0: Line
	Wire          float64     // bytes that cross what Limit names, for each GPU or node
	Chain         bool        // the chunk passes the hops as through a pipeline
	Limit         string      // what Line is the rate of, in words
}

// Least is the time at line rate: no prediction may be below.
func (w *Work) Least() units.Time {
	return units.Time(math.Ceil(w.Steps * float64(w.Chunk) / w.Line * 1e12))
}

// overNetwork are the steps and messages that each take a proxy and an adapter their time.
func (w *Work) overNetwork() float64 { return w.NetHops + w.Posts }

// insideNode are the steps that each take a thread block the time of a hop.
func (w *Work) insideNode() float64 { return w.Hops + w.Waits }

// Passes is the length of the pipeline, in hops at Line, each at the rate of what it crosses; 0 where there is none.
func (w *Work) Passes() float64 {
	switch {
	case !w.Chain:
		return 0
	case w.Out == 0:
		return w.Hops + w.NetHops
	}
	return w.Hops*w.Line/w.Inside + w.NetHops*w.Line/w.Out
}

// work is what an algorithm ("ring", "tree", "pat", "nvls", "nvls_tree", "p2p") has to do.
func (m *machineRates) work(k collective.Kind, algorithm string, size units.Bytes) (Work, error) {
	n, nodes := float64(m.ranks), float64(m.nodes)
	w := Work{Size: size, Steps: 1, Drains: 1, Chunk: size, Line: m.scaleUp, Limit: m.via}
	part := units.Bytes(math.Ceil(float64(size) / n))
	switch {
	case algorithm == "ring" && (k == collective.AllReduce || k == collective.AllGather || k == collective.ReduceScatter):
		rounds := 1.0
		if k == collective.AllReduce {
			rounds = 2
		}
		w.Steps, w.Chunk = rounds*(n-1), part
		if m.nodes > 1 {
			w.NetHops = rounds * (nodes - 1)
		}
		w.Hops = w.Steps - w.NetHops
		m.throughNetwork(&w)
	case algorithm == "ring" && (k == collective.Broadcast || k == collective.Reduce):
		w.NetHops, w.Hops, w.Chain = nodes-1, n-nodes, true
		m.throughNetwork(&w)
	case algorithm == "pat" && (k == collective.AllGather || k == collective.ReduceScatter): // aggregates parts on trees: log₂ n rounds
		w.Steps, w.Chunk, w.NetHops = n-1, part, math.Ceil(math.Log2(n))
		m.throughNetwork(&w)
	case algorithm == "tree" && k == collective.AllReduce:
		m.tree(&w, n, nodes)
	case algorithm == "nvls_tree" && k == collective.AllReduce,
		algorithm == "nvls" && (k == collective.AllReduce || k == collective.AllGather || k == collective.ReduceScatter):
		m.nvls(&w, k, nodes)
		w.byHeads(min(n/nodes, cost.MaxHeads))
	case algorithm == "collnet_chain" && k == collective.AllReduce,
		algorithm == "collnet_direct" && (k == collective.AllReduce || k == collective.AllGather || k == collective.ReduceScatter):
		m.collNet(&w, k, algorithm, n/nodes)
	case algorithm == "p2p" && (k == collective.AllToAll || k == collective.AllToAllV || k == collective.SendRecv):
		m.p2p(&w, k, n, nodes, part)
	default:
		return w, unsupported("NCCL has no %v by %s", k, algorithm)
	}
	w.Wire = w.Steps * float64(w.Chunk)
	return w, nil
}

// throughNetwork limits a ring that leaves the node to what its NICs carry.
func (m *machineRates) throughNetwork(w *Work) {
	if m.nodes > 1 {
		m.acrossNodes(w, w.Steps)
	}
}

// tree is a chain inside each node and a double binary tree across: up and down.
func (m *machineRates) tree(w *Work, n, nodes float64) {
	w.Hops, w.Chain, w.Steps = 2*(n/nodes-1), true, m.treeSteps()
	if m.nodes == 1 { // the thread block of a rank in the middle sends everything up and down, whatever its links carry
		w.Drains = min(n-1, 2) - w.Steps
	}
	if m.nodes > 1 {
		w.NetHops = 2 * math.Ceil(math.Log2(nodes))
		m.acrossNodes(w, doubleTree(nodes))
	}
}

// treeSteps is what a rank of a chain sends, as a share of all: its first and last everything once, the
// others up and down. Channels lose alike wherever they begin: 4 H200 have the bus bandwidth of 3, and nearly that of 2.
func (m *machineRates) treeSteps() float64 {
	local := float64(m.ranks) / float64(m.nodes)
	return 2 * (local - 1) / local
}

// doubleTree is what a node of a double binary tree sends at most: each of the two trees has half of
// everything, and sends it along each of its edges; from four nodes on one is an inner node of one tree,
// with three edges, and a leaf of the other (ncclGetDtree in src/graph/trees.cc).
func doubleTree(nodes float64) float64 { return min(nodes/2, 2) }

// acrossNodes limits what nodes exchange to what their NICs carry, where that takes longer. What is drained beside, and what
// fills a chain, goes at the rates of links, whichever of them limits the rest: no faster link makes it slower.
func (m *machineRates) acrossNodes(w *Work, steps float64) {
	w.Inside, w.Out = w.Line, m.network
	if steps/m.network > w.Steps/w.Line {
		w.Steps, w.Line, w.Limit = steps, m.network, m.exits
	}
	w.Drains *= w.Line / min(w.Inside, w.Out)
}

// nvls reduces and multicasts in the switch: a GPU sends and receives everything once,
// and the part that it is the head of once more.
func (m *machineRates) nvls(w *Work, k collective.Kind, nodes float64) {
	if k == collective.AllReduce {
		w.Steps = (m.heads + 1) / m.heads
	}
	w.Hops, w.Line, w.Limit = 1, m.scaleUp*m.inSwitch, "in-switch reduction over "+m.via
	if m.nodes == 1 {
		return
	}
	if m.reducing { // the network's switches do the rest
		w.NetHops = 1
		m.acrossNodes(w, 1)
		return
	}
	w.NetHops = 2 * math.Ceil(math.Log2(nodes))
	m.acrossNodes(w, doubleTree(nodes))
}

// byHeads counts steps of what each head of a node pulls through the switch where all its GPUs are heads, so that a part of the
// same size costs alike, however many GPUs there are.
func (w *Work) byHeads(heads float64) {
	w.Steps, w.Chunk = w.Steps*heads, units.Bytes(math.Ceil(float64(w.Chunk)/heads))
}

// collNet: a node sends everything once and receives the result once, at the same time; inside, GPUs are a
// chain or each has its part.
func (m *machineRates) collNet(w *Work, k collective.Kind, algorithm string, local float64) {
	w.NetHops, w.Hops = 1, 2
	inside := 2 * (local - 1) / local // of what a GPU has, leaves it
	if algorithm == "collnet_chain" {
		w.Hops, w.Chain, inside = 2*(local-1), true, 2
	}
	if k != collective.AllReduce {
		w.Hops, inside = 1, inside/2
	}
	w.Steps = inside
	m.acrossNodes(w, 1)
}

// p2p: everybody sends a part to everybody, or everything to the next rank.
func (m *machineRates) p2p(w *Work, k collective.Kind, n, nodes float64, part units.Bytes) {
	w.Hops = 1
	if k != collective.SendRecv {
		w.Steps, w.Chunk = n-1, part
	}
	if m.nodes == 1 {
		return
	}
	w.NetHops = 1
	local := n / nodes
	away := (n - local) / (n - 1) // of what a rank sends, leaves its node
	if k == collective.SendRecv {
		away = 1 / local // the last rank of a node sends to the next node
	} else {
		w.Posts = n - local - 1
	}
	if rate := m.direct / (local * away); rate < w.Line {
		w.Line, w.Limit = rate, m.exits
	}
}
