package planner

import (
	"railyard/model/schedule"
	"railyard/model/topology"
)

// maxSendRanks bounds the ranks of send_recv over rails, whose programs are spelled out.
const maxSendRanks = 1 << 14

// sendOverRails is the send_recv between nodes over all of their rails: what goes from one
// node's last rank to the next one's first is dealt out to the GPUs of the first node, crosses
// on their rails, and is collected. What stays inside a node goes straight, while others cross.
func (r *request) sendOverRails() (*schedule.Schedule, error) {
	local, err := r.fastNodes()
	if err != nil {
		return nil, err
	}
	var messages []pathMessage
	for src := range int32(r.spec.Ranks) {
		dst := (src + 1) % int32(r.spec.Ranks)
		if src/local == dst/local {
			messages = append(messages, pathMessage{src, dst, 0, local, []int32{src, src, dst}})
			continue
		}
		for u := range local {
			messages = append(messages, pathMessage{src, dst, u, 1, overRail(src, dst, u, local)})
		}
	}
	return r.alongPaths(messages, int(local)), nil
}

// overRail is the path of a unit between nodes: a rank that stands there twice has nothing to
// do, so that all units cross at the same hop.
func overRail(src, dst, rail, local int32) []int32 {
	out, in := src-src%local+rail, dst-dst%local+rail
	if in == dst {
		return []int32{src, out, dst}
	}
	return []int32{src, out, in, dst}
}

// fastNodes is how many ranks each node has, where these reach one another over scale-up
// links and other nodes over adapters, all of which can work at once.
func (r *request) fastNodes() (int32, error) {
	_, local, err := r.byNode()
	if err != nil {
		return 0, err
	}
	if n := r.spec.Ranks; n > maxSendRanks {
		return 0, notApplicable("it is for up to %d ranks on several nodes", maxSendRanks)
	}
	for a := range local {
		if route, err := r.router.Route(int(a), int((a+1)%local)); a+1 < local && (err != nil || route.Kind > topology.Switched) {
			return 0, notApplicable("ranks of a node are not joined by scale-up links")
		}
		if route, err := r.router.Route(int(a), int(a+local)); err != nil || len(route.NICs) == 0 {
			return 0, notApplicable("nodes are not joined by network adapters")
		}
	}
	return local, nil
}
