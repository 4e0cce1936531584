package pack

import (
	"fmt"
	"testing"
)

func TestZZ(t *testing.T) {
	topo := degraded(t, degraded(t, load(t, "dgx-h100", 4), "nic:node1/nic3"), "nic:node0/nic5")
	topo = topo.WithoutInNetwork()
	g := fromTopology(t, topo)
	for _, use := range []Use{AllGather, AllReduce} {
		bound, _ := boundFor(g, use, 0)
		s := newSearch(g, Options{}, bound)
		s.transfers(bound.Rate)
		w := s.ways(use == AllReduce)
		x := newShares(w, g, use == AllReduce)
		least := 1 / bound.Rate.Float()
		if use == AllGather {
			least /= float64(g.Ranks)
		}
		x.settle(least)
		x.carry()
		p := x.inParts()
		fmt.Println(use, p.total)
		for i := range x.cross {
			fmt.Printf("%d->%d:", i/4, i%4)
			for k, c := range x.cross[i].choices {
				fmt.Printf(" %d>%d %.3f %d;", c.from%8, c.to%8, x.cross[i].share[k], p.cross[i][k])
			}
			fmt.Println()
		}
		for r := range x.spread {
			fmt.Printf("%d: in %.3f", r, x.in[r])
			for k := range x.spread[r].choices {
				fmt.Printf(" %.3f/%d", x.spread[r].share[k], p.spread[r][k])
			}
			fmt.Println()
		}
		fmt.Printf("%.3f\n", x.roots.share)
	}
}
