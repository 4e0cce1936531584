package sim

import "slices"

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
	q := &Plan{topo: p.topo, jobs: p.jobs, strands: p.strands, profile: p.profile, options: p.options, ops: p.ops, seqs: p.seqs,
		sizes:   p.sizes,
		classes: p.classes, wires: p.wires, steps: -1, base: p, symmetry: p.symmetry}
	for class, i := range lane.first {
		l := p.lanes[i]
		l.times = lane.times[class]
		l.conns = int32(len(q.laneConns))
		q.laneConns = append(q.laneConns, slices.Repeat([]int32{-1}, len(p.connsOf(int(i))))...)
		if l.after = -1; l.before >= 0 {
			l.before = lane.of[l.before]
		}
		q.lanes = append(q.lanes, l)
	}
	for i := range q.lanes {
		if l := &q.lanes[i]; l.before >= 0 {
			l.beside, q.lanes[l.before].after = q.lanes[l.before].after, int32(i)
		}
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
		at := &q.laneConns[q.lanes[lane.of[f.sender[i]]].conns+f.place[i]]
		k.sibling, *at = *at, int32(class)
		q.routes = append(q.routes, r)
		q.conns = append(q.conns, k)
	}
	f.receive(q, &lane, &conn)
	return q
}

// receive gives the representatives inboxes, in the order of the connections.
func (f *folder) receive(q *Plan, lane, conn *classesOf) {
	boxes := make([][]int32, len(q.conns)) // by connection: where laneConns has them
	for class, i := range lane.first {
		conns := f.p.connsOf(int(i))
		for j, u := range f.usesOf(&f.p.lanes[i], len(conns)) {
			if !u.sends {
				c := conn.of[conns[j]]
				boxes[c] = append(boxes[c], q.lanes[class].conns+int32(j))
			}
		}
	}
	q.inboxes = []int32{}
	for c, list := range boxes {
		for _, at := range list {
			q.laneConns[at] = int32(len(q.inboxes))
			q.inboxes = append(q.inboxes, int32(c))
		}
	}
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
