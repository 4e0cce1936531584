package doctor

import (
	"slices"
	"strings"

	"railyard/model/health"
	"railyard/model/topology"
	"railyard/model/units"
)

// bindings adds how many processors each process on GPUs may use, and how many of these are near one of its GPUs.
func bindings(s *health.State) {
	near := map[string]map[int]bool{}
	for _, p := range s.Parts(health.GPU) {
		cpus, err := units.ParseRanges(p.Text("cpus"), topology.MaxProcessors)
		if err != nil || len(cpus) == 0 {
			continue
		}
		for _, pid := range strings.Fields(p.Text("processes")) {
			if near[pid] == nil {
				near[pid] = map[int]bool{}
			}
			for _, cpu := range cpus {
				near[pid][cpu] = true
			}
		}
	}
	for _, p := range s.Parts(health.Process) {
		may, err := units.ParseRanges(p.Text("cpus"), topology.MaxProcessors)
		if err != nil || len(may) == 0 {
			continue
		}
		s.Set(p, "may", float64(len(may)), derived)
		if n := len(near[p.Name]); n > 0 {
			far := slices.DeleteFunc(slices.Clone(may), func(cpu int) bool { return near[p.Name][cpu] })
			s.Set(p, "near", float64(len(may)-len(far)), derived)
			s.Set(p, "near_all", float64(n), derived)
		}
	}
}
