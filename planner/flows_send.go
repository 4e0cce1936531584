package planner

import (
	"railyard/model/schedule"
	"railyard/model/topology"
)

// sendOverRails is the send_recv between nodes over all of their rails: what goes from one
// node's last rank to the next one's first is dealt out to the GPUs of the first node, crosses
// on their rails, and is collected. What stays inside a node goes straight, while others cross.
func (r *request) sendOverRails() (*schedule.Schedule, error) {
	local, err := r.fastNodes()
	if err != nil {
		return nil, err
	}
	n := r.spec.Ranks
	f := &flow{g: make(rateGraph, n), units: local, demand: demands(r.spec), paths: make([][]int32, n*n*local)}
	for src := range n {
		dst := (src + 1) % n
		for u := range local {
			f.paths[(src*n+dst)*local+u] = r.overRail(int32(src), int32(dst), int32(u), int32(local))
		}
	}
	f.sort()
	return f.schedule(r), nil
}

// overRail is the path of a unit: a rank that stands there twice has nothing to do, so that
// all units cross at the same hop.
func (r *request) overRail(src, dst, rail, local int32) []int32 {
	if src/local == dst/local {
		return []int32{src, src, dst}
	}
	out, in := src-src%local+rail, dst-dst%local+rail
	if in == dst {
		return []int32{src, out, dst}
	}
	return []int32{src, out, in, dst}
}

// fastNodes is how many ranks each node has, where these reach one another over scale-up
// links and other nodes over adapters, all of which can work at once.
func (r *request) fastNodes() (int, error) {
	_, local, err := r.byNode()
	if err != nil {
		return 0, err
	}
	n := int32(r.spec.Ranks)
	if n > maxRailFlowRanks {
		return 0, notApplicable("it is for up to %d ranks on several nodes", maxRailFlowRanks)
	}
	for a := range local {
		if route, err := r.router.Route(int(a), int((a+1)%local)); a+1 < local && (err != nil || route.Kind > topology.Switched) {
			return 0, notApplicable("ranks of a node are not joined by scale-up links")
		}
		if route, err := r.router.Route(int(a), int(a+local)); err != nil || len(route.NICs) == 0 {
			return 0, notApplicable("nodes are not joined by network adapters")
		}
	}
	return int(local), nil
}
