package nccltopo

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"railyard/model/survey"
	"railyard/model/topology"
	"railyard/model/units"
)

// Hosts are those that a file describes, in the order of their ranks, to be written as a topology file: one, or several whose GPUs are on
// the same NVSwitches.
func (s *System) Hosts() (out []*survey.Node, err error) {
	var first []int // rank of each host
	for _, name := range s.hosts() {
		cpus := slices.DeleteFunc(slices.Clone(s.CPUs), func(c CPU) bool { return c.Host != name })
		n, rank, err := node(cpus)
		if err != nil {
			return nil, err
		}
		at := 0
		for at < len(first) && first[at] <= rank {
			at++
		}
		out, first = slices.Insert(out, at, n), slices.Insert(first, at, rank)
	}
	return out, nil
}

// Node is the host of a file of one.
func (s *System) Node() (*survey.Node, error) {
	hosts, err := s.Hosts()
	switch {
	case err != nil:
		return nil, err
	case len(hosts) > 1:
		return nil, fmt.Errorf("it is of %d hosts: a machine is one; railyard import reads all", len(hosts))
	}
	return hosts[0], nil
}

// hosts are the hashes of a file's hosts, in its order.
func (s *System) hosts() (out []string) {
	for i := range s.CPUs {
		if !slices.Contains(out, s.CPUs[i].Host) {
			out = append(out, s.CPUs[i].Host)
		}
	}
	return out
}

// node is the host with some CPUs, and the first rank on it.
func node(cpus []CPU) (n *survey.Node, rank int, err error) {
	b := &builder{n: &survey.Node{Name: "imported", Source: "NCCL's topology file", By: "NCCL", CPUs: len(cpus), Vendor: vendor(&cpus[0]),
		PCI: map[string]survey.PCI{}}, rank: math.MaxInt}
	for i := range cpus {
		c := &cpus[i]
		b.n.Processors = append(b.n.Processors, processors(c.Affinity))
		for j := range c.PCI {
			b.device(&c.PCI[j], i, nil)
		}
		for _, x := range c.Nets { // each process puts it under its own processor
			if slices.ContainsFunc(b.nets, func(o foundNet) bool { return o.dev == x.Dev && o.adapter.Name == x.Name }) {
				continue
			}
			b.net(x, "cpu"+strconv.Itoa(i)+" "+x.Name, survey.PCI{CPU: i})
		}
	}
	if len(b.gpus) == 0 {
		return nil, 0, fmt.Errorf("no gpu element, and no PCI device of a GPU's class: there is nothing to plan for; a file that leaves " +
			"devices to NCCL is whole where NCCL has written it (NCCL_TOPO_DUMP_FILE)")
	}
	slices.SortStableFunc(b.gpus, func(a, c found) int { return cmp.Compare(a.dev, c.dev) })
	for _, g := range b.gpus {
		b.n.GPUs = append(b.n.GPUs, g.gpu)
	}
	b.unsaid()
	slices.SortStableFunc(b.nets, func(a, c foundNet) int { return cmp.Compare(a.dev, c.dev) })
	for _, x := range b.nets {
		b.n.Adapters = append(b.n.Adapters, x.adapter)
	}
	if slices.ContainsFunc(b.n.GPUs, func(g survey.GPU) bool { return g.C2C }) {
		b.n.Vendor = survey.Grace
	}
	b.peers()
	return b.n, b.rank, nil
}

// processors are those of a mask in parts of 32 bits, the highest first, as ranges; "" where it is none.
func processors(mask string) string {
	var out []int
	parts := strings.Split(mask, ",")
	for i := range parts {
		bits, err := strconv.ParseUint(parts[len(parts)-1-i], 16, 32)
		if err != nil || 32*(i+1) > topology.MaxProcessors {
			return ""
		}
		for b := range 32 {
			if bits&(1<<b) != 0 {
				out = append(out, 32*i+b)
			}
		}
	}
	return units.Ranges(out, ",")
}

// vendor is the processor as model/survey knows it.
func vendor(c *CPU) string {
	switch {
	case c.Vendor == "GenuineIntel":
		return fmt.Sprintf("GenuineIntel %d", c.Model)
	case c.Arch == "ppc64":
		return "POWER9"
	}
	return c.Vendor
}

// builder gathers what hangs in the tree.
type builder struct {
	n       *survey.Node
	gpus    []found
	nets    []foundNet
	rank    int      // the least
	bare    []string // addresses of GPUs of which no gpu element says more
	unnamed []string // and of those of an unknown model
	silent  int      // adapters of which no net element says more
}

type found struct {
	dev int
	gpu survey.GPU
}

type foundNet struct {
	dev     int
	adapter survey.Adapter
}

// device takes a PCI device with what hangs on it; above are the switches over it, nearest first.
func (b *builder) device(p *PCI, cpu int, above []string) {
	at := survey.PCI{Above: above, Lanes: lanes(p), CPU: cpu}
	b.n.PCI[p.Bus] = at
	if p.graphics() {
		b.gpu(p)
	}
	for _, x := range p.Nets {
		b.net(x, p.Bus, at)
	}
	if p.network() && len(p.Nets) == 0 {
		b.silent++
		b.nets = append(b.nets, foundNet{len(b.nets), survey.Adapter{Name: "adapter", Bus: p.Bus}})
	}
	if !p.bridge() {
		return
	}
	below := append([]string{p.Bus}, above...)
	for i := range p.PCI {
		b.device(&p.PCI[i], cpu, below)
	}
}

func lanes(p *PCI) survey.Lanes {
	number, _, _ := strings.Cut(p.Speed, " ")
	speed, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return survey.Lanes{Width: p.Width}
	}
	return survey.Lanes{Generation: survey.PCIeGeneration(speed), Width: p.Width}
}

func (b *builder) gpu(p *PCI) {
	product, known := survey.ProductOf(p.Device)
	g := survey.GPU{Name: product.Name, Bus: p.Bus, Major: product.Major, Minor: product.Minor, PCIe: lanes(p)}
	dev := len(b.gpus)
	if p.GPU != nil {
		if p.GPU.Rank >= 0 {
			b.rank = min(b.rank, p.GPU.Rank)
		}
		dev, g.Arch, g.Major, g.Minor, g.C2C = p.GPU.Dev, p.GPU.Arch, p.GPU.SM/10, p.GPU.SM%10, p.GPU.C2C
		for _, l := range p.GPU.NVLinks {
			port := survey.Port{Up: true, End: end(l.Class), Bus: l.Target}
			if l.Target == hidden {
				port.Bus, port.End = "", survey.EndSwitch
			}
			for range l.Count {
				g.Ports = append(g.Ports, port)
			}
		}
	} else {
		b.bare = append(b.bare, p.Bus)
	}
	if !known {
		if g.Name = cmp.Or(g.Arch, "gpu"); g.Major > 0 {
			g.Name = fmt.Sprintf("sm_%d%d", g.Major, g.Minor)
		}
		b.unnamed = append(b.unnamed, strings.TrimSpace(p.Bus+" "+p.Device))
	}
	b.gpus = append(b.gpus, found{dev, g})
}

// unsaid notes what a hand-written file leaves to NCCL.
func (b *builder) unsaid() {
	if len(b.bare) > 0 {
		b.note("no gpu element at %s: which NVLinks are there is not said, none are drawn", strings.Join(b.bare, ", "))
	}
	if len(b.unnamed) > 0 {
		b.note("the models of the GPUs at %s are not said, or not known to this version: --how gpu=… names them",
			strings.Join(b.unnamed, ", "))
	}
	if b.silent > 0 {
		b.note("the rates of %s are not said: a fabric has to name them", units.Counted(b.silent, "adapter"))
	}
}

// Take names the model of GPUs that the file does not name; false where it names all.
func (s *System) Take(p survey.Product) (taken bool) {
	for i := range s.CPUs {
		taken = take(s.CPUs[i].PCI, p) || taken
	}
	return taken
}

func take(list []PCI, p survey.Product) (taken bool) {
	for i := range list {
		x := &list[i]
		if _, known := survey.ProductOf(x.Device); x.graphics() && !known {
			x.Device, taken = p.Devices[0], true
		}
		taken = take(x.PCI, p) || taken
	}
	return taken
}

// end is what NVLinks lead to, by PCI class as NCCL tells it (src/graph/topo.cc).
func end(class string) survey.End {
	switch {
	case strings.HasPrefix(class, "0x068000"):
		return survey.EndSwitch
	case strings.HasPrefix(class, "0x068001"):
		return survey.EndCPU
	case len(class) >= 6 && slices.Contains([]string{"0x0302", "0x0300", "0x0380", "0x1200"}, class[:6]):
		return survey.EndGPU
	}
	return survey.EndUnknown
}

// net adds an adapter; further ports of one adapter share its connection and are drawn as adapters of their own.
func (b *builder) net(x Net, bus string, at survey.PCI) {
	key := bus
	if _, device := b.n.PCI[bus]; device && slices.ContainsFunc(b.nets, func(o foundNet) bool { return o.adapter.Bus == bus }) {
		key = fmt.Sprintf("%s port %d", bus, x.Port)
		b.note("%s is a further port of the adapter at %s: both are drawn, and that they share its PCIe lanes is not", x.Name, bus)
	}
	b.n.PCI[key] = at
	b.nets = append(b.nets, foundNet{x.Dev, survey.Adapter{Name: x.Name, Bus: key, Layer: "net", Rate: units.Rate(x.Mbps) * 1e6 / 8}})
}

// peers says which GPUs reach one another over NVLink: where both are at switches, all of them do.
func (b *builder) peers() {
	switched := func(g *survey.GPU) bool {
		return slices.ContainsFunc(g.Ports, func(p survey.Port) bool { return p.End == survey.EndSwitch })
	}
	for i := range b.n.GPUs {
		g := &b.n.GPUs[i]
		g.Peers = make([]survey.Peer, len(b.n.GPUs))
		for j := range b.n.GPUs {
			o := &b.n.GPUs[j]
			direct := slices.ContainsFunc(g.Ports, func(p survey.Port) bool { return p.Bus == o.Bus && p.Bus != "" })
			g.Peers[j] = survey.Peer{NVLink: direct || switched(g) && switched(o), PCIe: true}
		}
	}
}

func (b *builder) note(format string, args ...any) {
	b.n.Notes = append(b.n.Notes, fmt.Sprintf(format, args...))
}
