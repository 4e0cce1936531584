package topology

// addLinks makes the links of one rule.
func (x *shaper) addLinks(l linkSpec) {
	class, ok := x.classes[l.Class]
	if !ok && l.Class != "" {
		x.AddAt(l.Pos, "link: class %q is not defined under classes", l.Class)
	}
	add := func(a, b int32, count int) { x.connect(l, class, a, b, count) }
	switch {
	case l.Faulty || l.Class == "":
		for _, pattern := range []string{l.From, l.To, l.Mesh, l.Matrix, l.Grid} {
			if pattern != "" {
				x.lookup(l.Pos, "link", pattern) // dangling ids are mistakes of their own
			}
		}
	case l.Mesh != "":
		x.meshLinks(l, add)
	case l.Matrix != "":
		x.matrixLinks(l, add)
	case l.Grid != "":
		x.gridLinks(l, add)
	case l.From != "" && l.To != "":
		x.pairLinks(l, add)
	}
}

func (x *shaper) connect(l linkSpec, class, a, b int32, count int) {
	if a == b {
		x.AddAt(l.Pos, "link: %s is linked to itself", x.s.devices[a].id)
		return
	}
	if count > maxCount {
		x.AddAt(l.Pos, "link: %s and %s are joined by %d links; at most %d can be", x.s.devices[a].id,
			x.s.devices[b].id, count, maxCount)
		return
	}
	x.s.links = append(x.s.links, Link{From: DeviceID(a), To: DeviceID(b), Class: class, Count: int32(count)})
	if l.Duplex {
		x.s.links = append(x.s.links, Link{From: DeviceID(b), To: DeviceID(a), Class: class, Count: int32(count)})
	}
}

// linksFit says whether a rule's pairs still fit, before any of them is made.
func (x *shaper) linksFit(l linkSpec, pairs int) bool {
	if len(x.s.links)+2*pairs > maxTemplateLinks {
		x.AddAt(l.Pos, "link: %d pairs are more than the %d links that one node may have", pairs, maxTemplateLinks)
		return false
	}
	return true
}

func (x *shaper) meshLinks(l linkSpec, add func(a, b int32, count int)) {
	over := x.lookup(l.Pos, "mesh", l.Mesh)
	if !x.linksFit(l, len(over)*(len(over)-1)/2) {
		return
	}
	for i, a := range over {
		for _, b := range over[i+1:] {
			add(a, b, l.Count)
		}
	}
}

func (x *shaper) pairLinks(l linkSpec, add func(a, b int32, count int)) {
	from, to := x.lookup(l.Pos, "link from", l.From), x.lookup(l.Pos, "link to", l.To)
	if from == nil || to == nil || !x.linksFit(l, max(len(from), len(to))) {
		return
	}
	how := l.How
	if how == "" && (len(from) == 1 || len(to) == 1) {
		how = "all"
	}
	switch how {
	case "all":
		if !x.linksFit(l, len(from)*len(to)) {
			return
		}
		for _, a := range from {
			for _, b := range to {
				add(a, b, l.Count)
			}
		}
	case "each":
		if len(from) != len(to) {
			x.AddAt(l.Pos, "link: how: each needs as many from (%d) as to (%d)", len(from), len(to))
			return
		}
		for i := range from {
			add(from[i], to[i], l.Count)
		}
	case "block":
		if !inBlocks(from, to, func(a, b int32) { add(a, b, l.Count) }) {
			x.AddAt(l.Pos, "link: how: block needs one side (%d) to be a multiple of the other (%d)", len(from), len(to))
		}
	default:
		x.AddAt(l.Pos, "link: how is %q: say each (i with i), all (every pair) or block (consecutive ones share)", l.How)
	}
}

// inBlocks pairs devices so that consecutive ones share; false where neither number divides the other.
func inBlocks(from, to []int32, visit func(a, b int32)) bool {
	a, b := len(from), len(to)
	if a == 0 || b == 0 || a%b != 0 && b%a != 0 {
		return false
	}
	for i, n := 0, max(a, b); i < n; i++ {
		visit(from[i*a/n], to[i*b/n])
	}
	return true
}

func (x *shaper) matrixLinks(l linkSpec, add func(a, b int32, count int)) {
	over := x.lookup(l.Pos, "matrix", l.Matrix)
	if over == nil {
		return
	}
	if len(l.Rows) != len(over) {
		x.AddAt(l.Pos, "matrix: %d rows for %d devices", len(l.Rows), len(over))
		return
	}
	for i, row := range l.Rows {
		if len(row) != len(over) {
			x.AddAt(l.Pos, "matrix: row %d has %d entries for %d devices", i, len(row), len(over))
			return
		}
	}
	if !x.linksFit(l, len(over)*(len(over)-1)/2) {
		return
	}
	for i, row := range l.Rows {
		for j, n := range row {
			switch {
			case n != l.Rows[j][i]:
				x.AddAt(l.Pos, "matrix: [%d][%d] is %d but [%d][%d] is %d: links go both ways", i, j, n, j, i, l.Rows[j][i])
				return
			case i == j && n != 0:
				x.AddAt(l.Pos, "matrix: [%d][%d] must be 0", i, i)
			case i < j && n > 0:
				add(over[i], over[j], n*l.Count)
			}
		}
	}
}

func (x *shaper) gridLinks(l linkSpec, add func(a, b int32, count int)) {
	over := x.lookup(l.Pos, "grid", l.Grid)
	if over == nil {
		return
	}
	n := 1
	for _, d := range l.Dims {
		if n > maxDevices/d {
			n = 0
			break
		}
		n *= d
	}
	if len(l.Dims) == 0 || n != len(over) {
		x.AddAt(l.Pos, "grid: dims %v do not multiply to %d devices", l.Dims, len(over))
		return
	}
	if !x.linksFit(l, len(over)*len(l.Dims)) {
		return
	}
	stride := 1
	for axis := len(l.Dims) - 1; axis >= 0; axis-- {
		size := l.Dims[axis]
		for i := range over {
			c := i / stride % size
			switch {
			case c+1 < size:
				add(over[i], over[i+stride], l.Count)
			case l.Wrap && size > 2:
				add(over[i], over[i-(size-1)*stride], l.Count)
			}
		}
		stride *= size
	}
}
