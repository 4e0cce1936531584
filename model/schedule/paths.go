package schedule

import (
	"cmp"
	"fmt"

	"railyard/model/topology"
)

// Path says over which scale-up switches, or through which adapters, what a rank sends to another goes, where these have several
// ways to one another: in parts, each over switches, or a pair of adapters, of its own. Pairs of ranks without a path take the
// routes of the topology, which spread over all switches that they have in common, and their own adapters. Programs are the same
// whatever the paths.
type Path struct {
	From    int32    `json:"from"`
	To      int32    `json:"to"`
	Stripes []Stripe `json:"stripes"`
}

// Stripe is a part of what takes a path.
type Stripe struct {
	Weight int64 `json:"weight"` // relative to the path's other stripes
	// names of the switches that it is spread over, then of those behind them, or of the adapter that it leaves by, then of the one where
	// it comes in; none: direct links
	Over [][]string `json:"over,omitempty"`
}

// InputWithout is the input of schedules that says which parts of the machine they were planned without, and go around.
const InputWithout = "without"

// OutOfUse warns of ways that hardware and libraries do not take of themselves; "" where there are none.
func (s *Schedule) OutOfUse() string {
	lost := s.Inputs[InputWithout]
	if lost == "" || len(s.Paths) == 0 {
		return ""
	}
	return fmt.Sprintf("the plan goes around %s: take that out of use, or plan for the machine without it (--fail)", lost)
}

// maxStripes and maxWeight bound paths.
const (
	maxStripes = 1024
	maxWeight  = 1 << 20
)

// validatePaths checks that paths are of pairs of ranks, each once and in order.
func (s *Schedule) validatePaths() error {
	for i, p := range s.Paths {
		n := int32(s.Spec.Ranks)
		switch {
		case p.From < 0 || p.To < 0 || p.From >= n || p.To >= n || p.From == p.To:
			return fmt.Errorf("path from %d to %d: must be two of the %d ranks", p.From, p.To, n)
		case i > 0 && s.Paths[i-1].compare(p) >= 0:
			return fmt.Errorf("path from %d to %d: paths must be in the order of their ranks, each once", p.From, p.To)
		case len(p.Stripes) < 1 || len(p.Stripes) > maxStripes:
			return fmt.Errorf("path from %d to %d: %d stripes: must be from 1 to %d", p.From, p.To, len(p.Stripes), maxStripes)
		}
		for _, x := range p.Stripes {
			if x.Weight < 1 || x.Weight > maxWeight {
				return fmt.Errorf("path from %d to %d: weight %d: must be from 1 to %d", p.From, p.To, x.Weight, maxWeight)
			}
		}
	}
	return nil
}

func (p Path) compare(o Path) int {
	return cmp.Or(cmp.Compare(p.From, o.From), cmp.Compare(p.To, o.To))
}

// Routes finds the ways of a schedule's messages: its own paths, else the routes of the topology.
type Routes struct {
	router *topology.Router
	paths  map[[2]int32][]topology.Stripe
}

// NewRoutes looks up the devices that a schedule's paths name. The error says which the topology has not.
func (s *Schedule) NewRoutes(router *topology.Router, t *topology.Topology) (*Routes, error) {
	r := &Routes{router: router}
	if len(s.Paths) == 0 {
		return r, nil
	}
	r.paths = map[[2]int32][]topology.Stripe{}
	for _, p := range s.Paths {
		var stripes []topology.Stripe
		for _, x := range p.Stripes {
			y := topology.Stripe{Weight: x.Weight, Over: make([][]topology.DeviceID, len(x.Over))}
			for i, names := range x.Over {
				for _, name := range names {
					d, ok := t.Lookup(name)
					if !ok {
						return nil, fmt.Errorf("schedule: the path from rank %d to %d takes %q, which %s has not: plan again",
							p.From, p.To, name, t.Name())
					}
					y.Over[i] = append(y.Over[i], d)
				}
			}
			stripes = append(stripes, y)
		}
		r.paths[[2]int32{p.From, p.To}] = stripes
	}
	return r, nil
}

// Striped is the way of what a rank sends to another, where the schedule names one.
func (r *Routes) Striped(from, to int) (route topology.Route, named bool, err error) {
	stripes, named := r.paths[[2]int32{int32(from), int32(to)}]
	if !named {
		return route, false, nil
	}
	route, err = r.router.Striped(from, to, stripes)
	return route, true, err
}

// checkPaths proves that the topology has the ways that paths name.
func (s *Schedule) checkPaths(t *topology.Topology) error {
	routes, err := s.NewRoutes(topology.NewRouter(t), t)
	if err != nil {
		return err
	}
	for _, p := range s.Paths {
		if _, _, err := routes.Striped(int(p.From), int(p.To)); err != nil {
			return fmt.Errorf("schedule: %w", err)
		}
	}
	return nil
}

// NewPath is the path of stripes of a topology.
func NewPath(t *topology.Topology, from, to int32, stripes []topology.Stripe) Path {
	p := Path{From: from, To: to}
	for _, s := range stripes {
		x := Stripe{Weight: s.Weight}
		for _, level := range s.Over {
			var names []string
			for _, d := range level {
				names = append(names, t.DeviceName(d))
			}
			x.Over = append(x.Over, names)
		}
		p.Stripes = append(p.Stripes, x)
	}
	return p
}
