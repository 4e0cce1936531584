package topology

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"railyard/internal/spelling"
)

// apply notes what a fault takes away or slows.
func (x *degrader) apply(f Fault) error {
	if int(f.Part) >= len(partNames) || !(f.Rate >= 0 && f.Rate < 1) || f.Some < 0 || f.Some > 0 && f.Part != LinkPart ||
		f.Part == PeerPart && f.Slow() {
		return fmt.Errorf("fault %+q: %s", shorten(f.Name), faultForms)
	}
	x.removed = x.removed || !f.Slow()
	if f.Part == LinkPart {
		return x.applyLink(f)
	}
	devices, err := x.devicesOf(f)
	if err != nil {
		return err
	}
	if !f.Slow() {
		gone := x.lost
		if f.Part == PeerPart {
			gone = x.staged
		}
		for _, d := range devices {
			gone[d] = true
		}
		return nil
	}
	first, last := devices[0], devices[len(devices)-1] // a node's are numbered in a row
	for _, d := range devices {
		x.change(x.t.Out(d), 0, f.Rate)
		for _, l := range x.t.In(d) { // those from another of the devices were changed on its side
			if from := x.t.links[l].From; from < first || from > last {
				x.change([]LinkID{l}, 0, f.Rate)
			}
		}
	}
	return nil
}

func (x *degrader) applyLink(f Fault) error {
	bundles, from, err := x.t.bundles(f.Name)
	if err != nil {
		return err
	}
	found := false
	for _, bundle := range bundles {
		if len(bundle) == 0 {
			continue
		}
		found = true
		left := 0
		for _, l := range bundle {
			for _, p := range x.now(l) {
				left += int(p.count)
			}
		}
		if f.Some > left {
			return fmt.Errorf("link %s: there are only %d parallel links, not %d", f.Name, left, f.Some)
		}
		x.change(bundle, f.Some, f.Rate)
	}
	if !found {
		return x.t.noLink(f.Name, from)
	}
	return nil
}

// maxNear is how many names a message suggests.
const maxNear = 4

// noLink is the error for a link between devices that are there, with what the first is linked to.
func (t *Topology) noLink(name string, d DeviceID) error {
	var names []string
	for _, to := range t.step(d, false) {
		if name := t.DeviceName(to); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if n := len(names); n > 2*maxNear {
		names = append(names[:2*maxNear], fmt.Sprintf("%d more", n-2*maxNear))
	}
	return fmt.Errorf("%s has no link %s: %s is linked to %s", t.name, name, t.DeviceName(d), cmp.Or(strings.Join(names, ", "), "nothing"))
}

// bundles are the links that a name means, by direction, and the device where it begins.
func (t *Topology) bundles(name string) (bundles [][]LinkID, from DeviceID, err error) {
	readings := linkEnds(name)
	if len(readings) == 0 {
		return nil, 0, fmt.Errorf("link %q: %s", shorten(name), faultForms)
	}
	for _, e := range readings {
		from, okFrom := t.Lookup(e.from)
		to, okTo := t.Lookup(e.to)
		if !okFrom || !okTo {
			continue
		}
		bundles = append(bundles, t.between(from, to))
		if e.both {
			bundles = append(bundles, t.between(to, from))
		}
		return bundles, from, nil
	}
	missing := readings[0].from
	if _, ok := t.Lookup(missing); ok {
		missing = readings[0].to
	}
	return nil, 0, t.unknown("link "+name, missing, t.deviceNames(func(Kind) bool { return true }))
}

// between are the links from a to b.
func (t *Topology) between(a, b DeviceID) []LinkID {
	var out []LinkID
	for l, to := range t.step(a, false) {
		if to == b {
			out = append(out, l)
		}
	}
	return out
}

// admits says which kinds of device a part may be.
func (p Part) admits(k Kind) bool {
	switch p {
	case NICPart:
		return k == NIC
	case GPUPart:
		return k.HoldsRank()
	case PeerPart:
		return k == GPU
	case SwitchPart:
		return k.fabricKind() || k == PCIeSwitch
	}
	return false
}

// devicesOf are the devices that a fault other than a link's hits.
func (x *degrader) devicesOf(f Fault) ([]DeviceID, error) {
	if f.Part == NodePart {
		for n := range x.t.nodes {
			if x.t.nodes[n].name != f.Name {
				continue
			}
			var out []DeviceID
			for first, end := x.t.span(n); first < end; first++ {
				out = append(out, first)
			}
			return out, nil
		}
		var names []string
		for _, n := range x.t.nodes {
			names = append(names, n.name)
		}
		return nil, x.t.unknown("node "+f.Name, f.Name, names)
	}
	d, ok := x.t.Lookup(f.Name)
	if !ok {
		return nil, x.t.unknown(f.Part.String()+" "+f.Name, f.Name, x.t.deviceNames(f.Part.admits))
	}
	kind := x.t.devices[d].Kind
	if f.Part.admits(kind) {
		return []DeviceID{d}, nil
	}
	for _, p := range []Part{NICPart, GPUPart, SwitchPart} {
		if p.admits(kind) {
			return nil, fmt.Errorf("%v %s: it is a %v: write %v:%s", f.Part, f.Name, kind, p, f.Name)
		}
	}
	return nil, fmt.Errorf("%v %s: it is a %v, which cannot fail alone: name its links, or the node", f.Part, f.Name, kind)
}

func (t *Topology) deviceNames(want func(Kind) bool) []string {
	var out []string
	for i, d := range t.devices {
		if want(d.Kind) {
			out = append(out, t.DeviceName(DeviceID(i)))
		}
	}
	return out
}

// unknown is the error for a name that the topology does not have, with those like it.
func (t *Topology) unknown(part, name string, names []string) error {
	near := nearest(name, names)
	if len(near) == 0 {
		return fmt.Errorf("%s: %s has no %q", part, t.name, name)
	}
	return fmt.Errorf("%s: %s has no %q: did you mean %s?", part, t.name, name, strings.Join(near, ", "))
}

// nearest are the names that need fewest changes to become name.
func nearest(name string, names []string) []string {
	var out []string
	best := max(len(name), 4)
	for _, n := range names {
		d := spelling.Distance(name, n)
		if d < best {
			best, out = d, out[:0]
		}
		if d == best && len(out) < maxNear {
			out = append(out, n)
		}
	}
	return out
}
