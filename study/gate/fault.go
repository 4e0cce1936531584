package gate

import (
	"errors"
	"fmt"

	"railyard/model/topology"
)

// Fault is a state of the machine that a gate should tell from a healthy one.
type Fault struct {
	Kind     string
	What     string // in words
	fault    topology.Fault
	topology *topology.Topology // with it; nil: the machine, whose links of the network are
	crowded  float64            // so many times as full
}

// Kinds of sick machines.
const (
	LinkLost  = "link"
	NICLost   = "nic"
	HalfRate  = "half rate"
	Misplaced = "placement"
)

// singleFaults are the faults of one part each: of the first that is there, as parts that are equivalent do the same. A part
// without which ranks do not reach one another is none: nothing runs then.
func singleFaults(t *topology.Topology) ([]Fault, error) {
	var out []Fault
	add := func(kind string, f topology.Fault) error {
		degraded, err := t.Degrade([]topology.Fault{f})
		var cut topology.Unreachable
		switch {
		case errors.As(err, &cut):
			return nil
		case err != nil:
			return err
		}
		out = append(out, Fault{Kind: kind, What: f.String(), fault: f, topology: degraded})
		return nil
	}
	link, err := firstLink(t)
	if err != nil {
		return nil, err
	}
	if err := add(LinkLost, link); err != nil {
		return nil, err
	}
	part := link
	if nic, ok := firstNIC(t); ok && t.NumNodes() > 1 {
		part = topology.Fault{Part: topology.NICPart, Name: nic}
		if err := add(NICLost, part); err != nil {
			return nil, err
		}
	}
	part.Some, part.Rate = 0, 0.5
	return out, add(HalfRate, part)
}

// firstLink is one of the parallel links that the first rank sends over to the second.
func firstLink(t *topology.Topology) (topology.Fault, error) {
	if t.NumRanks() < 2 {
		return topology.Fault{}, fmt.Errorf("%s has one rank: a gate needs a machine that communicates", t.Name())
	}
	route, err := topology.NewRouter(t).Route(0, 1)
	if err != nil {
		return topology.Fault{}, err
	}
	l := t.Links()[route.Hops[0].Link]
	f := topology.Fault{Part: topology.LinkPart, Name: t.DeviceName(l.From) + "--" + t.DeviceName(l.To)}
	if l.Count > 1 {
		f.Some = 1
	}
	return f, nil
}

func firstNIC(t *topology.Topology) (string, bool) {
	for d, device := range t.Devices() {
		if device.Kind == topology.NIC {
			return t.DeviceName(topology.DeviceID(d)), true
		}
	}
	return "", false
}
