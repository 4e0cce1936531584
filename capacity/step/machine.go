package step

import (
	"fmt"

	"railyard/model/gpu"
	"railyard/model/topology"
)

// Smaller is the same machine with so many nodes and GPUs of each, from which the communication
// library's choices in a group are taken.
type Smaller func(nodes, gpus int) (*topology.Topology, error)

// Machine is a cluster with what computes in it.
type Machine struct {
	Topology *topology.Topology
	GPU      *gpu.GPU
	Part     Smaller

	router  *topology.Router
	sample  sample
	domains []int // rank → ranks that reach one another without a network
}

// NewMachine prepares a cluster.
func NewMachine(t *topology.Topology, g *gpu.GPU, part Smaller) (*Machine, error) {
	m := &Machine{Topology: t, GPU: g, Part: part, router: topology.NewRouter(t)}
	m.findSample()
	return m, m.findDomains()
}

// findDomains numbers scale-up domains: nodes whose GPUs talk over NVLink are one.
func (m *Machine) findDomains() error {
	m.domains = make([]int, m.Topology.NumRanks())
	first, domain := 0, 0 // of the domain
	for r := range m.domains {
		if r > 0 && m.Topology.NodeOf(r) != m.Topology.NodeOf(r-1) {
			route, err := m.router.Route(first, r)
			if err != nil {
				return err
			}
			if route.Kind == topology.Net {
				first, domain = r, domain+1
			}
		}
		m.domains[r] = domain
	}
	return nil
}

// split is how a group lies on the machine: so many ranks on each of so many nodes.
type split struct{ nodes, gpus int }

// spans reports whether groups cross the network.
func (m *Machine) spans(f *Family) (spans bool) {
	f.Groups(func(ranks []int) {
		for _, r := range ranks {
			spans = spans || m.domains[r] != m.domains[ranks[0]]
		}
	})
	return spans
}

// splitOf finds the split of the group that is spread most; a chain's is that of two of its
// members.
func (m *Machine) splitOf(f *Family, p pattern, spans bool) split {
	if p == chain {
		if spans {
			return split{2, 1}
		}
		return split{1, 2}
	}
	worst := split{0, 0}
	f.Groups(func(ranks []int) {
		count := map[int]int{}
		most := 0
		for _, r := range ranks {
			n := m.Topology.NodeOf(r)
			count[n]++
			most = max(most, count[n])
		}
		if len(count) > worst.nodes {
			worst = split{len(count), most}
		}
	})
	// Of groups that do not fill nodes evenly the library's view is that of an even one.
	for f.Size%worst.gpus != 0 || f.Size/worst.gpus < worst.nodes {
		worst.gpus--
	}
	worst.nodes = f.Size / worst.gpus
	return worst
}

// part is the machine that a split needs.
func (m *Machine) part(s split) (*topology.Topology, error) {
	if s.nodes*s.gpus == m.Topology.NumRanks() && s.nodes == m.Topology.NumNodes() {
		return m.Topology, nil
	}
	t, err := m.Part(s.nodes, s.gpus)
	if err != nil {
		return nil, fmt.Errorf("a group of %d GPUs on each of %d nodes: %w", s.gpus, s.nodes, err)
	}
	return t, nil
}
