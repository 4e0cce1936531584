package mscclxml

import (
	"maps"

	"railyard/model/program"
	"railyard/model/schedule"
)

// stagesOf numbers, by channel and phase, what thread blocks may do of a plan without holding
// up its next piece: MSCCL goes through a large buffer in pieces, and a thread block that
// receives in one phase and sends on in a later one waits for what lies between. So phases
// are stages of their own; neighbouring ones over the same connections have nothing between
// them and stay together. nil where there is one stage in each channel.
func stagesOf(p *program.Program) [][]int {
	out, several := make([][]int, p.Channels), false
	for c, phases := range connections(p) {
		stage := 0
		for k, conns := range phases {
			if k > 0 && !maps.Equal(conns, phases[k-1]) {
				stage, several = k, true
			}
			out[c] = append(out[c], stage)
		}
	}
	if !several {
		return nil
	}
	return out
}

// connection is one direction of a rank's with a peer.
type connection struct {
	rank, peer int
	send       bool
}

// connections are what each phase of each channel uses.
func connections(p *program.Program) [][]map[connection]bool {
	out := make([][]map[connection]bool, p.Channels)
	for r, steps := range p.Ranks {
		for i := range steps {
			s := &steps[i]
			for s.Phase >= len(out[s.Channel]) {
				out[s.Channel] = append(out[s.Channel], map[connection]bool{})
			}
			if s.Peer >= 0 {
				out[s.Channel][s.Phase][connection{r, s.Peer, s.Kind == schedule.Send}] = true
			}
		}
	}
	return out
}
