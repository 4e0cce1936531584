package sim

import (
	"fmt"
	"slices"

	"railyard/model/units"
)

// delayed is the plan for ranks that start late. Ranks that all start at once fold as
// without delays; else everything is folded anew, with what is alike apart where it
// starts at different times. A plan that is to stay flat does.
func (p *Plan) delayed(delays []units.Time, stayFlat bool) (*Plan, error) {
	if delays == nil {
		return p, nil
	}
	if len(delays) != p.topo.NumRanks() {
		return nil, fmt.Errorf("sim: %d delays for %d ranks", len(delays), p.topo.NumRanks())
	}
	for r, d := range delays {
		if d < 0 || int64(d) >= forever {
			return nil, fmt.Errorf("sim: rank %d starts %v late: must be from 0 to 26 days", r, d)
		}
	}
	if stayFlat || p.options.Flat || slices.Min(delays) == slices.Max(delays) {
		return p, nil
	}
	flat, err := p.flat()
	if err != nil {
		return nil, err
	}
	if q := fold(flat, delays); q != nil {
		return q, nil
	}
	return flat, nil
}
