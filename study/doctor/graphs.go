package doctor

import (
	"railyard/model/health"
	"railyard/sim/nccl"
	"railyard/study"
)

// graphs puts beside what NCCL's search found, by its dump, what it finds in the intended topology: on as
// many GPUs of one node, or of two where the dump is of a job on several. Nothing where NCCL does not run there.
func graphs(s *health.State, site study.Site) {
	for _, p := range s.Parts(health.Graph) {
		nodes := 1
		if _, several := p.Fact("between"); several {
			nodes = 2
		}
		t, err := site.Part(nodes, int(p.Number("gpus")))
		if err != nil {
			s.Note("%v are not compared with those of %s: %v", p, site.Name, err)
			continue
		}
		m, err := nccl.New(t, nccl.Options{})
		if err != nil {
			s.Note("%v are not compared with those of %s: %v", p, site.Name, err)
			continue
		}
		g := m.Ring()
		if p.Name == "tree" {
			g = m.Tree()
		}
		n, from := float64(g.Channels), "topology "+t.Name()
		s.Set(p, "channels_intended", n, from)
		s.Set(p, "inside_intended", n*g.BWIntra, from)
		s.Set(p, "between_intended", n*g.BWInter, from)
		s.Set(p, "way_intended", g.TypeIntra, from)
		s.Set(p, "way_between_intended", g.TypeInter, from)
	}
}
