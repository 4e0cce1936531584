package topology

import "slices"

// shape is a template expanded: the devices and links of one node, numbered locally.
type shape struct {
	template string
	devices  []shapeDevice
	graph    // of devices by local number
	local    map[string]int32
	ranks    []int32
}

// shapeDevice is a device of a template.
type shapeDevice struct {
	Device // Node unset
	id     string
	at     pos     // where the file describes it, or uses the template that does
	noP2P  bool    // a CPU through which, or a GPU to which, PCIe peer-to-peer does not work
	root   string  // the PCIe host bridge above it; "" where the file does not say
	cpus   string  // of a cpu: its logical processors; "" where the file does not say
	nics   []int32 // of one that holds a rank
}

func (d *shapeDevice) equal(o *shapeDevice) bool {
	return d.Device == o.Device && d.id == o.id && d.noP2P == o.noP2P && d.root == o.root && d.cpus == o.cpus &&
		slices.Equal(d.nics, o.nics)
}

// shaper expands one template.
type shaper struct {
	*diagnostics
	t       *template
	classes map[string]int32
	models  map[string]int32
	table   []Model
	s       *shape
	serves  []deviceSpec
	partial bool // some devices could not be made out: links to unknown ones may be right
	budget  int  // ids and steps that may still be spent on this template
}

// maxWork bounds the ids that a template's rules may name in all, and the steps of the
// search for each GPU's nearest NICs: large files stay far below, hostile ones end.
const maxWork = 4 << 20

// spend takes n from the budget; it reports once that it is used up.
func (x *shaper) spend(p pos, n int) bool {
	if x.budget < 0 {
		return false
	}
	if x.budget -= n; x.budget < 0 {
		x.AddAt(p, "template %s: too much to lay out: split it into several nodes, and give NICs with serves", x.t.Name)
		return false
	}
	return true
}

func (x *shaper) expand() *shape {
	x.s = &shape{template: x.t.Name, local: map[string]int32{}}
	x.budget = maxWork
	for _, d := range x.t.Devices {
		x.addDevices(d)
	}
	for _, l := range x.t.Links {
		x.addLinks(l)
	}
	x.affinity()
	if x.Total() == 0 {
		x.index()
	}
	if x.Total() == 0 {
		x.nearest()
	}
	if len(x.s.ranks) == 0 && !x.partial {
		x.AddAt(x.t.Pos, "template %s: has no gpu (nor thread), so no rank", x.t.Name)
	}
	return x.s
}

// ids expands a pattern within the budget.
func (x *shaper) ids(p pos, what, pattern string) []string {
	if x.budget < 0 {
		return nil
	}
	ids, err := expandIDs(pattern)
	if err != nil {
		x.AddAt(p, "%s: %v", what, err)
		return nil
	}
	if !x.spend(p, len(ids)) {
		return nil
	}
	return ids
}

func (x *shaper) addDevices(d deviceSpec) {
	if d.ID == "" {
		x.partial = true // that it is missing was reported
		return
	}
	ids := x.ids(d.Pos, "device", d.ID)
	if len(x.s.devices)+len(ids) > maxTemplateDevices {
		x.AddAt(d.Pos, "device %s: more than %d devices in one node", d.ID, maxTemplateDevices)
		ids = nil
	}
	if ids == nil {
		x.partial = true
		return
	}
	model := x.modelOf(d)
	x.s.devices = slices.Grow(x.s.devices, len(ids))
	for _, id := range ids {
		if _, twice := x.s.local[id]; twice {
			x.AddAt(d.Pos, "device %s is defined twice", id)
			continue
		}
		n := int32(len(x.s.devices))
		x.s.local[id] = n
		x.s.devices = append(x.s.devices, shapeDevice{Device: Device{Kind: d.Kind, Local: n, Model: model}, id: id, at: d.Pos,
			noP2P: (d.Kind == CPU || d.Kind == GPU) && !d.P2P, root: d.Root, cpus: d.CPUs})
		if d.Kind.HoldsRank() {
			x.s.ranks = append(x.s.ranks, n)
		}
	}
	if d.Serves != "" {
		x.serves = append(x.serves, d)
	}
}

// modelOf is the number of a device's model, −1 where it has none.
func (x *shaper) modelOf(d deviceSpec) int32 {
	if d.Model == "" {
		return -1
	}
	m, ok := x.models[d.Model]
	switch {
	case !ok:
		x.AddAt(d.Pos, "device %s: model %q is not defined under models", d.ID, d.Model)
		return -1
	case x.table[m].Kind != d.Kind && !d.Faulty:
		x.AddAt(d.Pos, "device %s is a %v but model %s is a %v", d.ID, d.Kind, d.Model, x.table[m].Kind)
		return -1
	}
	return m
}

// lookup resolves an id pattern to local devices.
func (x *shaper) lookup(p pos, what, pattern string) []int32 {
	ids := x.ids(p, what, pattern)
	if ids == nil {
		return nil
	}
	out := make([]int32, 0, len(ids))
	for _, id := range ids {
		n, ok := x.s.local[id]
		if !ok {
			if !x.partial {
				x.AddAt(p, "%s: there is no device %q in template %s", what, id, x.t.Name)
			}
			return nil
		}
		out = append(out, n)
	}
	return out
}

// index merges parallel links of one class and builds the adjacency.
func (x *shaper) index() {
	type key struct {
		a, b DeviceID
		c    int32
	}
	first := make(map[key]int, len(x.s.links))
	merged := x.s.links[:0]
	for _, l := range x.s.links {
		k := key{l.From, l.To, l.Class}
		if i, ok := first[k]; ok {
			if merged[i].Count += l.Count; merged[i].Count > maxCount {
				x.AddAt(x.t.Pos, "template %s: %s and %s are joined by more than %d links", x.t.Name, x.s.devices[l.From].id,
					x.s.devices[l.To].id, maxCount)
				merged[i].Count = maxCount
			}
			continue
		}
		first[k] = len(merged)
		merged = append(merged, l)
	}
	x.s.graph = newGraph(len(x.s.devices), merged)
}

// HasStaged reports whether PCIe peer-to-peer fails between some devices, so that ranks may have to exchange data through
// host memory.
func (t *Topology) HasStaged() bool {
	return slices.ContainsFunc(t.shapes, func(s *shape) bool {
		return slices.ContainsFunc(s.devices, func(d shapeDevice) bool { return d.noP2P })
	})
}
