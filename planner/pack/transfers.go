package pack

import (
	"fmt"
	"math/big"
	"slices"
)

// transfers settles over what transfers between ranks go: the routes of the topology, or the direct
// links of a graph of ranks alone. On direct links trees may use all that these carry.
func (s *search) transfers() error {
	switch {
	case s.g.t != nil:
		s.routes = topologyRoutes(s.g)
	case s.g.Direct():
		s.routes = directRoutes(s.g)
	default:
		return fmt.Errorf("pack: a graph with switches needs its topology, which has the routes")
	}
	return nil
}

// evenly is a graph of ranks alone: what transfers can carry at the same time, shared out evenly, in a unit of so many bytes/s.
func (s *search) evenly() (g *Graph, unit float64, err error) {
	if s.g.Direct() {
		return s.g, 1, nil
	}
	list, err := s.useful()
	if err != nil {
		return nil, 0, err
	}
	loads := make([][]piece, len(list))
	for i, t := range list {
		loads[i] = t.pieces
	}
	edges := make([]Edge, len(list))
	rates, unit := s.routes.share(loads)
	for i, c := range rates {
		edges[i] = Edge{list[i].u, list[i].v, c}
	}
	g, err = New(s.g.Ranks, s.g.Ranks, edges)
	return g, unit, err
}

// transfer is what one rank can send to another, and what that loads.
type transfer struct {
	u, v   int32
	pieces []piece
}

// hops are how many links a byte crosses: in the mean, where parts of it take different ways.
func (t *transfer) hops() (sum float64) {
	for _, p := range t.pieces {
		sum += float64(p.num) / float64(p.den)
	}
	return sum
}

// useful are the transfers that trees may take, by pair of ranks.
func (s *search) useful() ([]transfer, error) {
	list := slices.Concat(s.near(), s.far())
	for i := range list {
		pieces, err := s.routes.of(list[i].u, list[i].v)
		if err != nil {
			return nil, err
		}
		list[i].pieces = pieces
	}
	slices.SortFunc(list, func(a, b transfer) int { return inOrder([2]int32{a.u, a.v}, [2]int32{b.u, b.v}) })
	return list, nil
}

// near are the useful transfers over scale-up links, whose routes are not looked up: over large switches these are long.
func (s *search) near() (list []transfer) {
	if s.g.t == nil {
		for _, e := range s.g.Edges {
			list = append(list, transfer{u: e.From, v: e.To})
		}
		return list
	}
	links := ScaleUp(s.g.t)
	start := links.starts()
	for u := range s.g.Ranks {
		for v, ways := range links.waysFrom(u, start) {
			if v != u && ways > 0 {
				list = append(list, transfer{u: int32(u), v: int32(v)})
			}
		}
	}
	return list
}

// anyFar are the transfers that routes alone decide on.
func (s *search) anyFar() (list []transfer) {
	if s.g.t == nil {
		return nil
	}
	joined := map[[2]int32]bool{}
	for _, t := range s.near() {
		joined[[2]int32{t.u, t.v}] = true
	}
	for u := range int32(s.g.Ranks) {
		for v := range int32(s.g.Ranks) {
			if v == u || joined[[2]int32{u, v}] {
				continue
			}
			if pieces, err := s.routes.of(u, v); err == nil { // else only through other ranks, or over PCIe that does not count
				list = append(list, transfer{u, v, pieces})
			}
		}
	}
	return list
}

// far are the useful ones of these: over the network, of all from a rank to the ranks of another node, and of all from those to it, the
// shortest.
func (s *search) far() []transfer {
	if !s.distant.known {
		s.distant.known, s.distant.list = true, s.shortestFar()
	}
	return s.distant.list
}

func (s *search) shortestFar() []transfer {
	if s.g.t == nil {
		return nil
	}
	type way struct {
		rank, node int
		out        bool
	}
	shortest := map[way]float64{}
	ways := func(t *transfer) []way {
		return []way{{int(t.u), s.g.t.NodeOf(int(t.v)), true}, {int(t.v), s.g.t.NodeOf(int(t.u)), false}}
	}
	for _, t := range s.near() {
		for _, w := range ways(&t) {
			shortest[w] = 1
		}
	}
	list := s.anyFar()
	for i := range list {
		for _, w := range ways(&list[i]) {
			if have, ok := shortest[w]; !ok || list[i].hops() < have {
				shortest[w] = list[i].hops()
			}
		}
	}
	return slices.DeleteFunc(list, func(t transfer) bool {
		outside := s.routes.net[[2]int32{t.u, t.v}] && s.g.t.NodeOf(int(t.u)) != s.g.t.NodeOf(int(t.v))
		return outside && !slices.ContainsFunc(ways(&t), func(w way) bool { return t.hops() <= shortest[w]*(1+1e-9) })
	})
}

// share divides the resources' capacities among transfers that load them: all rates grow
// at the same pace, those on a full resource stop. The rates come in a common unit.
func (r *routes) share(transfers [][]piece) (rates []int64, unit float64) {
	used, rising := make([]*big.Rat, r.count), make([]*big.Rat, r.count)
	var loaded []int32
	for _, t := range transfers {
		for _, p := range t {
			if rising[p.resource] == nil {
				used[p.resource], rising[p.resource] = new(big.Rat), new(big.Rat)
				loaded = append(loaded, p.resource)
			}
			rising[p.resource].Add(rising[p.resource], big.NewRat(p.num, p.den))
		}
	}
	level := new(big.Rat)
	rate := make([]*big.Rat, len(transfers))
	full := make([]bool, r.count)
	for {
		var step *big.Rat
		for _, i := range loaded {
			if rising[i].Sign() == 0 {
				continue
			}
			x := new(big.Rat).SetInt64(r.capacity(i))
			if x.Quo(x.Sub(x, used[i]), rising[i]); step == nil || x.Cmp(step) < 0 {
				step = x
			}
		}
		if step == nil {
			break
		}
		level.Add(level, step)
		for _, i := range loaded {
			if rising[i].Sign() > 0 {
				used[i].Add(used[i], new(big.Rat).Mul(step, rising[i]))
				full[i] = used[i].Cmp(new(big.Rat).SetInt64(r.capacity(i))) == 0
			}
		}
		for i, t := range transfers {
			if rate[i] != nil || !slices.ContainsFunc(t, func(p piece) bool { return full[p.resource] }) {
				continue
			}
			rate[i] = new(big.Rat).Set(level)
			for _, p := range t {
				rising[p.resource].Sub(rising[p.resource], big.NewRat(p.num, p.den))
			}
		}
	}
	return commonUnit(rate)
}

// commonUnit makes integers of rates, exactly where these are small enough, else within
// 1/27720 of the largest.
func commonUnit(rate []*big.Rat) (out []int64, unit float64) {
	out = make([]int64, len(rate))
	den, most := big.NewInt(1), new(big.Rat)
	var common big.Int
	for _, x := range rate {
		g := new(big.Int).GCD(nil, nil, den, x.Denom())
		den.Mul(den, new(big.Int).Quo(x.Denom(), g))
		common.GCD(nil, nil, &common, x.Num())
		if x.Cmp(most) > 0 {
			most = x
		}
	}
	scale := new(big.Rat).SetFrac(den, &common)
	if top := new(big.Rat).Mul(most, scale); top.Cmp(big.NewRat(1<<30, 1)) > 0 {
		scale.Quo(big.NewRat(27720, 1), most)
	}
	for i, x := range rate {
		y := new(big.Rat).Mul(x, scale)
		out[i] = new(big.Int).Quo(y.Num(), y.Denom()).Int64()
	}
	each, _ := scale.Float64()
	return out, 1 / each
}
