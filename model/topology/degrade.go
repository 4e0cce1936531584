package topology

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"railyard/model/symmetry"
	"railyard/model/units"
)

// Degrade is a copy of the machine that lacks what has failed, with lower rates where
// something is slow. Ranks on failed GPUs and nodes are gone and the others numbered
// densely, in order (OriginalRank says what they were); names of devices stay. Routes go
// around the rest. It fails where a part is unknown, and where a rank has no way to
// another any more.
func (t *Topology) Degrade(faults []Fault) (*Topology, error) {
	if len(faults) == 0 {
		return t, nil
	}
	x := newDegrader(t)
	var errs []error
	for _, f := range faults {
		if err := x.apply(f); err != nil {
			errs = append(errs, err)
		}
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	out := x.build()
	out.healthy, out.faults = t.Healthy(), slices.Concat(t.faults, faults)
	out.name = out.healthy.name + " " + describe(out.faults)
	if t.idle != nil {
		var err error
		if out.idle, err = t.idle.Degrade(faults); err != nil {
			return nil, err
		}
		out.name += backgroundSuffix
	}
	if len(out.ranks) == 0 {
		return nil, fmt.Errorf("%s: %w", out.name, ErrNoGPU)
	}
	if x.removed {
		if err := out.checkReachable(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// ErrNoGPU is the error of faults that leave nothing to compute on.
var ErrNoGPU = errors.New("no GPU is left")

// Healthy is the topology that t is a degraded or loaded copy of: whole and idle; t itself
// where nothing has failed and nobody else is there.
func (t *Topology) Healthy() *Topology { return cmp.Or(t.healthy, t) }

// Faults are what has failed or is slow.
func (t *Topology) Faults() []Fault { return slices.Clone(t.faults) }

// OriginalRank is the number that a rank has in the healthy topology.
func (t *Topology) OriginalRank(rank int) int {
	if t.original == nil {
		return rank
	}
	return int(t.original[rank])
}

// LostRanks are the ranks of the healthy topology that are gone.
func (t *Topology) LostRanks() []int {
	var out []int
	next := 0
	for rank := range t.Healthy().ranks {
		if next < len(t.ranks) && t.OriginalRank(next) == rank {
			next++
		} else {
			out = append(out, rank)
		}
	}
	return out
}

// degrader makes a copy with links that are lost or have other rates.
type degrader struct {
	t       *Topology
	lost    []bool                    // by device
	staged  []bool                    // by device: it has no PCIe peer-to-peer any more
	pieces  map[LinkID][]piece        // of links that have changed: what they now consist of
	classes symmetry.Numbering[Class] // t's, and those of links with other rates
	removed bool                      // something is gone, not only slow

	// The copy and the numbers in it.
	out     *Topology
	oldNode []int32    // by node of the copy: the node of t
	devices []DeviceID // of a device of t in the copy; −1: lost
	touched []bool     // by node of t: devices, links or the use of its NICs differ
}

func newDegrader(t *Topology) *degrader {
	x := &degrader{t: t, lost: make([]bool, len(t.devices)),
		staged: make([]bool, len(t.devices)), pieces: map[LinkID][]piece{}}
	for _, c := range t.classes {
		x.classes.Of(c)
	}
	return x
}

// piece are the parallel links of one class that a link of the healthy machine has left.
type piece struct{ class, count int32 }

func (x *degrader) now(l LinkID) []piece {
	if p, ok := x.pieces[l]; ok {
		return p
	}
	return []piece{{x.t.links[l].Class, x.t.links[l].Count}}
}

// change takes some parallel links (all where some is 0) of a bundle and makes them slow,
// or takes them away.
func (x *degrader) change(bundle []LinkID, some int, rate float64) {
	left := int32(some)
	if some == 0 {
		left = math.MaxInt32
	}
	for _, l := range bundle {
		if x.lost[x.t.links[l].From] || x.lost[x.t.links[l].To] {
			continue
		}
		var out []piece
		for _, p := range x.now(l) {
			n := min(left, p.count)
			left -= n
			if p.count > n {
				out = append(out, piece{p.class, p.count - n})
			}
			if n > 0 && rate > 0 {
				slow := units.Rate(math.Round(float64(x.classes.All[p.class].Rate) * rate))
				out = append(out, piece{x.rated(p.class, strconv.FormatFloat(rate, 'g', -1, 64), slow), n})
			}
		}
		x.pieces[l] = out
	}
}

// rated is the class of links of which a rate is left, a share of what the class has.
func (x *degrader) rated(class int32, share string, left units.Rate) int32 {
	c := x.classes.All[class]
	c.Name, c.Rate = c.Name+"@"+share, max(1, left)
	return int32(x.classes.Of(c))
}
