package smitopo

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"railyard/model/survey"
	"railyard/model/topology"
	"railyard/model/units"
)

// Node is the machine, to be written as a topology file. The matrix says neither which GPUs they are nor
// any rate: product names them; the zero Product has them taken by the number of their NVLinks, and says so.
func (m *Matrix) Node(product survey.Product) (*survey.Node, error) {
	b := &builder{Matrix: m, n: &survey.Node{Name: "imported", Source: "nvidia-smi topo -m", By: "assumed", PCI: map[string]survey.PCI{}}}
	links, switched := b.nvlinks()
	if product.Name == "" && links > 0 {
		var ok bool
		if product, ok = survey.ProductWith(links); !ok {
			return nil, fmt.Errorf("which GPU has %d NVLinks is not known to this version: name it with --how gpu=h100", links)
		}
		b.note("the GPUs are assumed to be %s by their %d NVLinks: --how gpu=… says another", product.Name, links)
	}
	if product.Name == "" {
		b.note("which GPUs they are is not said: name them with --how gpu=…")
	}
	lanes := survey.Lanes{Generation: cmp.Or(product.PCIe, 4), Width: 16}
	b.gpus(product, lanes, switched)
	b.tree(lanes)
	return b.n, nil
}

// builder makes the machine.
type builder struct {
	*Matrix
	n *survey.Node
}

func (b *builder) note(format string, args ...any) {
	b.n.Notes = append(b.n.Notes, fmt.Sprintf(format, args...))
}

// ports are the most NVLinks that a GPU of any product has.
const ports = 18

// nvlinks are how many NVLinks a GPU has, and whether they lead to switches: over these a GPU reaches each other one with
// all its links, or with all of that one's, which together is more than it has.
func (b *builder) nvlinks() (links int, switched bool) {
	n := b.GPUs()
	most, all := make([]int, n), 0
	for i := range n {
		sum := 0
		for j := range n {
			most[i], sum = max(most[i], b.Cells[i][j].Links), sum+b.Cells[i][j].Links
		}
		all = max(all, sum)
	}
	for i := range n {
		for j := range i {
			if b.Cells[i][j].Links != min(most[i], most[j]) {
				return all, false
			}
		}
	}
	if links = slices.Max(append(most, 0)); all > ports || links == ports {
		return links, true
	}
	return all, false
}

// gpus are the GPUs with their NVLinks.
func (b *builder) gpus(product survey.Product, lanes survey.Lanes, switched bool) {
	n := b.GPUs()
	for i := range n {
		g := survey.GPU{Name: cmp.Or(product.Name, "gpu"), Bus: b.Devices[i].Name, Major: product.Major, Minor: product.Minor,
			PCIe: lanes, Peers: make([]survey.Peer, n)}
		up := 0
		for j := range n {
			c := b.Cells[i][j]
			g.Peers[j] = survey.Peer{NVLink: c.Kind == NV, PCIe: true}
			if up = max(up, c.Links); switched {
				continue
			}
			for range c.Links {
				g.Ports = append(g.Ports, survey.Port{Up: true, End: survey.EndGPU, Bus: b.Devices[j].Name})
			}
		}
		for range up {
			if switched {
				g.Ports = append(g.Ports, survey.Port{Up: true, End: survey.EndSwitch})
			}
		}
		b.n.GPUs = append(b.n.GPUs, g)
	}
}

// tree hangs GPUs and adapters on PCIe switches and NUMA nodes.
func (b *builder) tree(lanes survey.Lanes) {
	b.note("PCIe rates are not said: x%d of generation %d is assumed everywhere", lanes.Width, lanes.Generation)
	if b.some(NV) { // which hides how GPUs are joined by PCIe
		b.note("how GPUs joined by NVLink are joined by PCIe is not said: of their PCIe switches only those are drawn that adapters show")
	}
	shared, upper, numa := b.classes(PIX), b.classes(PIX, PXB), b.numa()
	roots := b.roots(numa)
	for i, d := range b.Devices {
		p := survey.PCI{Lanes: lanes, CPU: numa[i], Root: roots[i]}
		inside, below := count(shared, shared[i]) > 1, count(upper, upper[i]) > count(shared, shared[i])
		if inside || below {
			p.Above = append(p.Above, "switch of "+b.Devices[shared[i]].Name)
		}
		if below {
			p.Above = append(p.Above, "switch above "+b.Devices[upper[i]].Name)
		}
		b.n.PCI[d.Name] = p
		for _, up := range p.Above {
			b.n.PCI[up] = survey.PCI{Lanes: lanes, CPU: numa[i]}
		}
		if !d.GPU {
			b.n.Adapters = append(b.n.Adapters, survey.Adapter{Name: cmp.Or(d.Adapter, "adapter"), Bus: d.Name})
		}
	}
	b.n.CPUs = slices.Max(numa) + 1
	b.n.Processors = make([]string, b.n.CPUs)
	for i, d := range b.Devices {
		if _, err := units.ParseRanges(d.CPUs, topology.MaxProcessors); err == nil && d.GPU && b.n.Processors[numa[i]] == "" {
			b.n.Processors[numa[i]] = d.CPUs
		}
	}
	if len(b.n.Adapters) > 0 {
		b.note("the adapters' rates are not said: a fabric has to name them")
	}
}

// roots are names of the host bridges that devices stand at: those that switches or PHB join share one, and NODE parts them from others; ""
// of those of which neither is said.
func (b *builder) roots(numa []int) []string {
	of := b.classes(PIX, PXB, PHB)
	names, said := make([]string, len(b.Devices)), map[int]bool{}
	for i, row := range b.Cells {
		for j, c := range row {
			if i == j || numa[i] != numa[j] || c.Kind != PHB && c.Kind != NODE {
				continue
			}
			if c.Kind == NODE && of[i] == of[j] {
				b.note("which devices share a PCIe host bridge is said in two ways, and left out")
				return make([]string, len(b.Devices))
			}
			said[of[i]] = true
		}
	}
	for i, class := range of {
		if said[class] {
			names[i] = "root of " + b.Devices[class].Name
		}
	}
	return names
}

// some reports whether any devices are joined so.
func (m *Matrix) some(kind Kind) bool {
	return slices.ContainsFunc(m.Cells, func(row []Cell) bool {
		return slices.ContainsFunc(row, func(c Cell) bool { return c.Kind == kind })
	})
}

// classes are the devices that connections of some kinds join, each by the first of its class.
func (b *builder) classes(kinds ...Kind) []int {
	of := make([]int, len(b.Devices))
	for i := range of {
		of[i] = i
	}
	for i, row := range b.Cells {
		for j, c := range row {
			if slices.Contains(kinds, c.Kind) {
				merge(of, i, j)
			}
		}
	}
	return of
}

// merge makes two classes one.
func merge(of []int, a, b int) {
	keep, drop := min(of[a], of[b]), max(of[a], of[b])
	for i, c := range of {
		if c == drop {
			of[i] = keep
		}
	}
}

func count(of []int, class int) (n int) {
	for _, c := range of {
		if c == class {
			n++
		}
	}
	return n
}

// numa is the NUMA node of each device, dense: those that no way between NUMA nodes parts, and GPUs near the same processors.
func (b *builder) numa() []int {
	of := b.classes(PIX, PXB, PHB, NODE)
	for i, d := range b.Devices {
		for j := range i {
			if o := b.Devices[j]; d.CPUs != "" && d.CPUs == o.CPUs && d.NUMA == o.NUMA {
				merge(of, i, j)
			}
		}
	}
	var order []int
	for _, class := range of {
		if !slices.Contains(order, class) {
			order = append(order, class)
		}
	}
	slices.SortStableFunc(order, func(x, y int) int { return cmp.Compare(b.number(of, x), b.number(of, y)) })
	out := make([]int, len(of))
	for i, class := range of {
		out[i] = slices.Index(order, class)
	}
	return out
}

// number is the NUMA node that a class's GPUs name; those that name none come last.
func (b *builder) number(of []int, class int) int {
	for i, d := range b.Devices {
		if n, err := strconv.Atoi(d.NUMA); err == nil && of[i] == class {
			return n
		}
	}
	return 1 << 20
}
