package step

// slot is a task of a pipeline stage: the forward or backward pass of a micro-batch
// through one of its chunks.
type slot struct {
	micro, chunk int
	backward     bool
}

// order is the sequence of a stage's tasks: 1F1B (Narayanan et al., section 2.2.1), or
// its interleaved form with several chunks a stage (section 2.2.2), as Megatron-LM runs
// it: warm-up forward passes, then one forward and one backward pass in turn, then the
// backward passes that are left.
func order(l *Layout, stage int) []slot {
	m, v, p := l.MicroBatches(), l.Virtual, l.Pipeline
	total := m * v
	warm := p - stage - 1
	if v > 1 {
		warm = 2*(p-stage-1) + (v-1)*p
	}
	warm = min(warm, total)
	out := make([]slot, 0, 2*total)
	for i := range warm {
		out = append(out, virtualSlot(l, i, false))
	}
	for i := warm; i < total; i++ {
		out = append(out, virtualSlot(l, i, false), virtualSlot(l, i-warm, true))
	}
	for i := total - warm; i < total; i++ {
		out = append(out, virtualSlot(l, i, true))
	}
	return out
}

// virtualSlot is the i-th pass of a stage: groups of P micro-batches go through all
// chunks in turn, backward passes through the last chunk first.
func virtualSlot(l *Layout, i int, backward bool) slot {
	p, v := l.Pipeline, l.Virtual
	if v == 1 {
		return slot{i, 0, backward}
	}
	group, in := i/(p*v), i%(p*v)
	chunk := in / p
	if backward {
		chunk = v - 1 - chunk
	}
	return slot{group*p + in%p, chunk, backward}
}
