package sim

// classesOf numbers colours by first member.
type classesOf struct {
	of    []int32 // member → class
	first []int32 // class → first member
	size  []int32
	times []int32 // class → how many things its members stand for
}

func number(colours []uint64) classesOf {
	c := classesOf{of: make([]int32, len(colours))}
	seen := map[uint64]int32{}
	for i, h := range colours {
		id, ok := seen[h]
		if !ok {
			id = int32(len(c.first))
			seen[h] = id
			c.first, c.size = append(c.first, int32(i)), append(c.size, 0)
		}
		c.of[i] = id
		c.size[id]++
	}
	c.times = make([]int32, len(c.first))
	return c
}

// quotient is the plan of the representatives.
func (f *folder) quotient() *Plan {
	p := f.p
	lane, conn, res := number(f.colour.lane), number(f.colour.conn), number(f.colour.res)
	for i := range p.lanes {
		lane.times[lane.of[i]] += p.lanes[i].times
	}
	for i := range p.conns {
		conn.times[conn.of[i]] += p.conns[i].times
	}
	q := &Plan{topo: p.topo, jobs: p.jobs, strands: p.strands, profile: p.profile, options: p.options, ops: p.ops, seqs: p.seqs, sizes: p.sizes,
		classes: p.classes, wires: p.wires, steps: -1, base: p, symmetry: p.symmetry}
	for class, i := range lane.first {
		l := p.lanes[i]
		l.times = lane.times[class]
		conns := p.connsOf(int(i))
		l.conns = int32(len(q.laneConns))
		for _, c := range conns {
			q.laneConns = append(q.laneConns, conn.of[c])
		}
		if l.before >= 0 {
			l.before = lane.of[l.before]
		}
		if l.after >= 0 {
			l.after = lane.of[l.after]
		}
		q.lanes = append(q.lanes, l)
	}
	for _, r := range res.first {
		q.res = append(q.res, p.res[r])
	}
	for class, i := range conn.first {
		k := p.conns[i]
		r := p.routes[k.route]
		var ok bool
		if r.use, ok = foldLoads(r.use, conn.size[class], &res); !ok {
			return nil
		}
		k.route, k.receiver, k.times = int32(len(q.routes)), lane.of[k.receiver], conn.times[class]
		q.routes = append(q.routes, r)
		q.conns = append(q.conns, k)
	}
	return q
}

// foldLoads says how a connection's class loads the classes of its resources: a member
// of the resources' class carries its part of all the uses that the class makes of them.
// ok is false where a connection loads two members of a class differently, for which
// there is no place in a plan.
func foldLoads(use []usage, members int32, res *classesOf) (out []usage, ok bool) {
next:
	for _, u := range use {
		class := res.of[u.res]
		for i := range out {
			if out[i].res != class {
				continue
			}
			if out[i].weight != u.weight {
				return nil, false
			}
			out[i].count += members * u.count
			continue next
		}
		out = append(out, usage{res: class, count: members * u.count, weight: u.weight})
	}
	for i := range out {
		out[i] = newUsage(out[i].res, out[i].weight, out[i].count/res.size[out[i].res])
	}
	return out, true
}
