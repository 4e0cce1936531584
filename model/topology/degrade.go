package topology

import (
	"errors"
	"fmt"
	"math"
	"slices"

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
	x := &degrader{t: t, lost: make([]bool, len(t.devices)), pieces: map[LinkID][]piece{}, slowed: map[slowClass]int32{},
		classes: t.classes}
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
func (t *Topology) Healthy() *Topology {
	if t.healthy == nil {
		return t
	}
	return t.healthy
}

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

// degrader makes a degraded copy.
type degrader struct {
	t       *Topology
	lost    []bool             // by device
	pieces  map[LinkID][]piece // of links that have changed: what they now consist of
	classes []Class            // t's, and those of slow links
	slowed  map[slowClass]int32
	removed bool // something is gone, not only slow

	// The copy and the numbers in it.
	out     *Topology
	number  []DeviceID // of a device in the copy; −1: lost
	touched []bool     // by node of t: devices, links or the use of its NICs differ
	variant map[string]int32
	shapes  map[int32]int32
}

// piece are the parallel links of one class that a link of the healthy machine has left.
type piece struct{ class, count int32 }

type slowClass struct {
	class int32
	rate  float64
}

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
				out = append(out, piece{x.slower(p.class, rate), n})
			}
		}
		x.pieces[l] = out
	}
}

// slower is the class of links that have a share of a class's rate left.
func (x *degrader) slower(class int32, rate float64) int32 {
	key := slowClass{class, rate}
	c, ok := x.slowed[key]
	if !ok {
		slow := x.classes[class]
		slow.Name = fmt.Sprintf("%s@%g", slow.Name, rate)
		slow.Rate = max(1, units.Rate(math.Round(float64(slow.Rate)*rate)))
		if c = int32(slices.Index(x.classes, slow)); c < 0 {
			c = int32(len(x.classes))
			x.classes = append(x.classes[:c:c], slow)
		}
		x.slowed[key] = c
	}
	return c
}
