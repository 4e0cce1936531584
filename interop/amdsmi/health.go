package amdsmi

import (
	"bytes"
	"maps"
	"slices"
	"strings"

	"railyard/model/health"
	"railyard/model/survey"
)

// ReadHealth adds what the outputs say of a machine's GPUs: PCI addresses, products, which others they reach, links of Infinity Fabric
// where their number is said, NUMA nodes, lanes and memory.
func ReadHealth(s *health.State, file string, data []byte) error {
	m, err := Read(bytes.NewReader(data))
	if err != nil {
		return err
	}
	if m.counted() {
		s.Say(s.Host(), "gpus", float64(len(m.GPUs)), file)
	}
	s.Say(s.Host(), "maker", health.AMD, file)
	for i := range m.GPUs {
		m.say(s, i, file)
	}
	return nil
}

// counted reports whether outputs tell how many GPUs there are: metrics and links are often asked of some.
func (m *Machine) counted() bool {
	named := func(g GPU) bool { return g.Product != "" || g.Device != "" || g.Arch != "" }
	return m.Cells != nil || slices.ContainsFunc(m.GPUs, named)
}

func (m *Machine) say(s *health.State, gpu int, from string) {
	p, g := s.GPU(gpu), &m.GPUs[gpu]
	product := g.Product
	if x, ok := g.ProductOf(); ok && product == "" {
		product = strings.ToUpper(x.Name)
	}
	for _, f := range []struct{ name, text string }{{"bus", g.Bus}, {"product", product}} {
		if f.text != "" {
			s.Say(p, f.name, f.text, from)
		}
	}
	for _, f := range []struct {
		name string
		x    float64
	}{{"pcie_width_max", float64(g.Lanes)}, {"pcie_gen_device", float64(survey.PCIeGeneration(g.GTs))}, {"power_limit", g.Power},
		{"memory", g.Memory * (1 << 20)}} {
		if f.x > 0 {
			s.Say(p, f.name, f.x, from)
		}
	}
	if g.NUMA >= 0 {
		s.Say(p, "numa", float64(g.NUMA), from)
	}
	for _, fact := range slices.Sorted(maps.Keys(g.Facts)) {
		s.Say(p, fact, g.Facts[fact], from)
	}
	if up, known := m.linked(gpu); known {
		s.Say(p, "links_up", float64(up), from)
	}
	if m.access {
		s.Say(p, "peers_reached", float64(m.reached(gpu)), from)
	}
}

// reached is how many others' memory a GPU reaches.
func (m *Machine) reached(gpu int) (n int) {
	for j, c := range m.Cells[gpu] {
		if j != gpu && !c.Off {
			n++
		}
	}
	return n
}
