package topology

import (
	"fmt"
	"slices"
	"strings"
)

// apply notes what a fault takes away or slows.
func (x *degrader) apply(f Fault) error {
	if int(f.Part) >= len(partNames) || !(f.Rate >= 0 && f.Rate < 1) || f.Some < 0 || f.Some > 0 && f.Part != LinkPart {
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
		for _, d := range devices {
			x.lost[d] = true
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
	a, b, both, err := x.endsOf(f.Name)
	if err != nil {
		return err
	}
	bundles := [][]LinkID{x.between(a, b)}
	if both {
		bundles = append(bundles, x.between(b, a))
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
		return fmt.Errorf("%s has no link %s: %s is linked to %s", x.t.name, f.Name, x.t.DeviceName(a), x.neighbours(a))
	}
	return nil
}

// between are the links from a to b.
func (x *degrader) between(a, b DeviceID) []LinkID {
	var out []LinkID
	for _, l := range x.t.Out(a) {
		if x.t.links[l].To == b {
			out = append(out, l)
		}
	}
	return out
}

// maxNear is how many names a message suggests.
const maxNear = 4

// neighbours lists what a device is linked to, for messages.
func (x *degrader) neighbours(d DeviceID) string {
	var names []string
	for _, l := range x.t.Out(d) {
		if name := x.t.DeviceName(x.t.links[l].To); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	switch {
	case len(names) == 0:
		return "nothing"
	case len(names) > 2*maxNear:
		names = append(names[:2*maxNear], fmt.Sprintf("%d more", len(names)-2*maxNear))
	}
	return strings.Join(names, ", ")
}

// endsOf finds the devices that a link's name means.
func (x *degrader) endsOf(name string) (a, b DeviceID, both bool, err error) {
	readings := linkEnds(name)
	if len(readings) == 0 {
		return 0, 0, false, fmt.Errorf("link %q: %s", shorten(name), faultForms)
	}
	for _, e := range readings {
		a, okA := x.t.Lookup(e.from)
		b, okB := x.t.Lookup(e.to)
		if okA && okB {
			return a, b, e.both, nil
		}
	}
	e := readings[0]
	missing := e.from
	if _, ok := x.t.Lookup(e.from); ok {
		missing = e.to
	}
	return 0, 0, false, x.unknown("link "+name, missing, x.deviceNames(func(Kind) bool { return true }))
}

// admits says which kinds of device a part may be.
func (p Part) admits(k Kind) bool {
	switch p {
	case NICPart:
		return k == NIC
	case GPUPart:
		return k.HoldsRank()
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
			for first, end := x.span(n); first < end; first++ {
				out = append(out, first)
			}
			return out, nil
		}
		var names []string
		for _, n := range x.t.nodes {
			names = append(names, n.name)
		}
		return nil, x.unknown("node "+f.Name, f.Name, names)
	}
	d, ok := x.t.Lookup(f.Name)
	if !ok {
		return nil, x.unknown(f.Part.String()+" "+f.Name, f.Name, x.deviceNames(f.Part.admits))
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

func (x *degrader) deviceNames(want func(Kind) bool) []string {
	var out []string
	for i, d := range x.t.devices {
		if want(d.Kind) {
			out = append(out, x.t.DeviceName(DeviceID(i)))
		}
	}
	return out
}

// unknown is the error for a name that the topology does not have, with those like it.
func (x *degrader) unknown(part, name string, names []string) error {
	near := nearest(name, names)
	if len(near) == 0 {
		return fmt.Errorf("%s: %s has no %q", part, x.t.name, name)
	}
	return fmt.Errorf("%s: %s has no %q: did you mean %s?", part, x.t.name, name, strings.Join(near, ", "))
}

// nearest are the names that need fewest changes to become name.
func nearest(name string, names []string) []string {
	var out []string
	best := max(len(name), 4)
	for _, n := range names {
		d := distance(name, n, best)
		if d < best {
			best, out = d, out[:0]
		}
		if d == best && len(out) < maxNear {
			out = append(out, n)
		}
	}
	return out
}

// distance is the edit distance of two names, at most one more than limit.
func distance(a, b string, limit int) int {
	if abs := max(len(a)-len(b), len(b)-len(a)); abs > limit {
		return limit + 1
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
