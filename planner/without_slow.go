package planner

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"strings"

	"railyard/model/collective"
	"railyard/model/schedule"
	"railyard/model/topology"
)

// besidesSlow adds what would be planned on the machine without its slow parts, of which those that carry the least are
// taken away first: whatever a solver makes of a part that carries little, it then is no worse than having lost it. Where routes
// take another way then, over PCIe or through other adapters, the schedule says so.
func besidesSlow(t *topology.Topology, spec collective.Spec, only string, o Options, out []*schedule.Schedule) []*schedule.Schedule {
	for _, w := range withoutSlow(t) {
		more, err := candidatesOn(w.left, spec, only, o)
		if err != nil {
			continue // what is left is no machine for it, which says nothing of the whole
		}
		for _, s := range more {
			s = w.around(t, s)
			if !slices.ContainsFunc(out, func(o *schedule.Schedule) bool { return sameBut(o, s) }) {
				out = append(out, s)
			}
		}
	}
	return out
}

// AroundSlow are a schedule as it would go on the machine without its slow parts, where it goes other ways then.
func AroundSlow(t *topology.Topology, s *schedule.Schedule) (out []*schedule.Schedule) {
	for _, w := range withoutSlow(t) {
		if len(w.paths) > 0 {
			out = append(out, w.around(t, s))
		}
	}
	return out
}

// around is a schedule that goes the ways that are left.
func (w *without) around(t *topology.Topology, s *schedule.Schedule) *schedule.Schedule {
	own := *s
	own.TopologyName, own.TopologyHash = t.Name(), t.Hash()
	own.Inputs = map[string]string{}
	maps.Copy(own.Inputs, s.Inputs) // plans of others have none
	own.Inputs[schedule.InputWithout] = w.lost
	named := func(p schedule.Path) bool {
		return slices.ContainsFunc(w.paths, func(o schedule.Path) bool { return o.From == p.From && o.To == p.To })
	}
	own.Paths = slices.Concat(slices.DeleteFunc(slices.Clone(s.Paths), named), w.paths)
	slices.SortFunc(own.Paths, func(a, b schedule.Path) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To)) })
	return &own
}

// sameBut reports whether schedules differ at most in what parts they were planned without.
func sameBut(a, b *schedule.Schedule) bool {
	c := *b
	c.Inputs = a.Inputs
	return a.Algorithm == b.Algorithm && reflect.DeepEqual(a, &c)
}

// sameWithout reports whether schedules were planned without the same parts.
func sameWithout(a, b *schedule.Schedule) bool {
	return a.Inputs[schedule.InputWithout] == b.Inputs[schedule.InputWithout]
}

// without is a machine without slow parts.
type without struct {
	left  *topology.Topology
	lost  string          // what was taken away
	paths []schedule.Path // of what goes another way there
}

// withoutSlow are the machine without its slowest parts, without those that are the next slower as well, and so on, as long as
// all ranks are left.
func withoutSlow(t *topology.Topology) (out []without) {
	type key struct{}
	return topology.Once(t, key{}, func() []without {
		slow := slices.DeleteFunc(t.Faults(), func(f topology.Fault) bool { return !f.Slow() })
		slices.SortStableFunc(slow, func(a, b topology.Fault) int { return cmp.Compare(a.Rate, b.Rate) })
		for i := range slow {
			failed := slices.Clone(slow[:i+1])
			for j := range failed {
				failed[j].Rate = 0
			}
			if i+1 < len(slow) && slow[i+1].Rate == slow[i].Rate {
				continue
			}
			w, err := t.Degrade(failed)
			if err != nil || w.NumRanks() < t.NumRanks() {
				break
			}
			out = append(out, without{w, described(failed), newDetours(t, w).paths()})
		}
		return out
	})
}

func described(faults []topology.Fault) string {
	var names []string
	for _, f := range faults {
		names = append(names, f.String())
	}
	return strings.Join(names, " ")
}

// detours are the ways that routes take where something is lost, and would not take else: over PCIe, through adapters of other GPUs.
type detours struct {
	t, left       *topology.Topology
	before, after *topology.Router
}

func newDetours(t, left *topology.Topology) *detours {
	return &detours{t, left, topology.NewRouter(t), topology.NewRouter(left)}
}

// paths are those of all pairs of ranks: of nodes' own, and of ranks that get into the network otherwise. None is written out of
// so many ranks that one node has to stand for others, which only those without do.
func (d *detours) paths() (out []schedule.Path) {
	n := d.t.NumRanks()
	if n > maxPackedRanks {
		return nil
	}
	otherwise := make([]bool, n)
	for u := range n {
		if v := d.t.RankOfNextBox(u); v >= 0 {
			_, otherwise[u] = d.path(u, v)
		}
	}
	for u := range n {
		for v := range n {
			if d.t.BoxOf(u) != d.t.BoxOf(v) && !otherwise[u] && !otherwise[v] {
				continue
			}
			if p, changed := d.path(u, v); changed {
				out = append(out, p)
			}
		}
	}
	return out
}

// path is the way from a rank to another, false where that is what it was, or there is none.
func (d *detours) path(u, v int) (p schedule.Path, changed bool) {
	if u == v {
		return p, false
	}
	before, err := d.before.Route(u, v)
	if err != nil {
		return p, false
	}
	after, err := d.after.Route(u, v)
	if err != nil || before.Kind == after.Kind && slices.Equal(names(d.t, before.NICs), names(d.left, after.NICs)) {
		return p, false
	}
	p = schedule.Path{From: int32(u), To: int32(v)}
	if len(after.NICs) == 0 {
		p.Stripes = []schedule.Stripe{{Weight: 1, Over: d.over(&after)}}
	}
	for pair := range slices.Chunk(names(d.left, after.NICs), 2) { // each with an equal share
		p.Stripes = append(p.Stripes, schedule.Stripe{Weight: 1, Over: [][]string{pair[:1], pair[1:]}})
	}
	return p, after.Kind != topology.Net || len(after.NICs) > 0
}

// over are the devices that a route leads over, by distance.
func (d *detours) over(route *topology.Route) (out [][]string) {
	at := map[topology.DeviceID]int{}
	for _, h := range route.Hops[:len(route.Hops)-1] {
		l := d.left.Links()[h.Link]
		if _, known := at[l.To]; known || d.left.RankOf(l.To) >= 0 {
			continue
		}
		level := 0
		if before, ok := at[l.From]; ok {
			level = before + 1
		}
		if at[l.To] = level; level == len(out) {
			out = append(out, nil)
		}
		out[level] = append(out[level], d.left.DeviceName(l.To))
	}
	return out
}

func names(t *topology.Topology, devices []topology.DeviceID) (out []string) {
	for _, d := range devices {
		out = append(out, t.DeviceName(d))
	}
	return out
}
