package sim

import "railyard/model/collective"

// bruck: ⌈log₂ n⌉ steps over any number of ranks. Bruck et al., "Efficient algorithms
// for all-to-all communications in multiport message-passing systems", 1997; the
// barrier is Hensgen, Finkel, Manber, 1988. Its all-gather has no closed form here: a
// range that wraps past the last rank is two messages, for some ranks only.
func (f *phaseForm) bruck() (float64, bool) {
	switch f.op {
	case collective.Barrier, collective.AllToAll:
	default:
		return 0, false
	}
	t := 0.0
	for d := 1; d < f.n; d *= 2 {
		if f.op == collective.Barrier {
			t += f.alpha
			continue
		}
		// Parts whose number has bit d set; those of an incomplete last run of d go
		// in a message of their own.
		runs, rest := f.n/(2*d), max(f.n%(2*d)-d, 0)
		if runs > 0 {
			t += f.message(float64(runs*d) * f.part)
		}
		if rest > 0 {
			t += f.message(float64(rest) * f.part)
		}
	}
	return t, true
}
