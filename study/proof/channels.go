package proof

import (
	"railyard/model/topology"
	"railyard/model/units"
)

// Carried is what NCCL's channels move over the links of one node, all together and each as much: orders are the ranks that each
// visits one after the other, closed says that the last one sends to the first, both that data go back the same way, as in trees. It
// fails where no route leads from a rank to the next.
func Carried(t *topology.Topology, orders [][]int, closed, both bool) (units.Rate, error) {
	x := channelLoads{t: t, router: topology.NewRouter(t), load: map[topology.LinkID]float64{}}
	for _, order := range orders {
		next := order[1:]
		if closed {
			next = append(next[:len(next):len(next)], order[0])
		}
		for i, to := range next {
			if err := x.add(order[i], to); err != nil {
				return 0, err
			}
			if both {
				if err := x.add(to, order[i]); err != nil {
					return 0, err
				}
			}
		}
	}
	return x.rate(len(orders)), nil
}

// channelLoads are how many channels cross each link, parts of them as such.
type channelLoads struct {
	t      *topology.Topology
	router *topology.Router
	load   map[topology.LinkID]float64
}

func (x *channelLoads) add(from, to int) error {
	r, err := x.router.Route(from, to)
	for _, h := range r.Hops {
		x.load[h.Link] += float64(h.Num) / float64(h.Den)
	}
	return err
}

// rate is what so many channels move when the fullest link is; 0 where no link is crossed.
func (x *channelLoads) rate(channels int) units.Rate {
	least := 0.0
	for link, load := range x.load {
		if each := float64(x.t.Rate(link)) / load; least == 0 || each < least {
			least = each
		}
	}
	return units.Rate(least * float64(channels))
}
