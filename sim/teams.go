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

// upTo are the ranks below n.
func upTo(n int) []int32 {
	out := make([]int32, n)
	for r := range out {
		out[r] = int32(r)
	}
	return out
}

// team looks a team's routes up, once for each.
func (c *compiler) team(t *schedule.Team) (knownTeam, error) {
	if c.teams.known == nil {
		c.teams.known, c.teams.router = map[string]knownTeam{}, topology.NewRouter(c.topo)
	}
	name := fmt.Sprint(c.job.Ranks, *t)
	k, ok := c.teams.known[name]
	if ok {
		return k, nil
	}
	routes, err := t.Routes(c.teams.router, c.job.rank)
	if err != nil {
		return k, err
	}
	k = knownTeam{int32(len(c.teams.known) + 1), routes}
	c.teams.known[name] = k
	return k, nil
}

// eachMessage visits an operation, or in place of an in-network one a plain one for each
// peer, of which the last combines.
func eachMessage(o *schedule.Op, visit func(*schedule.Op) error) error {
	var plain, last schedule.OpKind
	switch o.Kind {
	case schedule.Multicast:
		plain, last = schedule.Send, schedule.Send
	case schedule.SwitchReduce:
		plain, last = schedule.Recv, schedule.RecvReduce
	default:
		return visit(o)
	}
	for i, p := range o.Peers {
		one := schedule.Op{Kind: plain, Peer: p, Src: o.Src, Dst: o.Dst}
		if i == len(o.Peers)-1 {
			one.Kind = last
		}
		if err := visit(&one); err != nil {
			return err
		}
	}
	return nil
}
