package main

import (
	"fmt"
	"slices"
	"strings"

	"railyard/model/topology"
)

// sharedAdapters says whose adapters are shared after one was lost: a GPU whose own is gone
// goes through the nearest, and both have half of it, as if it had half its rate.
func sharedAdapters(t *topology.Topology) []string {
	lost := slices.ContainsFunc(t.Faults(), func(f topology.Fault) bool { return f.Part == topology.NICPart && f.Rate == 0 })
	if !lost || t.NumNodes() < 2 {
		return nil
	}
	router := topology.NewRouter(t)
	users, order := map[topology.DeviceID][]string{}, []topology.DeviceID{}
	for r, d := range t.Ranks() {
		route, err := router.Route(r, rankOfOtherNode(t, r))
		if err != nil {
			continue
		}
		for _, nic := range route.NICs {
			if t.Devices()[nic].Node != t.Devices()[d].Node {
				continue
			}
			if users[nic] == nil {
				order = append(order, nic)
			}
			users[nic] = append(users[nic], t.DeviceName(d))
		}
	}
	least := len(t.Ranks())
	for _, list := range users {
		least = min(least, len(list))
	}
	var out []string
	for _, nic := range order {
		if n := len(users[nic]); n > least {
			out = append(out, fmt.Sprintf("%s share %s now: each has 1/%d of it, as with adapters of that rate",
				strings.Join(users[nic], " and "), t.DeviceName(nic), n))
		}
	}
	return out
}

// rankOfOtherNode is the first rank of another node.
func rankOfOtherNode(t *topology.Topology, rank int) int {
	for r := range t.NumRanks() {
		if t.NodeOf(r) != t.NodeOf(rank) {
			return r
		}
	}
	return rank
}
