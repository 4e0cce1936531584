package sim

import (
	"slices"

	"railyard/model/symmetry"
)

// quotient is the plan of the representatives.
func (f *folder) quotient() *Plan {
	p := f.p
	lane, conn, res := symmetry.Number(f.colour.lane), symmetry.Number(f.colour.conn), symmetry.Number(f.colour.res)
	laneTimes, connTimes := make([]int32, len(lane.First)), make([]int32, len(conn.First))
	for i := range p.lanes {
		laneTimes[lane.Of[i]] += p.lanes[i].times
	}
	for i := range p.conns {
		connTimes[conn.Of[i]] += p.conns[i].times
	}
	q := &Plan{topo: p.topo, jobs: p.jobs, strands: p.strands, profile: p.profile, options: p.options, ops: p.ops, seqs: p.seqs,
		sizes:   p.sizes,
		classes: p.classes, wires: p.wires, steps: -1, compiled: p.compiled, base: p, symmetry: p.symmetry, links: p.links}
	for class, i := range lane.First {
		l := p.lanes[i]
		l.times = laneTimes[class]
		l.conns = int32(len(q.laneConns))
		q.laneConns = append(q.laneConns, slices.Repeat([]int32{-1}, len(p.connsOf(int(i))))...)
		if l.after = -1; l.before >= 0 {
			l.before = lane.Of[l.before]
		}
		q.lanes = append(q.lanes, l)
	}
	f.group(q, &lane)
	for i := range q.lanes {
		if l := &q.lanes[i]; l.before >= 0 {
			l.sibling, q.lanes[l.before].after = q.lanes[l.before].after, int32(i)
		}
	}
	for _, r := range res.First {
		q.res = append(q.res, p.res[r])
	}
	for class, i := range conn.First {
		k := p.conns[i]
		r := p.routes[k.route]
		r.use = foldLoads(r.use, conn.Size[class], &res)
		k.route, k.receiver, k.times = int32(len(q.routes)), lane.Of[k.receiver], connTimes[class]
		at := &q.laneConns[q.lanes[lane.Of[f.sender[i]]].conns+f.place[i]]
		k.sibling, *at = *at, int32(class)
		q.routes = append(q.routes, r)
		q.conns = append(q.conns, k)
	}
	f.receive(q, &lane, &conn)
	return q
}

// group names groups of representatives after the first of the classes that are in them: ranks whose lanes are alike have the same ones.
func (f *folder) group(q *Plan, lane *symmetry.Classes) {
	for _, lanes := range f.groups {
		first := int32(len(q.lanes))
		for _, l := range lanes {
			first = min(first, lane.Of[l])
		}
		for _, l := range lanes {
			q.lanes[lane.Of[l]].group = first
		}
	}
}

// receive gives the representatives inboxes, in the order of the connections.
func (f *folder) receive(q *Plan, lane, conn *symmetry.Classes) {
	var receives []int32
	for class, i := range lane.First {
		conns := f.p.connsOf(int(i))
		for j, u := range f.usesOf(&f.p.lanes[i], len(conns)) {
			if at := q.lanes[class].conns + int32(j); !u.sends {
				q.laneConns[at], receives = conn.Of[conns[j]], append(receives, at)
			}
		}
	}
	q.numberInboxes(receives)
}

// foldLoads says how a connection's class loads the classes of its resources: a member
// of the resources' class carries its part of all the uses that the class makes of them.
func foldLoads(use []usage, members int32, res *symmetry.Classes) (out []usage) {
next:
	for _, u := range use {
		class, at := res.Of[u.res], len(out)
		for i := range out {
			switch {
			case out[i].res != class:
			case out[i].weight == u.weight:
				out[i].count += members * u.count
				continue next
			default:
				at = i + 1
			}
		}
		out = slices.Insert(out, at, usage{res: class, count: members * u.count, weight: u.weight})
	}
	for i := range out {
		out[i] = newUsage(out[i].res, out[i].weight, out[i].count/res.Size[out[i].res])
	}
	return out
}
