package mscclxml

import (
	"cmp"
	"maps"
	"slices"

	"railyard/model/program"
	"railyard/model/schedule"
)

// strand is a schedule's channel, or some of its messages: those of parts of the data (a share),
// of some phases (a stage), of some peers (a band), or of some numbers (a group).
type strand struct{ channel, share, stage, band, group int }

func (x strand) compare(y strand) int {
	return cmp.Or(cmp.Compare(x.channel, y.channel), cmp.Compare(x.share, y.share), cmp.Compare(x.stage, y.stage),
		cmp.Compare(x.band, y.band), cmp.Compare(x.group, y.group))
}

// strand is where a rank's step belongs. A band holds maxPeers distances from sender to
// receiver, so both ends agree on it and none has more peers in it.
func (st style) strand(p *program.Program, rank int, s *program.Step) strand {
	out := strand{channel: s.Channel}
	if st.stages != nil {
		out.stage = st.stages[s.Channel][s.Phase]
	}
	if st.shares != nil {
		out.share = st.shares[s.Part]
	}
	if s.Peer < 0 {
		return out
	}
	n, distance := p.Spec.Ranks, s.Peer-rank
	if s.Kind != schedule.Send {
		distance = -distance
	}
	if st.bands {
		out.band = ((distance+n)%n - 1) / maxPeers
	}
	if st.group > 0 {
		out.group = s.Seq / st.group
	}
	return out
}

// crowded reports whether a rank has more peers on one of the schedule's channels than an
// executor's channel serves.
func crowded(p *program.Program) bool {
	for r := range p.Ranks {
		peers := map[[2]int]int{} // by channel and direction
		seen := map[[3]int]bool{}
		for i := range p.Ranks[r] {
			s := &p.Ranks[r][i]
			way := int(min(s.Kind, schedule.Recv))
			if key := [3]int{s.Channel, s.Peer, way}; s.Peer >= 0 && !seen[key] {
				seen[key] = true
				if peers[[2]int{s.Channel, way}]++; peers[[2]int{s.Channel, way}] > maxPeers {
					return true
				}
			}
		}
	}
	return false
}

// numberChannels numbers the strands that occur.
func numberChannels(p *program.Program, st style) map[strand]int {
	out := map[strand]int{}
	for r, steps := range p.Ranks {
		for i := range steps {
			out[st.strand(p, r, &steps[i])] = 0
		}
	}
	for i, s := range slices.SortedFunc(maps.Keys(out), strand.compare) {
		out[s] = i
	}
	return out
}
