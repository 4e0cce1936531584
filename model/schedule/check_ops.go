package schedule

// advance runs rank r until it waits; woken are the ranks that wait for what it sent.
func (k *checker) advance(r int) (woken []int, err error) {
	for k.pc[r] < len(k.progs[r]) {
		i := k.pc[r]
		op := &k.progs[r][i]
		if err := k.checkPlaces(op); err != nil {
			return nil, err
		}
		phase := int32(k.phaseOf(r, i))
		switch op.Kind {
		case Send:
			if err := k.send(r, i, op, key{int32(r), op.Peer, phase}); err != nil {
				return nil, err
			}
			woken = append(woken, k.original(op.Peer))
		case Multicast:
			to, err := k.multicast(r, i, op, phase)
			if err != nil {
				return nil, err
			}
			woken = append(woken, to...)
		case SwitchReduce:
			if done, err := k.switchReduce(r, i, op, phase); err != nil || !done {
				return woken, err
			}
		case Recv, RecvReduce:
			c, by := k.incoming(r, op.Peer, phase)
			m, sent, err := k.next(k.queues[c], r, op.Peer, phase, by)
			if err != nil || !sent {
				return woken, err
			}
			if err := k.receive(r, i, op, m, c); err != nil {
				return nil, err
			}
		default:
			if err := k.local(r, i, op); err != nil {
				return nil, err
			}
		}
		k.pc[r]++
	}
	return woken, nil
}

func (k *checker) send(r, i int, op *Op, c key) error {
	if int(c.dst) == r {
		return k.fail(r, i, "a rank cannot send to itself")
	}
	vals, err := k.read(r, i, op.Src)
	if err != nil {
		return err
	}
	m := message{values: vals, op: int32(i), src: op.Src}
	if k.clocks != nil {
		m.clock = append([]int32(nil), k.clocks[r]...)
		m.clock[r] = int32(i)
		op.Src.Set.Each(func(chunk int32) {
			p := place2{k.physical(op.Src.Buf), chunk}
			k.mem[r].reads[p] = append(k.mem[r].reads[p], sendRead{key: c, seq: int32(i), peer: c.dst})
		})
	}
	if k.entered != nil {
		m.entered = k.entered[r]
	}
	k.queue(c).add(m)
	return nil
}

func (k *checker) receive(r, i int, op *Op, m message, c key) error {
	if len(m.values) != op.Dst.Set.Len() {
		return k.fail(r, i, "takes %d chunks but rank %d sent %d", op.Dst.Set.Len(), op.Peer, len(m.values))
	}
	if err := k.arrives(m, op); err != nil {
		return err
	}
	if err := k.sameStore(r, i, op, m); err != nil {
		return err
	}
	k.noteReceipt(r, i, m, c)
	vals := m.values
	if op.Kind == RecvReduce {
		own, err := k.read(r, i, op.Src)
		if err != nil {
			return err
		}
		if vals, err = k.combine(r, i, own, vals); err != nil {
			return err
		}
	}
	return k.write(r, i, op.Dst, vals)
}

// noteReceipt notes what a rank knows once it has received a message.
func (k *checker) noteReceipt(r, i int, m message, c key) {
	if k.entered != nil {
		k.entered[r], _ = union(k.entered[r], m.entered)
	}
	if k.clocks == nil {
		return
	}
	for d, known := range m.clock {
		k.clocks[r][d] = max(k.clocks[r][d], known)
	}
	k.ended(c, m.op, int32(i))
}

func (k *checker) local(r, i int, op *Op) error {
	if op.Kind == Copy {
		vals, err := k.read(r, i, op.Src)
		if err != nil {
			return err
		}
		return k.write(r, i, op.Dst, vals)
	}
	var sum []value
	for n, src := range op.Srcs {
		vals, err := k.read(r, i, src)
		if err != nil {
			return err
		}
		if n == 0 {
			sum = vals
		} else if sum, err = k.combine(r, i, sum, vals); err != nil {
			return err
		}
	}
	return k.write(r, i, op.Dst, sum)
}

// combine adds contributions up; the same one twice, or those of different chunks, is
// a mistake.
func (k *checker) combine(r, i int, a, b []value) ([]value, error) {
	if !k.s.Spec.Kind.Reduces() {
		return nil, k.fail(r, i, "combines data, but %v only moves it", k.s.Spec.Kind)
	}
	if len(a) != len(b) {
		return nil, k.fail(r, i, "combines %d chunks with %d", len(a), len(b))
	}
	out := make([]value, len(a))
	for j := range a {
		if a[j].chunk != b[j].chunk {
			return nil, k.fail(r, i, "combines chunk %d with chunk %d", a[j].chunk, b[j].chunk)
		}
		if j > 0 && a[j].from == a[j-1].from && b[j].from == b[j-1].from {
			out[j] = value{a[j].chunk, out[j-1].from}
			continue
		}
		from, common := union(k.from(a[j]), k.from(b[j]))
		if common >= 0 {
			return nil, k.fail(r, i, "counts rank %d's contribution to chunk %d twice", common, a[j].chunk)
		}
		out[j] = value{a[j].chunk, k.set(from)}
	}
	return out, nil
}
