package sim

import "railyard/model/collective"

// direct: every rank sends to all that need its data at once: one α, and n−1 messages
// through one port where ranks have one. Chan et al., "Collective communication: theory,
// practice, and experience", 2007 (the one-step algorithms of §6).
func (f *phaseForm) direct() (float64, bool) {
	others := float64(f.n - 1)
	together := 1.0
	if f.port {
		together = others
	}
	switch f.op {
	case collective.AllGather, collective.AllToAll, collective.Gather, collective.Scatter:
		return f.message(together * f.part), true
	case collective.Broadcast:
		return f.message(together * f.whole), true
	case collective.ReduceScatter:
		return f.message(together*f.part) + others*f.part*f.gamma, true
	case collective.Reduce, collective.AllReduce:
		return f.message(together*f.whole) + others*f.whole*f.gamma, true
	case collective.Barrier:
		return f.alpha, true
	}
	return 0, false
}
