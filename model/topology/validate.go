package topology

import (
	"fmt"

	"railyard/model/symmetry"
)

// validate checks the built graph: ports, rates, ways back, reachability.
func (b *builder) validate() {
	b.checkPorts()
	b.checkRates()
	b.checkReturnRoutes()
	b.checkConnected()
}

// origin is where a device was described, as well as the file tells.
func (b *builder) origin(d DeviceID) pos {
	dev := b.t.devices[d]
	if dev.Node < 0 {
		return b.t.fabricOf(d).spec.levelOf(dev.Kind)
	}
	return b.t.described(d).at
}

// levelOf is where the fabric's level of a kind is described.
func (f *fabricSpec) levelOf(k Kind) pos {
	for _, l := range f.Levels {
		if l.Kind == k {
			return l.Pos
		}
	}
	return f.Pos
}

// checkPorts counts links against ports; of alike devices the first one is named.
func (b *builder) checkPorts() {
	t := b.t
	reported := map[[2]int32]bool{}
	for i := range t.devices {
		d := t.devices[i]
		if d.Model < 0 || t.models[d.Model].Ports == 0 {
			continue
		}
		used := max(t.portsOf(t.Out(DeviceID(i))), t.portsOf(t.In(DeviceID(i))))
		key := [2]int32{d.Local, d.Model}
		if d.Node < 0 {
			key[0] = -1 // one message for all switches of a model
		}
		if m := t.models[d.Model]; used > m.Ports && !reported[key] {
			reported[key] = true
			b.AddAt(b.origin(DeviceID(i)), "%s has %d links but a %s has only %d ports", t.DeviceName(DeviceID(i)), used, m.Name, m.Ports)
		}
	}
}

// portsOf is how many scale-up and network links there are among links.
func (t *Topology) portsOf(links []LinkID) int {
	n := 0
	for _, l := range links {
		if m := t.Class(l).Medium; m.scaleUp() || m == Network {
			n += int(t.links[l].Count)
		}
	}
	return n
}

// checkRates keeps the sum of the rates at any device inside 62 bits, so that shares
// and rates can be added without care.
func (b *builder) checkRates() {
	const most = float64(1 << 62)
	for i := range b.t.devices {
		rates := func(links []LinkID) (sum float64) {
			for _, l := range links {
				sum += float64(b.t.Class(l).Rate) * float64(b.t.links[l].Count)
			}
			return sum
		}
		if max(rates(b.t.Out(DeviceID(i))), rates(b.t.In(DeviceID(i)))) >= most {
			b.AddAt(b.origin(DeviceID(i)), "%s: the rates of its links add up to more than can be computed with: check counts and rates",
				b.t.DeviceName(DeviceID(i)))
			return
		}
	}
}

// checkReturnRoutes finds links over which one can leave a device but never come back.
func (b *builder) checkReturnRoutes() {
	t := b.t
	checked := map[int32]bool{}
	for _, n := range t.nodes {
		if checked[n.shape] {
			continue // all nodes of a shape are alike
		}
		checked[n.shape] = true
		s := t.shapes[n.shape]
		component := Components(len(s.devices), s.links, nil)
		for _, l := range s.links {
			if component[l.From] != component[l.To] {
				b.AddAt(b.origin(n.firstDevice+l.From), "link %s->%s has no way back: drop duplex: false, or give the other direction too",
					s.devices[l.From].id, s.devices[l.To].id)
			}
		}
	}
}

// checkConnected finds ranks that the others cannot reach.
func (b *builder) checkConnected() {
	t := b.t
	if len(t.ranks) < 2 {
		return
	}
	joined := symmetry.NewOrbits(len(t.devices)) // that links lead both ways is a matter of its own
	for _, l := range t.links {
		joined.Join(int(l.From), int(l.To))
	}
	first, alone := DeviceID(-1), 0
	for _, r := range t.ranks {
		if joined.First(int(r)) != joined.First(int(t.ranks[0])) {
			if alone++; first < 0 {
				first = r
			}
		}
	}
	if alone > 0 {
		others := ""
		if alone > 1 {
			others = fmt.Sprintf(" (nor can %d others)", alone-1)
		}
		b.AddAt(b.origin(first), "%s cannot be reached from %s%s: link them, or their nodes by a fabric", t.DeviceName(first),
			t.DeviceName(t.ranks[0]), others)
	}
}
