package topology

// shape is a template expanded: the devices and links of one node, numbered locally.
type shape struct {
	template string
	profile  string // default profile of the file it came from
	ids      []string
	devices  []Device // Node unset
	noP2P    []bool   // per device: a CPU through which PCIe peer-to-peer does not work
	links    []Link
	local    map[string]int32
	out      [][]int32 // links by source
	nics     [][]int32 // per device that holds a rank: its NICs
	ranks    []int32
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
}

func (x *shaper) expand() *shape {
	x.s = &shape{template: x.t.name, local: map[string]int32{}}
	for _, d := range x.t.devices {
		x.addDevices(d)
	}
	for _, l := range x.t.links {
		x.addLinks(l)
	}
	x.index()
	x.affinity()
	if len(x.s.ranks) == 0 {
		x.addAt(x.t.pos, "template %s: has no gpu (nor thread), so no rank", x.t.name)
	}
	return x.s
}

func (x *shaper) addDevices(d deviceSpec) {
	ids, err := expandIDs(d.ids)
	if err != nil {
		x.addAt(d.pos, "device: %v", err)
		return
	}
	model := int32(-1)
	if d.model != "" {
		m, ok := x.models[d.model]
		switch {
		case !ok:
			x.addAt(d.pos, "device %s: model %q is not defined under models", d.ids, d.model)
		case x.table[m].Kind != d.kind:
			x.addAt(d.pos, "device %s is a %v but model %s is a %v", d.ids, d.kind, d.model, x.table[m].Kind)
		default:
			model = m
		}
	}
	if len(x.s.devices)+len(ids) > maxDevices {
		x.addAt(d.pos, "device %s: more than %d devices", d.ids, maxDevices)
		return
	}
	for _, id := range ids {
		if _, twice := x.s.local[id]; twice {
			x.addAt(d.pos, "device %s is defined twice", id)
			continue
		}
		n := int32(len(x.s.devices))
		x.s.local[id] = n
		x.s.ids = append(x.s.ids, id)
		x.s.devices = append(x.s.devices, Device{Kind: d.kind, Local: n, Model: model})
		x.s.noP2P = append(x.s.noP2P, d.kind == CPU && !d.p2p)
		if d.kind.HoldsRank() {
			x.s.ranks = append(x.s.ranks, n)
		}
	}
	if d.serves != "" {
		x.serves = append(x.serves, d)
	}
}

// lookup resolves an id pattern to local devices.
func (x *shaper) lookup(p pos, what, pattern string) []int32 {
	ids, err := expandIDs(pattern)
	if err != nil {
		x.addAt(p, "%s: %v", what, err)
		return nil
	}
	out := make([]int32, 0, len(ids))
	for _, id := range ids {
		n, ok := x.s.local[id]
		if !ok {
			x.addAt(p, "%s: there is no device %q in template %s", what, id, x.t.name)
			return nil
		}
		out = append(out, n)
	}
	return out
}

func (x *shaper) addLinks(l linkSpec) {
	class, ok := x.classes[l.class]
	if !ok && l.class != "" {
		x.addAt(l.pos, "link: class %q is not defined under classes", l.class)
	}
	add := func(a, b int32, count int) { x.connect(l, class, a, b, count) }
	switch {
	case l.mesh != "":
		over := x.lookup(l.pos, "mesh", l.mesh)
		for i, a := range over {
			for _, b := range over[i+1:] {
				add(a, b, l.count)
			}
		}
	case l.matrix != "":
		x.matrixLinks(l, add)
	case l.grid != "":
		x.gridLinks(l, add)
	case l.from != "" && l.to != "":
		x.pairLinks(l, add)
	}
}

func (x *shaper) connect(l linkSpec, class, a, b int32, count int) {
	if a == b {
		x.addAt(l.pos, "link: %s is linked to itself", x.s.ids[a])
		return
	}
	if len(x.s.links)+2 > maxLinks {
		x.addAt(l.pos, "link: more than %d links", maxLinks)
		return
	}
	x.s.links = append(x.s.links, Link{From: DeviceID(a), To: DeviceID(b), Class: class, Count: int32(count)})
	if l.duplex {
		x.s.links = append(x.s.links, Link{From: DeviceID(b), To: DeviceID(a), Class: class, Count: int32(count)})
	}
}

func (x *shaper) pairLinks(l linkSpec, add func(a, b int32, count int)) {
	from, to := x.lookup(l.pos, "link from", l.from), x.lookup(l.pos, "link to", l.to)
	if from == nil || to == nil {
		return
	}
	how := l.how
	if how == "" && (len(from) == 1 || len(to) == 1) {
		how = "all"
	}
	switch how {
	case "all":
		for _, a := range from {
			for _, b := range to {
				add(a, b, l.count)
			}
		}
	case "each":
		if len(from) != len(to) {
			x.addAt(l.pos, "link: how: each needs as many from (%d) as to (%d)", len(from), len(to))
			return
		}
		for i := range from {
			add(from[i], to[i], l.count)
		}
	case "block":
		if !divides(len(from), len(to)) {
			x.addAt(l.pos, "link: how: block needs one side (%d) to be a multiple of the other (%d)", len(from), len(to))
			return
		}
		for i, n := 0, max(len(from), len(to)); i < n; i++ {
			add(from[i*len(from)/n], to[i*len(to)/n], l.count)
		}
	default:
		x.addAt(l.pos, "link: how is %q: say each (i with i), all (every pair) or block (consecutive ones share)", l.how)
	}
}

func divides(a, b int) bool { return a > 0 && b > 0 && (a%b == 0 || b%a == 0) }

func (x *shaper) matrixLinks(l linkSpec, add func(a, b int32, count int)) {
	over := x.lookup(l.pos, "matrix", l.matrix)
	if over == nil {
		return
	}
	if len(l.rows) != len(over) {
		x.addAt(l.pos, "matrix: %d rows for %d devices", len(l.rows), len(over))
		return
	}
	for i, row := range l.rows {
		if len(row) != len(over) {
			x.addAt(l.pos, "matrix: row %d has %d entries for %d devices", i, len(row), len(over))
			return
		}
	}
	for i, row := range l.rows {
		for j, n := range row {
			switch {
			case n != l.rows[j][i]:
				x.addAt(l.pos, "matrix: [%d][%d] is %d but [%d][%d] is %d: links go both ways", i, j, n, j, i, l.rows[j][i])
				return
			case i == j && n != 0:
				x.addAt(l.pos, "matrix: [%d][%d] must be 0", i, i)
			case i < j && n > 0:
				add(over[i], over[j], n*l.count)
			}
		}
	}
}

func (x *shaper) gridLinks(l linkSpec, add func(a, b int32, count int)) {
	over := x.lookup(l.pos, "grid", l.grid)
	if over == nil {
		return
	}
	n := 1
	for _, d := range l.dims {
		if n > maxDevices/d {
			n = 0
			break
		}
		n *= d
	}
	if len(l.dims) == 0 || n != len(over) {
		x.addAt(l.pos, "grid: dims %v do not multiply to %d devices", l.dims, len(over))
		return
	}
	stride := 1
	for axis := len(l.dims) - 1; axis >= 0; axis-- {
		size := l.dims[axis]
		for i := range over {
			c := i / stride % size
			switch {
			case c+1 < size:
				add(over[i], over[i+stride], l.count)
			case l.wrap && size > 2:
				add(over[i], over[i-(size-1)*stride], l.count)
			}
		}
		stride *= size
	}
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
			merged[i].Count += l.Count
			continue
		}
		first[k] = len(merged)
		merged = append(merged, l)
	}
	x.s.links = merged
	x.s.out = make([][]int32, len(x.s.devices))
	for i, l := range merged {
		x.s.out[l.From] = append(x.s.out[l.From], int32(i))
	}
}

// affinity gives every rank its NICs: the ones that serve it, else the nearest.
func (x *shaper) affinity() {
	x.s.nics = make([][]int32, len(x.s.devices))
	for _, d := range x.serves {
		nics, gpus := x.lookup(d.pos, "serves", d.ids), x.lookup(d.pos, "serves", d.serves)
		if nics == nil || gpus == nil {
			continue
		}
		if !divides(len(nics), len(gpus)) {
			x.addAt(d.pos, "device %s serves %s: one side must be a multiple of the other", d.ids, d.serves)
			continue
		}
		for i, n := 0, max(len(nics), len(gpus)); i < n; i++ {
			g := gpus[i*len(gpus)/n]
			x.s.nics[g] = append(x.s.nics[g], nics[i*len(nics)/n])
		}
	}
	for _, g := range x.s.ranks {
		if x.s.nics[g] == nil {
			x.s.nics[g] = x.s.nearestNICs(g)
		}
	}
}

// nearestNICs are the NICs that the fewest PCIe hops away; where several ranks are
// equally near, each takes its own by position.
func (s *shape) nearestNICs(g int32) []int32 {
	seen := make([]bool, len(s.devices))
	seen[g] = true
	for frontier := []int32{g}; len(frontier) > 0; {
		var next, found []int32
		for _, v := range frontier {
			for _, l := range s.out[v] {
				to := int32(s.links[l].To)
				if k := s.devices[to].Kind; !seen[to] && !k.HoldsRank() && k != NVSwitch {
					seen[to] = true
					next = append(next, to)
					if k == NIC {
						found = append(found, to)
					}
				}
			}
		}
		if len(found) > 0 {
			return found
		}
		frontier = next
	}
	return nil
}
