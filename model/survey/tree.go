package survey

import (
	"errors"
	"fmt"
	"slices"

	"railyard/model/units"
)

// Switch is a switch of a tree as schedulers know it: it has nodes, or switches below it.
type Switch struct {
	Name     string
	Nodes    []string
	Switches []string
}

// AssumedRate is the rate of a port where nobody says it, and AssumedRateSource says so.
const (
	AssumedRate       = units.Rate(50e9)
	AssumedRateSource = "assumption: 400 Gb/s a port, which the source does not say"
)

// TreeNetwork is the network of a tree of switches. Trees say neither rates nor how many switches stand for one of theirs: each is
// taken for one that does not block. adapters are those of a node; all are taken to be on its leaf.
func TreeNetwork(n *Network, switches []Switch, adapters int) (*Network, error) {
	t := &tree{byName: map[string]*Switch{}}
	if err := t.link(switches); err != nil {
		return nil, err
	}
	for _, root := range t.roots {
		if err := t.walk(root, nil); err != nil {
			return nil, err
		}
	}
	if t.walked < len(switches) {
		return nil, errors.New("some switches are below one another: they form a ring")
	}
	if len(t.leaves) == 0 {
		return nil, errors.New("no switch with nodes below it")
	}
	n.Adapters, n.Rails, n.Rate, n.RateSource = adapters, 1, AssumedRate, AssumedRateSource
	n.Notes = append(n.Notes, "the rate of a port is not said: 400 Gb/s is assumed",
		"how many switches and links stand for one of the tree is not said: as many as block nothing are assumed, and all adapters of a "+
			"node on "+
			"one leaf")
	if len(t.roots) > 1 {
		n.Notes = append(n.Notes, fmt.Sprintf("the tree has %d roots: a switch above them is assumed", len(t.roots)))
	}
	t.even(n)
	t.levels(n)
	return n, nil
}

// even makes all leaves stand equally deep, and at most as deep as a topology file has levels. Nothing blocks in these trees, so that
// what carries as much as a leaf's links, or joins what others join, changes no rate.
func (t *tree) even(n *Network) {
	deepest, padded := 0, 0
	for _, p := range t.paths {
		deepest = max(deepest, len(p))
	}
	for i, p := range t.paths {
		if len(p) < deepest {
			padded++
		}
		for len(p) < deepest { // a switch of its own above the leaf
			p = append(p, p[len(p)-1])
		}
		t.paths[i] = p
	}
	if padded > 0 {
		n.Notes = append(n.Notes, fmt.Sprintf("of %d leaves %d stand less deep than others: a switch of its own is assumed above each, "+
			"for each level that is missing", len(t.paths), padded))
	}
	top := min(len(t.roots)-1, 1) // levels above all roots
	if left := deepest + top - len(levelKinds); left > 0 {
		n.Notes = append(n.Notes, fmt.Sprintf("the tree has %d levels of switches, a topology file up to %d: %d below the highest left out",
			deepest+top, len(levelKinds), left))
		for i, p := range t.paths {
			t.paths[i] = slices.Delete(p, 1-top, 1-top+left)
		}
		deepest -= left
	}
	t.depth = deepest
}

// tree is a tree while it is walked.
type tree struct {
	byName map[string]*Switch
	roots  []*Switch
	leaves [][]string
	paths  [][]*Switch
	depth  int // of all leaves, once they are even
	walked int // switches
	seen   map[string]bool
}

func (t *tree) link(switches []Switch) error {
	parents := map[string]string{}
	for i := range switches {
		s := &switches[i]
		if t.byName[s.Name] != nil {
			return fmt.Errorf("switch %s twice", s.Name)
		}
		t.byName[s.Name] = s
	}
	for _, s := range switches {
		for _, c := range s.Switches {
			switch {
			case t.byName[c] == nil:
				return fmt.Errorf("switch %s: there is no switch %s below it", s.Name, c)
			case parents[c] != "":
				return fmt.Errorf("switch %s is below %s and below %s: a tree's switch has one above it", c, parents[c], s.Name)
			}
			parents[c] = s.Name
		}
	}
	for i := range switches {
		if parents[switches[i].Name] == "" {
			t.roots = append(t.roots, &switches[i])
		}
	}
	if len(t.roots) == 0 {
		return errors.New("every switch is below another: they form a ring")
	}
	t.seen = map[string]bool{}
	return nil
}

// maxDepth bounds how deep a tree is.
const maxDepth = 64

// walk takes the leaves below a switch, in order. Each switch has one above it, so that it ends.
func (t *tree) walk(s *Switch, above []*Switch) error {
	if len(above) == maxDepth {
		return fmt.Errorf("switch %s stands below %d others: more is no network", s.Name, maxDepth)
	}
	path := append(slices.Clone(above), s)
	t.walked++
	if len(s.Switches) == 0 && len(s.Nodes) == 0 {
		return nil // a switch that nothing hangs on
	}
	if len(s.Switches) > 0 && len(s.Nodes) > 0 {
		return fmt.Errorf("switch %s has nodes and switches below it: a topology file has nodes at leaves only", s.Name)
	}
	for _, c := range s.Switches {
		if err := t.walk(t.byName[c], path); err != nil {
			return err
		}
	}
	if len(s.Nodes) == 0 {
		return nil
	}
	for _, n := range s.Nodes {
		if t.seen[n] {
			return fmt.Errorf("node %s is below two switches", n)
		}
		t.seen[n] = true
	}
	t.leaves, t.paths = append(t.leaves, s.Nodes), append(t.paths, path)
	return nil
}

// levels are those of a tree.
func (t *tree) levels(n *Network) {
	n.Leaves = t.leaves
	sizes := make([]int, len(t.leaves))
	for i, l := range t.leaves {
		sizes[i] = len(l)
	}
	links := slices.Max(sizes) * n.Adapters
	n.Levels = []Level{{Group: Groups(sizes)}}
	for up := t.depth - 2; up >= -1 && len(sizes) > 1; up-- {
		sizes = t.groupsAt(up)
		n.Levels[len(n.Levels)-1].Uplinks = links
		links *= slices.Max(sizes)
		n.Levels = append(n.Levels, Level{Group: Groups(sizes)})
	}
}

// groupsAt are how many groups of the level below each switch of a depth joins; −1: a switch above the roots.
func (t *tree) groupsAt(depth int) (sizes []int) {
	var last, below *Switch
	for i, p := range t.paths {
		var at *Switch
		if depth >= 0 {
			at = p[depth]
		}
		if i == 0 || at != last {
			sizes, last, below = append(sizes, 0), at, nil
		}
		if b := p[depth+1]; b != below {
			sizes[len(sizes)-1]++
			below = b
		}
	}
	return sizes
}
