package nccl

import (
	"fmt"

	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/topology"
	"railyard/model/units"
)

// Switch is a feature that may be forced.
type Switch uint8

// The settings of a feature.
const (
	Auto Switch = iota // as NCCL would decide
	On
	Off
)

// Options say what a topology file does not, and change what NCCL would do.
type Options struct {
	ComputeCapability int         // × 10, e.g. 90; 0: by the GPU's model or NVLink class
	NVLS              Switch      // Auto: where the switches multicast and reduce
	CollNet           Switch      // reduction in the network's switches (SHARP); Auto: off, as NCCL_COLLNET_ENABLE
	Fabric            string      // one of cost.Fabrics; "": by the class of the NICs' links
	Buffer            units.Bytes // NCCL_BUFFSIZE, that a channel has under way with Simple; 0: as NCCL decides
	P2PLevel          string      // NCCL_P2P_LEVEL by name, LOC to SYS: how far apart GPUs reach one another; "": as NCCL decides
}

// Graph is what the search found for a pattern: Channels channels of so many GB/s each
// (per direction) inside a node and between nodes.
type Graph struct {
	Channels         int
	BWIntra, BWInter float64
	TypeIntra        string // the worst path: NVL, NVB, PIX, PXB, PXN, PHB, SYS
	TypeInter        string
	Order            [][]int // ranks of the first node by channel; of NVLS only the head
}

// Model is NCCL on a topology. It is safe for concurrent use.
type Model struct {
	m            *machine
	ring, tree   *channels
	nvls         *channels
	found        []*found // by system, before all agreed on the least
	nRanks       int
	nNodes       int // systems: hosts that share NVSwitches are one
	maxLocal     int
	nChannels    int // compute channels of rings and trees
	nvlsChannels int
	perPeer      int // channels of sends to one other rank
	nicBW        float64
	collNet      bool
	profile      *cost.Profile // for the protocols' parameters
	latency, bw  [5]costs      // by kinds' order
}

type costs [numAlgos][numProtos]float64

// New searches a topology for channels, as NCCL does when it starts; once for all who ask
// the same.
func New(t *topology.Topology, o Options) (*Model, error) {
	type made struct {
		model *Model
		err   error
	}
	x := topology.Once(t, o, func() made {
		m, err := search(t, o)
		return made{m, err}
	})
	return x.model, x.err
}

func search(t *topology.Topology, o Options) (*Model, error) {
	machine, err := detect(t, o)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t.Name(), err)
	}
	m := &Model{m: machine, nRanks: t.NumRanks(), nNodes: len(machine.systems), maxLocal: machine.ranksPerSystem(),
		profile: &cost.Profile{}}
	if m.nRanks == 1 {
		return m, nil
	}
	if err := m.search(t, o); err != nil {
		return nil, fmt.Errorf("%s: %w", t.Name(), err)
	}
	if m.collNet = o.CollNet == On; m.collNet {
		if err := m.reducingNetwork(t); err != nil {
			return nil, fmt.Errorf("%s: %w", t.Name(), err)
		}
	}
	m.connect()
	m.tune()
	return m, nil
}

// Nodes is the number of nodes as NCCL counts them: hosts whose GPUs share NVSwitches
// are one.
func (m *Model) Nodes() int { return m.nNodes }

// Ring is what the search found for rings.
func (m *Model) Ring() Graph { return m.graph(m.ring) }

// Tree is what the search found for trees.
func (m *Model) Tree() Graph { return m.graph(m.tree) }

// NVLS is what the search found for NVLink SHARP; no channels where there is none.
func (m *Model) NVLS() Graph { return m.graph(m.nvls) }

func (m *Model) graph(c *channels) Graph {
	if c == nil || c.n == 0 {
		return Graph{}
	}
	g := Graph{Channels: c.n, BWIntra: c.bwIntra, BWInter: c.bwInter, TypeIntra: c.typeIntra.String(), TypeInter: c.typeInter.String()}
	for _, gpus := range c.intra[:min(c.n, len(c.intra))] {
		if c.pattern == nvlsPattern {
			gpus = gpus[:1]
		}
		order := make([]int, len(gpus))
		for i, g := range gpus {
			order[i] = m.m.systems[0][g]
		}
		g.Order = append(g.Order, order)
	}
	return g
}

// kindIndex is the place of a collective in the tables.
func kindIndex(k collective.Kind) (int, error) {
	for i, have := range kinds {
		if k == have {
			return i, nil
		}
	}
	return 0, unsupported("NCCL has no cost model for %s: it has one for all_reduce, all_gather, reduce_scatter, broadcast and reduce", k)
}
