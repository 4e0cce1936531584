package schedule

import (
	"railyard/model/collective"
	"railyard/model/topology"
)

// checkResult compares every output with what the collective promises.
func (k *checker) checkResult() error {
	spec := k.s.Spec
	if spec.Kind == collective.Barrier {
		return k.checkBarrier()
	}
	per := k.chunks / spec.Blocks()
	for _, rank := range k.ranks {
		r := int(rank)
		for c := range k.chunks {
			block := k.blockOf(c)
			if !spec.Wants(r, block) || spec.Empty(block, r) {
				continue
			}
			v := k.mem[r].bufs[Output].get(int32(c))
			if v.from == 0 {
				return k.fail(r, -1, "output chunk %d was never written", c)
			}
			if spec.Kind.Reduces() {
				if int(v.chunk) != c {
					return k.fail(r, -1, "output chunk %d holds input chunk %d", c, v.chunk)
				}
				if m := k.from(v).missing(int32(spec.Ranks)); m >= 0 {
					return k.fail(r, -1, "output chunk %d lacks the contribution of rank %d", c, m)
				}
				continue
			}
			srcRank, srcBlock := spec.Origin(r, block)
			if want := int32(srcBlock*per + c%per); v.chunk != want || !k.from(v).equal(single(int32(srcRank))) {
				return k.fail(r, -1, "output chunk %d holds chunk %d of rank %d instead of chunk %d of rank %d", c, v.chunk, k.from(v)[0],
					want, srcRank)
			}
		}
	}
	return nil
}

// checkBarrier proves that every rank hears, through a chain of messages, from every
// other after that one has entered: nobody leaves before all have arrived.
func (k *checker) checkBarrier() error {
	for _, r := range k.ranks {
		if q := k.entered[r].missing(int32(len(k.progs))); q >= 0 {
			return k.fail(int(r), -1, "may leave the barrier before rank %d has entered it", q)
		}
	}
	return nil
}

// checkHops proves that every message has a route in the topology, as have those of
// ranks that are equivalent where the topology is alike.
func (k *checker) checkHops(t *topology.Topology, router *topology.Router) error {
	if router.ReachesAll() {
		return nil
	}
	var ops []Op
	for _, r := range k.routed(t) {
		for p := range k.s.Channels[k.channel].Phases {
			ops, _ = k.x.AppendOnce(ops[:0], k.channel, p, int(r)) // what repeats goes the same ways
			for i := range ops {
				op := &ops[i]
				if op.Kind != Send {
					continue
				}
				if err := router.Reach(int(r), int(op.Peer)); err != nil {
					return &CheckError{Rank: int(r), Channel: k.channel, Phase: p, Op: i, What: op.String(), Why: err.Error()}
				}
			}
		}
	}
	return nil
}

// routed are the ranks whose messages' routes stand for all.
func (k *checker) routed(t *topology.Topology) []int32 {
	if m, ok := k.moves.(*moves); ok && m.carries(t) {
		return k.ranks
	}
	return unmoved(k.s).originals()
}
