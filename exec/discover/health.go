package discover

import (
	"fmt"

	"railyard/model/health"
)

// Health adds what the driver's library says of the machine to what is known of it.
func Health(s *health.State, l Library) error {
	const from = "NVML"
	gpus, err := l.GPUs()
	if err != nil {
		return err
	}
	host := s.Host()
	s.Say(host, "driver", l.Driver(), from)
	s.Say(host, "gpus", float64(len(gpus)), from)
	for i := range gpus {
		g, p := &gpus[i], s.GPU(i)
		s.Say(p, "product", g.Name, from)
		s.Say(p, "bus", g.Bus, from)
		s.Say(p, "memory", float64(g.Memory), from)
		up := 0
		for n, port := range g.Ports {
			s.Say(s.Part(health.NVLink, fmt.Sprintf("%d/%d", i, n)), "up", port.Up, from)
			if port.Up {
				up++
			}
		}
		s.Say(p, "links", float64(len(g.Ports)), from)
		s.Say(p, "links_up", float64(up), from)
	}
	return nil
}
