package pack

import (
	"math"

	"railyard/model/topology"
)

// transfers settles between which ranks transfers go, over what, and how much of each
// the trees may use: the direct links; else, on a topology, what the routes between
// neighbours can carry at the same time, shared out evenly; else what edge splitting
// leaves.
func (s *search) transfers() error {
	switch {
	case s.g.t != nil:
		s.routes = topologyRoutes(s.g)
		if s.g.Direct() {
			s.pool = s.g
		}
		return nil
	default:
		sp := splitOff(s.g, s.bound.Rate)
		s.routes = splitRoutes(s.g, sp)
		var err error
		s.pool, err = sp.pool()
		return err
	}
}

// fill makes the pool of a topology with switches.
func (s *search) fill() error {
	if s.pool != nil {
		return nil
	}
	type transfer struct {
		u, v   int32
		pieces []piece
	}
	var list []transfer
	router := topology.NewRouter(s.g.t)
	for u := range s.g.Ranks {
		near := map[int]int{} // by node: the fewest hops over the network
		for _, keep := range []bool{false, true} {
			for v := range s.g.Ranks {
				if v == u {
					continue
				}
				route, err := router.Route(u, v)
				if err != nil {
					return err
				}
				pieces, err := s.routes.of(int32(u), int32(v))
				if err != nil {
					continue // over PCIe that does not count
				}
				if node, n := s.g.t.NodeOf(v), len(route.Hops); route.Kind == topology.Net {
					if have, ok := near[node]; !keep && (!ok || n < have) {
						near[node] = n
					}
					if near[node] != n {
						continue
					}
				}
				if keep {
					list = append(list, transfer{int32(u), int32(v), pieces})
				}
			}
		}
	}
	// All grow at the same pace; those on a full link stop.
	used := make([]float64, s.routes.count)
	rising := make([]float64, s.routes.count)
	rate := make([]float64, len(list))
	stopped := make([]bool, len(list))
	for _, t := range list {
		for _, p := range t.pieces {
			rising[p.resource] += float64(p.num) / float64(p.den)
		}
	}
	level := 0.0
	for left := len(list); left > 0; {
		step := math.Inf(1)
		for i, r := range rising {
			if r > 1e-9 {
				step = min(step, (float64(s.routes.capacity(int32(i)))-used[i])/r)
			}
		}
		level += step
		for i, r := range rising {
			used[i] += step * r
		}
		for i, t := range list {
			if stopped[i] {
				continue
			}
			for _, p := range t.pieces {
				if c := float64(s.routes.capacity(p.resource)); used[p.resource] > c*(1-1e-9) {
					stopped[i] = true
				}
			}
			if stopped[i] {
				left--
				rate[i] = level
				for _, p := range t.pieces {
					rising[p.resource] -= float64(p.num) / float64(p.den)
				}
			}
		}
	}
	most := 0.0
	for _, r := range rate {
		most = max(most, r)
	}
	edges := make([]Edge, len(list))
	for i, t := range list {
		edges[i] = Edge{t.u, t.v, int64(math.Round(rate[i] / most * steps))}
	}
	var err error
	s.pool, err = New(s.g.Ranks, s.g.Ranks, edges)
	return err
}

// steps is how finely the pool of a topology with switches is shared out.
const steps = 27720
