package ncclgraph

import (
	"bytes"

	"railyard/model/health"
)

// Is reports whether a file is one of graphs.
func Is(data []byte) bool { return bytes.Contains(data[:min(len(data), 1024)], []byte("<graphs ")) }

// ReadHealth adds what the channels of rings and trees carry to what is known of a machine: as NCCL's search found them.
func ReadHealth(s *health.State, file string, data []byte) error {
	g, err := Read(bytes.NewReader(data))
	if err != nil {
		return err
	}
	for i := range g.Graphs {
		x := &g.Graphs[i]
		name := map[int]string{RingID: "ring", TreeID: "tree"}[x.ID]
		if name == "" || len(x.Channels) == 0 {
			continue
		}
		p, n := s.Part(health.Graph, name), float64(len(x.Channels))
		s.Say(p, "channels", n, file)
		s.Say(p, "gpus", float64(len(x.Channels[0].GPUs)), file)
		if len(x.Channels[0].GPUs) > 1 {
			s.Say(p, "inside", n*x.SpeedIntra, file)
			s.Say(p, "way", x.TypeIntra, file)
		}
		if len(x.Channels[0].Nets) > 0 {
			s.Say(p, "between", n*x.SpeedInter, file)
			s.Say(p, "way_between", x.TypeInter, file)
		}
	}
	return nil
}
