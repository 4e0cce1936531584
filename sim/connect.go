package sim

import (
	"slices"

	"railyard/model/topology"
)

// connKey tells the connections of a phase apart.
type connKey struct{ src, dst int32 }

// routeKey tells routes apart whose connections stand for different numbers of others,
// and those of different jobs. Strand is 0 unless networks hash each strand's flows, team
// unless switches multiply or combine the data on their way.
type routeKey struct{ src, dst, times, job, strand, team int32 }

// connections are those of a channel's phases while there are none: in one map where no symmetry moves phases, since each is left for good.
func connections(phases int, stay bool) []map[connKey]int32 {
	out := slices.Repeat([]map[connKey]int32{{}}, phases)
	for ph := 0; ph < phases && !stay; ph++ {
		out[ph] = map[connKey]int32{}
	}
	return out
}

// connect is the connection from a lane to a peer, or the other way.
func (c *compiler) connect(l *lane, peer int32, out bool) (int32, error) {
	peer = c.job.rank(peer)
	key := connKey{peer, l.rank}
	if out {
		key = connKey{l.rank, peer}
	}
	times, phase := l.times, l.phase
	if c.symmetry != nil {
		phase = c.symmetry.phase(l.channel, phase, key.src)
		var count int32
		key.src, key.dst, count = c.symmetry.canonical(key.src, key.dst)
		times = count * c.symmetry.multiplicity(key.src) * c.channelsOf(l.channel)
	}
	k, ok := c.connOf[phase][key]
	if !ok {
		r, err := c.route(key, l.channel, times)
		if err != nil {
			return 0, err
		}
		k = int32(len(c.conns))
		if most := c.options.Connections; most > 0 && len(c.conns) >= most {
			return 0, ErrTooLong
		}
		c.connOf[phase][key] = k
		c.conns = appended(c.conns, conn{route: r, channel: l.channel, phase: phase, receiver: -1, sibling: -1, times: times})
		c.ends = appended(c.ends, ends{})
	}
	return k, nil
}

// hopsPerConnection is how many hops of routes may be kept for each connection that may be compiled: they take about as much memory.
const hopsPerConnection = 8

func (c *compiler) route(of connKey, channel, times int32) (int32, error) {
	k := routeKey{src: of.src, dst: of.dst, times: times, job: c.strands[channel].job}
	if c.options.Hashing != nil || c.sharedInNodes(c.jobs[k.job].Schedule.Protocol).channels {
		k.strand = channel
	}
	member, inTeam := c.teams.of[[2]int32{of.src, of.dst}]
	if inTeam {
		k.team, k.strand = member.team, 0
	}
	if id, ok := c.routeOf[k]; ok {
		return id, nil
	}
	id := int32(len(c.routes))
	r := route{src: k.src, dst: k.dst, job: k.job, strand: k.strand, times: k.times, full: member.full, team: inTeam}
	if !inTeam {
		var err error
		if r.full, err = c.find(&r); err != nil {
			return 0, err
		}
	}
	c.routeOf[k] = id
	r.leaving = c.leaving(&r)
	if c.links != nil {
		r.full.Hops, r.copies = c.byOrbit(r.full.Hops)
	}
	if c.hops += len(r.full.Hops); c.options.Connections > 0 && c.hops/hopsPerConnection >= c.options.Connections {
		return 0, ErrTooLong
	}
	c.routes = appended(c.routes, r)
	return id, nil
}

// find looks the way of a route up.
func (c *compiler) find(r *route) (topology.Route, error) {
	src, dst := int(r.src), int(r.dst)
	if full, named, err := c.paths[r.job].Striped(src, dst); named {
		return full, err
	}
	if c.options.Hashing != nil {
		return c.hashed(r.strand, src, dst)
	}
	if c.links != nil { // of whose orbits hops are kept
		return c.router.Passing(src, dst)
	}
	return c.router.Route(src, dst)
}
