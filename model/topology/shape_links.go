package topology

// addLinks makes the links of one rule.
func (x *shaper) addLinks(l linkSpec) {
	class, ok := x.classes[l.class]
	if !ok && l.class != "" {
		x.AddAt(l.pos, "link: class %q is not defined under classes", l.class)
	}
	add := func(a, b int32, count int) { x.connect(l, class, a, b, count) }
	switch {
	case l.odd || l.class == "":
		for _, pattern := range []string{l.from, l.to, l.mesh, l.matrix, l.grid} {
			if pattern != "" {
				x.lookup(l.pos, "link", pattern) // dangling ids are mistakes of their own
			}
		}
	case l.mesh != "":
		x.meshLinks(l, add)
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
		x.AddAt(l.pos, "link: %s is linked to itself", x.s.ids[a])
		return
	}
	if count > maxCount {
		x.AddAt(l.pos, "link: %s and %s are joined by %d links; at most %d can be", x.s.ids[a], x.s.ids[b], count, maxCount)
		return
	}
	x.s.links = append(x.s.links, Link{From: DeviceID(a), To: DeviceID(b), Class: class, Count: int32(count)})
	if l.duplex {
		x.s.links = append(x.s.links, Link{From: DeviceID(b), To: DeviceID(a), Class: class, Count: int32(count)})
	}
}

// room says whether a rule's pairs still fit, before any of them is made.
func (x *shaper) room(l linkSpec, pairs int) bool {
	if len(x.s.links)+2*pairs > maxTemplateLinks {
		x.AddAt(l.pos, "link: %d pairs are more than the %d links that one node may have", pairs, maxTemplateLinks)
		return false
	}
	return true
}

func (x *shaper) meshLinks(l linkSpec, add func(a, b int32, count int)) {
	over := x.lookup(l.pos, "mesh", l.mesh)
	if !x.room(l, len(over)*(len(over)-1)/2) {
		return
	}
	for i, a := range over {
		for _, b := range over[i+1:] {
			add(a, b, l.count)
		}
	}
}

func (x *shaper) pairLinks(l linkSpec, add func(a, b int32, count int)) {
	from, to := x.lookup(l.pos, "link from", l.from), x.lookup(l.pos, "link to", l.to)
	if from == nil || to == nil || !x.room(l, max(len(from), len(to))) {
		return
	}
	how := l.how
	if how == "" && (len(from) == 1 || len(to) == 1) {
		how = "all"
	}
	switch how {
	case "all":
		if !x.room(l, len(from)*len(to)) {
			return
		}
		for _, a := range from {
			for _, b := range to {
				add(a, b, l.count)
			}
		}
	case "each":
		if len(from) != len(to) {
			x.AddAt(l.pos, "link: how: each needs as many from (%d) as to (%d)", len(from), len(to))
			return
		}
		for i := range from {
			add(from[i], to[i], l.count)
		}
	case "block":
		if !divides(len(from), len(to)) {
			x.AddAt(l.pos, "link: how: block needs one side (%d) to be a multiple of the other (%d)", len(from), len(to))
			return
		}
		for i, n := 0, max(len(from), len(to)); i < n; i++ {
			add(from[i*len(from)/n], to[i*len(to)/n], l.count)
		}
	default:
		x.AddAt(l.pos, "link: how is %q: say each (i with i), all (every pair) or block (consecutive ones share)", l.how)
	}
}

func divides(a, b int) bool { return a > 0 && b > 0 && (a%b == 0 || b%a == 0) }

func (x *shaper) matrixLinks(l linkSpec, add func(a, b int32, count int)) {
	over := x.lookup(l.pos, "matrix", l.matrix)
	if over == nil {
		return
	}
	if len(l.rows) != len(over) {
		x.AddAt(l.pos, "matrix: %d rows for %d devices", len(l.rows), len(over))
		return
	}
	for i, row := range l.rows {
		if len(row) != len(over) {
			x.AddAt(l.pos, "matrix: row %d has %d entries for %d devices", i, len(row), len(over))
			return
		}
	}
	if !x.room(l, len(over)*(len(over)-1)/2) {
		return
	}
	for i, row := range l.rows {
		for j, n := range row {
			switch {
			case n != l.rows[j][i]:
				x.AddAt(l.pos, "matrix: [%d][%d] is %d but [%d][%d] is %d: links go both ways", i, j, n, j, i, l.rows[j][i])
				return
			case i == j && n != 0:
				x.AddAt(l.pos, "matrix: [%d][%d] must be 0", i, i)
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
		x.AddAt(l.pos, "grid: dims %v do not multiply to %d devices", l.dims, len(over))
		return
	}
	if !x.room(l, len(over)*len(l.dims)) {
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
