package doctor

import (
	"cmp"
	"slices"
	"strings"

	"railyard/model/health"
	"railyard/model/survey"
)

// derived is where worked out facts come from.
const derived = "derived"

// derive adds facts that follow from others: what lspci knows of GPUs and adapters, rates of PCIe, which adapters jobs use, and what
// is normal among like parts.
func derive(s *health.State) {
	for _, kind := range []health.Kind{health.GPU, health.NIC} {
		for _, p := range s.Parts(kind) {
			adopt(s, p)
			if _, known := p.Fact("pcie_width"); known {
				p.Remove("pcie_line") // a file says the same in other words
			}
			l := survey.Lanes{Generation: int(p.Number("pcie_gen")), Width: int(p.Number("pcie_width"))}
			if r := l.Rate(); r > 0 {
				s.Set(p, "pcie_rate", r.GBps(), derived)
			}
		}
	}
	for _, kind := range []health.Kind{health.GPU, health.NIC, health.PCI} {
		for _, p := range s.Parts(kind) {
			ableTo(s, p, "pcie_width_max", "pcie_width_slot", "pcie_width_able")
		}
	}
	for _, p := range s.Parts(health.GPU) {
		ableTo(s, p, "pcie_gen_device", "pcie_gen_slot", "pcie_gen_able")
	}
	wired(s)
	if v, ok := s.Host().Fact("gpus"); ok {
		s.Say(s.Host(), "gpus_seen", max(s.Host().Number("gpus"), s.Host().Number("gpus_on_pci")), v.From)
	}
	adapters(s)
	affinity(s)
	bindings(s)
	normalDistance(s)
	normalLinks(s)
}

// ableTo says what a device and its slot can both, or the device alone where nothing is known of its slot.
func ableTo(s *health.State, p *health.Part, own, slot, able string) {
	v, known := p.Fact(own)
	if !known {
		return
	}
	most := v.Is.(float64)
	if _, known := p.Fact(slot); known {
		most = min(most, p.Number(slot))
	}
	s.Set(p, able, most, derived)
}

// wired says of GPUs whether it is known that their lanes are wired: by their slots, by the intended topology, or since another GPU uses as
// many. Clouds and boards wire fewer than some cards have (eight of sixteen to a T4 or an A10G).
func wired(s *health.State) {
	most := 0.0
	for _, p := range s.Parts(health.GPU) {
		most = max(most, p.Number("pcie_width"))
	}
	for _, p := range s.Parts(health.GPU) {
		if _, able := p.Fact("pcie_width_able"); able {
			_, slot := p.Fact("pcie_width_slot")
			_, intended := p.Fact("pcie_line_intended")
			s.Set(p, "pcie_wired", slot || intended || most >= p.Number("pcie_width_able"), derived)
		}
	}
}

// normalLinks are the most links to others that are up at any GPU, unless the intended topology says; and what they are called.
func normalLinks(s *health.State) {
	gpus := s.Parts(health.GPU)
	most := 0.0
	for _, p := range gpus {
		most = max(most, p.Number("links_up"))
	}
	called := "NVLinks"
	if s.Host().Text("maker") == health.AMD {
		called = "links of Infinity Fabric"
	}
	for _, p := range gpus {
		if _, said := p.Fact("links_normal"); !said && most > 0 {
			s.Say(p, "links_normal", most, derived)
		}
		s.Set(p, "links_called", called, derived)
	}
}

// adopt gives a part what is known of the PCI device at its address, where nobody said it of the part.
func adopt(s *health.State, p *health.Part) {
	bus := p.Text("bus")
	if bus == "" {
		return
	}
	if p.Kind == health.GPU && !s.Has(health.PCI, bus) && slices.ContainsFunc(s.Parts(health.PCI), isGPU) {
		s.Note("%v is at %s, where the list of PCI devices has other GPUs and none there: files of two machines, or a lost "+
			"GPU", p, bus)
	}
	at := s.Part(health.PCI, bus)
	for _, fact := range []string{"pcie_width", "pcie_width_max", "pcie_width_slot", "pcie_gen", "pcie_gen_max", "pcie_gen_slot", "numa"} {
		if _, known := p.Fact(fact); known {
			continue
		}
		if v, ok := at.Fact(fact); ok {
			s.Say(p, fact, v.Is, v.From)
		}
	}
}

// isGPU reports whether a PCI device is a GPU of NVIDIA's, as lspci calls them.
func isGPU(p *health.Part) bool {
	what := p.Text("device")
	return strings.Contains(what, "NVIDIA") && (strings.HasPrefix(what, "3D") || strings.HasPrefix(what, "VGA"))
}

// adapters tells which adapters jobs use: those of the type and network that has the fastest active ports, the most of several such:
// storage may have the same type over Ethernet.
func adapters(s *health.State) {
	type kind struct {
		rate   float64
		active int
	}
	kinds, firmware := map[string]kind{}, map[string]int{}
	nics := s.Parts(health.NIC)
	for _, p := range nics {
		if p.Text("state") == "Active" {
			k := kinds[network(p)]
			k.rate, k.active = max(k.rate, p.Number("rate")), k.active+1
			kinds[network(p)] = k
		}
	}
	names := keys(kinds)
	if len(names) == 0 {
		return
	}
	best := slices.MaxFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(kinds[a].rate, kinds[b].rate), cmp.Compare(kinds[a].active, kinds[b].active))
	})
	for _, p := range nics {
		used := network(p) == best
		s.Set(p, "used", used, derived)
		if used {
			s.Set(p, "rate_like", kinds[best].rate, derived)
			firmware[p.Text("firmware")]++
		}
	}
	s.Set(s.Host(), "nics_used", float64(kinds[best].active), derived)
	most := slices.MaxFunc(keys(firmware), func(a, b string) int { return cmp.Compare(firmware[a], firmware[b]) })
	s.Set(s.Host(), "nic_firmware", most, derived)
}

// network is what adapters have in common that one job can use together.
func network(p *health.Part) string { return p.Text("type") + " " + p.Text("layer") }

func keys[V any](m map[string]V) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// normalDistance is how far most GPUs are from their adapters, unless the intended topology says.
func normalDistance(s *health.State) {
	var all []float64
	gpus := s.Parts(health.GPU)
	for _, p := range gpus {
		if v, ok := p.Fact("nic_far"); ok {
			all = append(all, v.Is.(float64))
			s.Set(p, "nic_where", health.PathWords(int(v.Is.(float64))), derived)
		}
	}
	if len(all) < 3 {
		return
	}
	slices.Sort(all)
	for _, p := range gpus {
		if _, said := p.Fact("nic_far_normal"); !said {
			s.Say(p, "nic_far_normal", all[len(all)/2], derived)
		}
	}
}
