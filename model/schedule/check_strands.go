package schedule

import "slices"

// checkStrands proves that phases which do not wait for one another (see Phase.Apart) have nothing to do with one another: on no rank
// does one write what another reads or writes. Then their results are those of one after the other, and nobody waits for longer than so.
func (k *checker) checkStrands() error {
	phases := k.s.Channels[k.channel].Phases
	if !slices.ContainsFunc(phases, func(ph Phase) bool { return ph.Apart }) {
		return nil
	}
	strand := make([]int, len(phases)) // by phase, from 1
	for p := range phases {
		if strand[p] = 1; p > 0 {
			strand[p] = strand[p-1]
		}
		if phases[p].Apart {
			strand[p]++
		}
	}
	for _, r := range k.ranks {
		writer := map[place2]int{}
		conflict := func(i int, l Loc, writes bool) (err error) {
			mine := strand[k.phaseOf(int(r), i)]
			l.Set.Each(func(c int32) {
				at := place2{k.physical(l.Buf), c}
				switch other := writer[at]; {
				case other == 0 && writes:
					writer[at] = mine
				case other != 0 && other != mine && err == nil:
					err = k.fail(int(r), i, "uses chunk %d of %v, which phases write that it does not wait for", c, l.Buf)
				}
			})
			return err
		}
		for _, reads := range []bool{false, true} {
			for i := range k.progs[r] {
				op := &k.progs[r][i]
				for _, l := range op.places() {
					if writes := !op.Kind.Sends() && l == op.Dst; writes != reads {
						if err := conflict(i, l, writes); err != nil {
							return err
						}
					}
				}
			}
		}
	}
	return nil
}
