package schedule

import "railyard/model/topology"

// multicast is a send to each of the peers; woken are those.
func (k *checker) multicast(r, i int, op *Op, phase int32) (woken []int, err error) {
	stored := new(Loc)
	for _, p := range op.Peers {
		c := key{int32(r), p, phase}
		if err := k.send(r, i, op, c); err != nil {
			return nil, err
		}
		k.queues[c].last().stored = stored
		woken = append(woken, k.original(p))
	}
	return woken, nil
}

// sameStore holds receivers of a multicast to one place: switches store what they copy
// at one address, which is bound to memory of each receiver.
func (k *checker) sameStore(r, i int, op *Op, m message) error {
	if m.stored == nil || op.Dst == *m.stored {
		return nil
	}
	if *m.stored != (Loc{}) {
		return k.fail(r, i, "puts a multicast into %v, another receiver into %v: a multicast goes to one place on all", op.Dst, *m.stored)
	}
	*m.stored = op.Dst
	return nil
}

// switchReduce combines a message of each peer, all from one place (see sameStore), with
// the rank's own data; it is not done while any of them has not been sent.
func (k *checker) switchReduce(r, i int, op *Op, phase int32) (done bool, err error) {
	for _, p := range op.Peers {
		if c, _ := k.incoming(r, p, phase); k.queues[c].empty() {
			return false, nil
		}
	}
	sum, err := k.read(r, i, op.Src)
	if err != nil {
		return false, err
	}
	var first Loc
	for n, p := range op.Peers {
		c, by := k.incoming(r, p, phase)
		m, _, err := k.next(k.queues[c], r, p, phase, by)
		if err != nil {
			return false, err
		}
		if by != 0 { // what place they come from is compared here
			return false, errAsymmetric
		}
		if err := k.arrives(m, op); err != nil {
			return false, err
		}
		if n == 0 {
			first = m.src
		} else if m.src != first {
			return false, k.fail(r, i, "takes %v of rank %d and %v of rank %d: switches combine one place of all", first, op.Peers[0],
				m.src, p)
		}
		k.noteReceipt(r, i, m, c)
		if sum, err = k.combine(r, i, sum, m.values); err != nil {
			return false, err
		}
	}
	return true, k.write(r, i, op.Dst, sum)
}

// awaited is the rank that rank r waits for.
func (k *checker) awaited(r int) int32 {
	op := &k.progs[r][k.pc[r]]
	for _, p := range op.Peers {
		if c, _ := k.incoming(r, p, int32(k.phaseOf(r, k.pc[r]))); k.queues[c].empty() {
			return p
		}
	}
	return op.Peer
}

// checkTeams proves that switches can do what in-network operations need of them.
func (k *checker) checkTeams(t *topology.Topology, router *topology.Router) error {
	if len(k.s.Needs) == 0 {
		return nil
	}
	ranks := k.routed(t)
	for p := range k.s.Channels[k.channel].Phases {
		for _, t := range k.x.Teams(k.channel, p, ranks) {
			if err := router.TeamWorks(t); err != nil {
				e := k.fail(int(t.Rank), -1, "%v", err)
				e.Phase, e.Op, e.What = p, 0, teamOp(&t).String()
				return e
			}
		}
	}
	return nil
}
