package pack

import "testing"

// Large machines that have lost a part get trees of three levels that come near the bound,
// all-reduces with roots that have unequal shares.
func TestTreesOfLargeUnlikeMachines(t *testing.T) {
	for _, lost := range []string{"nic:node1/nic3", "gpu:node1/gpu3", "link:node1/gpu3--node1/nvswitch2"} {
		for _, nodes := range []int{8, 12} {
			topo := degraded(t, load(t, "dgx-h100", nodes), lost)
			g := fromTopology(t, topo)
			for _, use := range []Use{AllGather, AllReduce} {
				if use == AllGather && g.Ranks <= mostExact {
					continue
				}
				p, err := ForTopology(topo, use, 0)
				if err != nil {
					t.Fatal(err)
				}
				if err := p.Verify(g, 0); err != nil {
					t.Errorf("%d nodes without %s, use %d: %v", nodes, lost, use, err)
				}
				if p.Share < 0.97 || p.Share > 1 || p.Height > 3 {
					t.Errorf("%d nodes without %s, use %d: share %.4f, height %d by %s", nodes, lost, use, p.Share, p.Height, p.Method)
				}
				if again, _ := ForTopology(topo, use, 0); again != p {
					t.Error("packed twice")
				}
			}
		}
	}
}
