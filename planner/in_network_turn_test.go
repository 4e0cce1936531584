package planner

import (
	"testing"

	"railyard/model/collective"
	"railyard/model/topology"
	"railyard/topologies"
)

// Where a turn of the nodes turns groups into one another, switches work for a rank as they do for that of the first node.
func TestTurnedTeamsWorkAlike(t *testing.T) {
	const leaves, spines = "models.leaf-switch.", "models.spine-switch."
	for _, c := range []struct {
		name  string
		nodes int
		set   []string
		works bool
	}{
		{"nvlink-network-256", 0, nil, true},
		{"dgx-h100", 4, nil, false}, // switches of the network only forward
		{"dgx-h100", 4, []string{leaves + "reduction=true", leaves + "multicast=true", spines + "reduction=true", spines + "multicast=true"}, true},
	} {
		topo, err := topology.Load(topologies.Source, c.name, topology.Options{Nodes: c.nodes, Set: c.set})
		if err != nil {
			t.Fatal(err)
		}
		n, nodes := topo.NumRanks(), topo.NumNodes()
		r := newRequest(topo, collective.Spec{Kind: collective.AllReduce, Ranks: n}, Options{})
		dims := []int32{int32(nodes), int32(n / nodes)}
		if half := []int32{2, int32(nodes / 2), dims[1]}; r.turnGroups(groupsAlong(half, 1)[0]) {
			t.Errorf("%s: a turn of all nodes by one splits groups of half of them", c.name)
		}
		for axis, works := range []bool{c.works, true} {
			groups := groupsAlong(dims, axis)
			if !r.turnGroups(groups[0]) {
				t.Fatalf("%s, axis %d: nodes are equal, but do not turn", c.name, axis)
			}
			for _, group := range groups {
				for i, rank := range group {
					if err := teamWorks(r.router, group, i, true, true); (err == nil) != works {
						t.Fatalf("%s, axis %d, rank %d: %v", c.name, axis, rank, err)
					}
				}
			}
			if err := r.teamsWork(groups, true, true); (err == nil) != works {
				t.Errorf("%s, axis %d: %v", c.name, axis, err)
			}
		}
	}
}
