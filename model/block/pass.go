package block

import "railyard/model/schedule"

// PassesOn reports whether ranks of a pushed schedule pass on what they receive while it
// arrives: two of its phases then run as one.
func PassesOn(s *schedule.Schedule) bool {
	const some = 1 << 10 // elements a block: how many makes no difference
	c := newCompiler(s, Options{Count: some * int64(s.Spec.Blocks()), Size: 4, Instances: 1, Mechanism: Push})
	for ch := range c.s.Channels {
		all := c.strands(ch)
		for k, st := range all {
			st.fuse(false)
			for r, steps := range st.steps {
				for i := range steps {
					if steps[i].op.Kind == schedule.Recv && !steps[i].fused && c.free(all[:k+1], r, i, steps[i]) && forwarded(steps[i:]) {
						return true
					}
				}
			}
		}
	}
	return false
}
