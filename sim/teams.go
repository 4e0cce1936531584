package sim

import (
	"fmt"

	"railyard/model/schedule"
	"railyard/model/topology"
)

// Switches that multiply or combine data are simulated by the links alone: a message to
// each receiver (from each sender), each of which loads the links that they share with
// its part of the bytes. Together they load every link once. That they move together
// follows where they are alike; where one of them is slower, the others do not wait.

// teamRoutes are the routes of the teams in the phase at hand.
type teamRoutes struct {
	router *topology.Router
	of     map[[2]int32]teamRoute // by the topology's source and destination; nil: none
	known  map[string]knownTeam   // all teams so far
}

type knownTeam struct {
	number int32 // from 1
	routes []topology.Route
}

type teamRoute struct {
	team int32
	full topology.Route
}

// findTeams finds the teams of a phase.
func (c *compiler) findTeams(channel, phase int, ranks []int32) error {
	c.teams.of = nil
	for _, t := range c.x.Teams(channel, phase, ranks) {
		if c.teams.of == nil {
			c.teams.of = map[[2]int32]teamRoute{}
		}
		k, err := c.team(&t)
		if err != nil {
			return err
		}
		for i := range t.Peers {
			pair := t.Pair(i)
			src, dst := c.job.rank(pair[0]), c.job.rank(pair[1])
			if c.symmetry != nil {
				src, dst, _ = c.symmetry.canonical(src, dst)
			}
			c.teams.of[[2]int32{src, dst}] = teamRoute{k.number, k.routes[i]}
		}
	}
	return nil
}

// team looks a team's routes up, once for each.
func (c *compiler) team(t *topology.Team) (knownTeam, error) {
	if c.teams.known == nil {
		c.teams.known, c.teams.router = map[string]knownTeam{}, topology.NewRouter(c.topo)
	}
	name := fmt.Sprint(c.job.Ranks, *t)
	k, ok := c.teams.known[name]
	if ok {
		return k, nil
	}
	on := topology.Team{Rank: c.job.rank(t.Rank), Sums: t.Sums}
	for _, p := range t.Peers {
		on.Peers = append(on.Peers, c.job.rank(p))
	}
	routes, err := c.teams.router.TeamRoutes(on)
	if err != nil {
		return k, err
	}
	k = knownTeam{int32(len(c.teams.known) + 1), routes}
	c.teams.known[name] = k
	return k, nil
}

// leaving is the part of a route's bytes that leaves its source for it.
func (p *Plan) leaving(r *route) float64 {
	if !r.team {
		return 1
	}
	part := 0.0
	source := p.topo.Links()[r.full.Hops[0].Link].From
	for _, h := range r.full.Hops {
		if p.topo.Links()[h.Link].From == source {
			part += float64(h.Num) / float64(h.Den)
		}
	}
	return part
}

// eachMessage visits, in place of an in-network operation, a plain one for each peer, and what combines with a rank's
// own data what all of them have sent.
func eachMessage(o *schedule.Op, visit func(*schedule.Op) error) error {
	plain := schedule.Op{Kind: schedule.Send, Src: o.Src, Dst: o.Dst}
	if o.Kind == schedule.SwitchReduce {
		plain.Kind = schedule.Recv
	}
	for _, plain.Peer = range o.Peers {
		if err := visit(&plain); err != nil {
			return err
		}
	}
	if o.Kind == schedule.SwitchReduce {
		return visit(&schedule.Op{Kind: schedule.RecvReduce, Peer: -1, Src: o.Src, Dst: o.Dst})
	}
	return nil
}
