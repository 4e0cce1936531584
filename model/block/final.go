package block

import "railyard/model/schedule"

// markFinal finds the operations whose results hold every rank's contribution, by
// counting contributions through one slice of the channel.
func (c *compiler) markFinal(all []*strand) error {
	k := &contributions{ranks: c.s.Spec.Ranks, count: map[place]int{}, sent: map[*message][]int{}}
	return inOrder(all, func(st *strand, r, i int) { k.follow(r, &st.steps[r][i]) })
}

// contributions are how many ranks' data each place holds the sum of.
type contributions struct {
	ranks int
	count map[place]int
	sent  map[*message][]int
}

type place struct {
	rank int
	buf  schedule.Buffer
	at   int32
}

// in counts the contributions in a rank's places; an input is one.
func (k *contributions) in(rank int, l schedule.Loc) (out []int) {
	l.Set.Each(func(chunk int32) {
		n := k.count[place{rank, l.Buf, chunk}]
		if l.Buf == schedule.Input {
			n = 1
		}
		out = append(out, n)
	})
	return out
}

// follow counts what an operation writes, and whether that is final.
func (k *contributions) follow(rank int, s *step) {
	var values []int
	switch s.op.Kind {
	case schedule.Send:
		k.sent[s.msg] = k.in(rank, s.op.Src)
	case schedule.Copy:
		values = k.in(rank, s.op.Src)
	case schedule.Recv, schedule.RecvReduce:
		values = append(values, k.sent[s.msg]...)
	}
	sources := s.op.Srcs
	if s.op.Kind == schedule.RecvReduce {
		sources = []schedule.Loc{s.op.Src}
	}
	for _, l := range sources {
		for i, n := range k.in(rank, l) {
			if i == len(values) {
				values = append(values, 0)
			}
			values[i] += n
		}
	}
	s.final = len(sources) > 0
	if writes(s.op) {
		i := 0
		s.op.Dst.Set.Each(func(chunk int32) {
			k.count[place{rank, s.op.Dst.Buf, chunk}] = values[i]
			s.final = s.final && values[i] == k.ranks
			i++
		})
	}
}
