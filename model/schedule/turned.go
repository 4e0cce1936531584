package schedule

import "railyard/model/collective"

// Turned is a rank's place in a phase whose programs name ranks by how far behind they are: at every position of groups that are alike,
// they do the same on as many chunks, with other ranks.
type Turned struct {
	Group TurnedGroup
	m     member
}

// TurnedGroup is what tells such programs of a phase apart.
type TurnedGroup struct{ ranks, chunks int }

// Turned is a rank's place in a phase; false where programs follow from more than how far behind others are.
func (x *Expander) Turned(channel, phase, rank int) (Turned, bool) {
	ch := &x.s.Channels[channel]
	ph := &ch.Phases[phase]
	if ph.Gen != GenRing && ph.Gen != GenDirect || ph.Along() == Standing || ph.Op == collective.AllToAllV {
		return Turned{}, false
	}
	var m member
	if g := ph.Groups.Grid; g != nil {
		m = gridMember(g, ch.Chunks, rank)
	} else {
		places := x.index[channel][phase][rank]
		if len(places) != 1 || ph.Groups.List[places[0].group].Parts != nil {
			return Turned{}, false
		}
		m = listMember(&ph.Groups.List[places[0].group], ch.Chunks, places[0].pos)
	}
	return Turned{TurnedGroup{m.size, m.whole().Len()}, m}, true
}

// Behind is by how many positions a rank of the group is behind.
func (t *Turned) Behind(rank int32) int {
	n := 1
	for n < t.m.size && t.m.rank(t.m.off(n)) != rank {
		n++
	}
	return n
}

// Rank is the one that is so many positions behind.
func (t *Turned) Rank(behind int) int32 { return t.m.rank(t.m.off(behind)) }
