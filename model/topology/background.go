package topology

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"railyard/model/units"
)

// Background is traffic of others on a link, which takes its share first. Several of the
// same link add up.
type Background struct {
	Link string // as LinkName prints, or A--B: that much in each direction
	// Class is the class of those links between the two devices that carry it; "": all.
	Class string
	// Lane is the one of the parallel links that carries it, from 1; 0: all. As transfers
	// are spread over parallel links, only how many carry it counts, not which.
	Lane int
	// Utilisation is a share of the rate, Rate bytes per second of all parallel links (of
	// the lane, where one is given) together; one of them is 0.
	Utilisation, Rate float64
}

// WithBackground is a copy of the machine whose links have the rate that background
// traffic leaves them: rate × (1 − utilisation), to the byte per second. Without any
// traffic it is the machine itself. It fails where a link is unknown, and where nothing
// would be left of one.
func (t *Topology) WithBackground(traffic []Background) (*Topology, error) {
	taken, errs := t.takenBy(traffic)
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	if len(taken) == 0 {
		return t, nil
	}
	x := newDegrader(t)
	for l := range LinkID(len(t.links)) { // in this order, so that classes are always numbered alike
		busy, some := taken[l]
		if !some {
			continue
		}
		link := t.links[l]
		rate := float64(t.classes[link.Class].Rate)
		left := math.Round(rate - busy/float64(link.Count))
		share := strconv.FormatFloat(max(1, left)/rate, 'g', 4, 64)
		x.pieces[l] = []piece{{x.rated(link.Class, share, units.Rate(left)), link.Count}}
	}
	out := x.build()
	out.healthy, out.faults, out.idle = t.Healthy(), t.faults, t.Idle()
	out.name = out.idle.name + backgroundSuffix
	return out, nil
}

const backgroundSuffix = " with background load"

// Idle is the machine without background traffic, t itself where there is none.
func (t *Topology) Idle() *Topology { return cmp.Or(t.idle, t) }

// full is from which utilisation on nothing is left of a link that anybody could plan with.
const full = 1 - 1e-9

// takenBy adds up what traffic takes of each link, in bytes per second.
func (t *Topology) takenBy(traffic []Background) (map[LinkID]float64, []error) {
	taken := map[LinkID]float64{}
	var errs []error
	for _, b := range traffic {
		bundles, err := t.loaded(b)
		if err != nil {
			errs = append(errs, err)
		}
		for _, links := range bundles {
			if err := t.take(taken, links, b); err != nil {
				errs = append(errs, err)
			}
		}
	}
	return taken, errs
}

// loaded are the links that carry background traffic, by direction.
func (t *Topology) loaded(b Background) ([][]LinkID, error) {
	if !(b.Utilisation >= 0 && b.Utilisation < full) {
		return nil, fmt.Errorf("link %s: utilisation %v: must be from 0 to below 1, so that something is left", shorten(b.Link),
			b.Utilisation)
	}
	if !(b.Rate >= 0) || math.IsInf(b.Rate, 0) || b.Rate > 0 && b.Utilisation > 0 {
		return nil, fmt.Errorf("link %s: %v bytes per second: give a rate that is not negative, or a utilisation", shorten(b.Link), b.Rate)
	}
	bundles, from, err := t.bundles(b.Link)
	if err != nil {
		return nil, err
	}
	all := slices.Concat(bundles...)
	if len(all) == 0 {
		return nil, t.noLink(b.Link, from)
	}
	for i := range bundles {
		bundles[i] = slices.DeleteFunc(bundles[i], func(l LinkID) bool { return b.Class != "" && t.Class(l).Name != b.Class })
	}
	bundles = slices.DeleteFunc(bundles, func(links []LinkID) bool { return len(links) == 0 })
	if len(bundles) == 0 {
		return nil, fmt.Errorf("link %s is %s on %s, not %s: was the load simulated on another machine, or with a load of its own?",
			b.Link, t.Class(all[len(all)-1]).Name, t.name, b.Class)
	}
	for _, links := range bundles {
		if n := t.parallel(links); b.Lane < 0 || b.Lane > n {
			return nil, fmt.Errorf("link %s: there is no lane %d, only %d parallel links", b.Link, b.Lane, n)
		}
	}
	return bundles, nil
}

// parallel counts the parallel links of a bundle.
func (t *Topology) parallel(bundle []LinkID) int {
	n := 0
	for _, l := range bundle {
		n += int(t.links[l].Count)
	}
	return n
}

// take adds traffic to a bundle, spread by rate.
func (t *Topology) take(taken map[LinkID]float64, bundle []LinkID, b Background) error {
	var whole, before float64
	for _, l := range bundle {
		whole += float64(t.Rate(l))
		before += taken[l]
	}
	used, lanes := b.Utilisation, float64(t.parallel(bundle))
	if b.Rate > 0 {
		used = b.Rate / whole
	}
	if b.Lane > 0 && b.Utilisation > 0 {
		used = b.Utilisation / lanes
	}
	if used == 0 {
		return nil
	}
	if share := used + before/whole; share >= full {
		return fmt.Errorf("link %s of %v: %.4g %% of it are taken: nothing is left", t.LinkName(bundle[0]), units.Rate(whole), 100*share)
	}
	for _, l := range bundle {
		taken[l] += used * float64(t.Rate(l))
	}
	return nil
}
