package doctor

import (
	"railyard/model/health"
	"railyard/sim/nccl"
	"railyard/study"
)

// graphs puts beside what NCCL's search found, by its dump, what it finds in the intended topology: of one node, or of two where the dump
// is of a job on several, whose channels are limited by adapters inside as well. Nothing where NCCL does not run there, or where the job
// had some of the node's GPUs only.
func graphs(s *health.State, site study.Site) {
	for _, p := range s.Parts(health.Graph) {
		_, several := p.Fact("between")
		nodes := 1
		if several {
			nodes = 2
		}
		t, err := site.Part(nodes, 0)
		if err == nil && nodes*int(p.Number("gpus")) != t.NumRanks() {
			s.Note("%v is of %g of %d GPUs and not judged", p, p.Number("gpus"), t.NumRanks()/nodes)
			continue
		}
		var m *nccl.Model
		if err == nil {
			m, err = nccl.New(t, nccl.Options{})
		}
		if err != nil {
			s.Note("%v is not judged: %v", p, err)
			continue
		}
		g := m.Ring()
		if p.Name == "tree" {
			g = m.Tree()
		}
		n, from := float64(g.Channels), "topology "+t.Name()
		s.Set(p, "channels_intended", n, from)
		if several {
			s.Set(p, "between_intended", n*g.BWInter, from)
			s.Set(p, "way_between_intended", g.TypeInter, from)
			continue
		}
		s.Set(p, "inside_intended", n*g.BWIntra, from)
		s.Set(p, "way_intended", g.TypeIntra, from)
	}
}
