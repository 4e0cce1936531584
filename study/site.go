package study

import (
	"fmt"

	"railyard/model/topology"
	"railyard/topologies"
)

// Site is a topology with what is changed of it, before it is loaded.
type Site struct {
	Name        string // of a shipped topology, or of what Source knows
	Nodes, GPUs int    // 0: as the file says
	Set         []string
	Faster      []Faster
	NoInNetwork bool // switches only forward
	Faults      []topology.Fault
	Traffic     []topology.Background // of others
	// AnyMachine: NoInNetwork and Faster need not have an effect, as where one change is asked of
	// several machines.
	AnyMachine bool
	Source     topology.Source // nil: the shipped topologies and files
}

// Faster gives the links of a class a factor of their rate.
type Faster struct {
	Class  string
	Factor float64
}

// NoEffect is the error of a change that a machine does not know.
type NoEffect struct{ What, Topology string }

func (e NoEffect) Error() string {
	return fmt.Sprintf("%s has no effect on %s: leave it out", e.What, e.Topology)
}

// Load reads the topology and changes it: rates and switches first, then what has failed, then what
// others use.
func (s Site) Load() (*topology.Topology, error) {
	source := s.Source
	if source == nil {
		source = topologies.Source
	}
	t, err := topology.Load(source, s.Name, topology.Options{Nodes: s.Nodes, GPUs: s.GPUs, Set: s.Set})
	if err != nil {
		return nil, err
	}
	for _, f := range s.Faster {
		faster, err := t.Faster(f.Class, f.Factor)
		switch {
		case err == nil:
			t = faster
		case !s.AnyMachine:
			return nil, err
		}
	}
	if s.NoInNetwork {
		if multicast, reduces := t.InNetwork(nil); !multicast && !reduces && !s.AnyMachine {
			return nil, NoEffect{"leaving out what switches do", s.Name + ", whose switches only forward"}
		}
		t = t.WithoutInNetwork()
	}
	if t, err = t.Degrade(s.Faults); err != nil || len(s.Traffic) == 0 {
		return t, err
	}
	if t, err = t.WithBackground(s.Traffic); err != nil {
		return nil, fmt.Errorf("background traffic: %w", err)
	}
	return t, nil
}

// Whole is the site without faults and the traffic of others.
func (s Site) Whole() Site {
	s.Faults, s.Traffic = nil, nil
	return s
}

// Part loads so many nodes and GPUs of each of the whole site; 0: as the file says.
func (s Site) Part(nodes, gpus int) (*topology.Topology, error) {
	s = s.Whole()
	s.Nodes, s.GPUs, s.AnyMachine = nodes, gpus, true
	return s.Load()
}

// Shipped is the name of the shipped topology that the site is, unchanged but for the number of its
// nodes and GPUs and for what its switches do; "" where it is none.
func (s Site) Shipped() string {
	if len(s.Set)+len(s.Faster)+len(s.Faults)+len(s.Traffic) > 0 {
		return ""
	}
	return s.Name
}
