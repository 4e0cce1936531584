package schedule

import (
	"fmt"
	"slices"
	"strings"

	"railyard/model/collective"
	"railyard/model/topology"
)

// Capability is what a schedule needs of the switches that its messages pass.
type Capability string

// The capabilities, by the names that topologies give them.
const (
	CanMulticast Capability = "multicast"
	CanReduce    Capability = "reduction"
)

// Uses are the capabilities that a schedule's phases use, each once; none of most.
func (s *Schedule) Uses() []Capability {
	var multicast, reduction bool
	for c := range s.Channels {
		if c > 0 && s.Channels[c].SharesPrograms(&s.Channels[c-1]) {
			continue
		}
		for p := range s.Channels[c].Phases {
			m, r := s.Channels[c].Phases[p].uses()
			multicast, reduction = multicast || m, reduction || r
		}
	}
	var out []Capability
	if multicast {
		out = append(out, CanMulticast)
	}
	if reduction {
		out = append(out, CanReduce)
	}
	return out
}

// InNetwork reports whether the phase needs switches that copy or add up data.
func (ph *Phase) InNetwork() bool {
	multicast, reduction := ph.uses()
	return multicast || reduction
}

func (ph *Phase) uses() (multicast, reduction bool) {
	if ph.Gen == GenSwitch {
		return ph.Op == collective.AllGather || ph.Op == collective.Broadcast, ph.Op.Reduces()
	}
	does := func(op *Op) {
		multicast = multicast || op.Kind == Multicast
		reduction = reduction || op.Kind == SwitchReduce
	}
	for _, ops := range ph.Ops {
		for i := range ops {
			does(&ops[i])
		}
	}
	for _, list := range ph.Packed {
		for i := range list {
			does(&list[i].Op)
		}
	}
	return multicast, reduction
}

// Plain refuses schedules that need switches to work on the data, for those who can only
// send from rank to rank.
func (s *Schedule) Plain() error {
	if len(s.Needs) == 0 {
		return nil
	}
	var needs []string
	for _, n := range s.Needs {
		needs = append(needs, string(n))
	}
	return fmt.Errorf("%s needs %s in the switches, which only simulate and run --backend host have, neither kernels nor files for other "+
		"libraries: plan with --no-in-network", s.Algorithm, strings.Join(needs, " and "))
}

// Sends reports whether an operation reads a place for others, rather than write one.
func (k OpKind) Sends() bool { return k == Send || k == Multicast }

// AllPeers are the ranks that an operation sends to or receives from.
func (op *Op) AllPeers() []int32 {
	switch op.Kind {
	case Send, Recv, RecvReduce:
		return []int32{op.Peer}
	case Multicast, SwitchReduce:
		return op.Peers
	}
	return nil
}

// Teams are some ranks with the peers that they multicast to in a phase, or whose data switches combine for them.
func (x *Expander) Teams(channel, phase int, ranks []int32) []topology.Team {
	if !x.s.Channels[channel].Phases[phase].InNetwork() {
		return nil
	}
	var out []topology.Team
	var ops []Op
	for _, rank := range ranks {
		ops = x.AppendProgram(ops[:0], channel, phase, int(rank))
		out = appendTeams(out, rank, ops)
	}
	return out
}

// appendTeams appends a program's teams, each once.
func appendTeams(teams []topology.Team, rank int32, ops []Op) []topology.Team {
	first := len(teams)
	for i := range ops {
		op := &ops[i]
		if op.Kind != Multicast && op.Kind != SwitchReduce {
			continue
		}
		t := topology.Team{Rank: rank, Peers: op.Peers, Sums: op.Kind == SwitchReduce}
		if !slices.ContainsFunc(teams[first:], func(o topology.Team) bool { return o.Sums == t.Sums && slices.Equal(o.Peers, t.Peers) }) {
			teams = append(teams, t)
		}
	}
	return teams
}

// teamOp is the operation that makes a rank one of a team.
func teamOp(t *topology.Team) OpKind {
	if t.Sums {
		return SwitchReduce
	}
	return Multicast
}

// disjoint refuses groups with common ranks, whose teams would share connections.
func disjoint(groups []Group) error {
	seen := map[int32]bool{}
	for i := range groups {
		for _, r := range groups[i].Ranks {
			if seen[r] {
				return fmt.Errorf("group %d: rank %d is in another group as well", i, r)
			}
			seen[r] = true
		}
	}
	return nil
}

// validateTeams refuses connections that are of two teams, or of one and of none: what a
// message loads on its way must not depend on which of them it is.
func (ph *Phase) validateTeams() error {
	if multicast, reduction := ph.uses(); !multicast && !reduction {
		return nil
	}
	team := map[[2]int32]topology.Team{}
	var ops []Op
	for r := range ph.programs() {
		ops = ph.appendProgram(ops[:0], r)
		for _, t := range appendTeams(nil, int32(r), ops) {
			for i, p := range t.Peers {
				pair := t.Pair(i)
				if _, taken := team[pair]; taken || slices.Contains(t.Peers[:i], p) {
					return fmt.Errorf("rank %d: %v: rank %d sends to rank %d in another team as well: use another phase", r, teamOp(&t),
						pair[0], pair[1])
				}
				team[pair] = t
			}
		}
	}
	for r := range ph.programs() {
		ops = ph.appendProgram(ops[:0], r)
		for i := range ops {
			op := &ops[i]
			switch t, ok := team[pairOf(int32(r), op)]; {
			case !ok:
			case op.Kind == Send && !t.Sums, (op.Kind == Recv || op.Kind == RecvReduce) && t.Sums:
				return fmt.Errorf("rank %d operation %d: %v of the pair is in a team: use another phase", r, i, op.Kind)
			}
		}
	}
	return nil
}

// pairOf is the source and destination of a plain operation's messages.
func pairOf(rank int32, op *Op) [2]int32 {
	if op.Kind == Send {
		return [2]int32{rank, op.Peer}
	}
	return [2]int32{op.Peer, rank}
}
