package load

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"railyard/model/topology"
)

// Link is what a link of a topology carries, with its parallel ones.
type Link struct {
	ID    topology.LinkID
	Name  string // as the topology calls it: gpu0->nvswitch0
	Class string
	Carry float64 // bytes a second
	Rate  float64 // line rate in bytes a second, as the topology has it
}

// Load is the share of the line rate that is taken.
func (l *Link) Load() float64 { return l.Carry / l.Rate }

// HotFrom is from which load on a link is hot where nobody says otherwise: one that leaves a job less than what it would get of a link
// that it shared evenly with one other.
const HotFrom = 0.5

// full is the most that is said of a link's load. Counters are read one after another, so that the load of a full link comes out a little
// above its rate; and a plan needs something left of it.
const full = 0.99

// Background is the load as traffic of others, also of links that carry nothing. Classes stand there where they tell links apart.
func Background(links []Link) []topology.Background {
	named := map[string]int{}
	for _, l := range links {
		named[l.Name]++
	}
	var out []topology.Background
	for _, l := range links {
		b := topology.Background{Link: l.Name, Utilisation: min(math.Round(1e6*l.Load())/1e6, full)}
		if named[l.Name] > 1 {
			b.Class = l.Class
		}
		out = append(out, b)
	}
	return out
}

// Change is a link whose load is another now.
type Change struct {
	Link     string
	Was, Now float64 // shares of its line rate
}

// Changes are links of a machine of which others take a share that differs by more than a given one, the most first: the machine is given
// with the traffic of before and that of now.
func Changes(before, now *topology.Topology, share float64) []Change {
	var order []string
	var rates [3]map[string]float64 // without traffic, before, now
	for i, t := range []*topology.Topology{before.Idle(), before, now} {
		rates[i] = map[string]float64{}
		for l := range topology.LinkID(len(t.Links())) {
			name := t.LinkName(l)
			if _, twice := rates[i][name]; i == 0 && !twice {
				order = append(order, name)
			}
			rates[i][name] += float64(t.Rate(l))
		}
	}
	var out []Change
	for _, name := range order {
		c := Change{name, 1 - rates[1][name]/rates[0][name], 1 - rates[2][name]/rates[0][name]}
		if math.Abs(c.Now-c.Was) > share {
			out = append(out, c)
		}
	}
	slices.SortStableFunc(out, func(a, b Change) int { return cmp.Compare(math.Abs(b.Now-b.Was), math.Abs(a.Now-a.Was)) })
	return out
}

// String says it in words.
func (c Change) String() string {
	return fmt.Sprintf("%s %.0f %% → %.0f %%", c.Link, 100*c.Was, 100*c.Now)
}

// On is the measurement with the links of a node of a topology that its ports stand for, and what those carry; ports of which it knows no
// links are noted. Both ends of a link may have counted the same bytes: the larger count holds.
func (m *Measurement) On(t *topology.Topology, node int) (on *Measurement, links []Link, err error) {
	n, err := newNode(t, node, m.After.State)
	if err != nil {
		return nil, nil, err
	}
	x := *m
	x.Ports = slices.Clone(m.Ports)
	for i := range x.Ports {
		n.port(&x.Ports[i])
	}
	x.Notes = slices.Concat(m.Notes, n.notes)
	for l := range topology.LinkID(len(t.Links())) {
		_, sent := n.sent[l]
		if _, received := n.received[l]; sent || received {
			carry := max(n.sent[l], n.received[l])
			links = append(links, Link{ID: l, Name: t.LinkName(l), Class: t.Class(l).Name, Carry: carry, Rate: float64(t.Rate(l))})
		}
	}
	return &x, links, nil
}
