package amdsmi

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"railyard/model/survey"
)

// Node is the machine, to be written as a topology file. The zero Product has the GPUs be what the outputs say.
func (m *Machine) Node(product survey.Product) (*survey.Node, error) {
	if !m.paths {
		return nil, errors.New("how GPUs are joined is not said: give what rocm-smi --showtopo or amd-smi topology prints")
	}
	b := &builder{Machine: m, n: &survey.Node{Name: "imported", Source: "rocm-smi or amd-smi", By: "assumed", PCI: map[string]survey.PCI{}}}
	b.tree(product)
	if err := b.gpus(product); err != nil {
		return nil, err
	}
	b.unsaid()
	return b.n, nil
}

// builder makes the machine.
type builder struct {
	*Machine
	n *survey.Node
}

func (b *builder) note(format string, args ...any) {
	b.n.Notes = append(b.n.Notes, fmt.Sprintf(format, args...))
}

// ProductOf is what a GPU is, as far as it is said.
func (g *GPU) ProductOf() (survey.Product, bool) { return survey.ProductOf(g.Device) }

// gpus are the GPUs with their links.
func (b *builder) gpus(product survey.Product) error {
	for i := range b.GPUs {
		g := &b.GPUs[i]
		own := product
		if p, ok := g.ProductOf(); own.Name == "" && ok {
			own = p
		}
		x := survey.GPU{Name: cmp.Or(own.Name, g.Product, "gpu"), Bus: g.name(i), Arch: cmp.Or(g.Arch, own.Arch()),
			PCIe: b.n.PCI[g.name(i)].Lanes, Peers: make([]survey.Peer, len(b.GPUs))}
		for j := range b.GPUs {
			c := b.Cells[i][j]
			x.Peers[j] = survey.Peer{NVLink: c.Kind == XGMI, PCIe: !c.Off}
			for range b.Links(i, j) {
				x.Ports = append(x.Ports, survey.Port{Up: true, End: survey.EndGPU, Bus: b.GPUs[j].name(j)})
			}
		}
		if len(x.Ports) > 0 && x.Arch == "" {
			return errors.New("which GPUs they are is not said, and so is not the rate of their links: name them with --how gpu=mi300x, " +
				"or put what amd-smi static prints into the file as well")
		}
		b.n.GPUs = append(b.n.GPUs, x)
	}
	return nil
}

// tree hangs the GPUs on processors.
func (b *builder) tree(product survey.Product) {
	numa := b.numa()
	for i := range b.GPUs {
		g := &b.GPUs[i]
		lanes := survey.Lanes{Generation: survey.PCIeGeneration(g.GTs), Width: min(g.Lanes, 16)}
		if p, ok := g.ProductOf(); lanes.Generation == 0 && ok {
			lanes.Generation = p.PCIe
		}
		lanes.Generation = cmp.Or(lanes.Generation, product.PCIe)
		b.n.PCI[g.name(i)] = survey.PCI{Lanes: lanes, CPU: numa[i]}
	}
	b.n.CPUs = slices.Max(numa) + 1
}

// numa is the NUMA node of each GPU, dense: as it is said, else as those that a way over two processors parts.
func (b *builder) numa() []int {
	of := make([]int, len(b.GPUs))
	for i := range of {
		of[i] = b.GPUs[i].NUMA
	}
	if slices.Contains(of, -1) {
		b.note("which processor each GPU is near is not said by all: those are taken for one's that no way over two processors parts")
		for i := range of {
			for of[i] = 0; b.parted(of, i); of[i]++ {
			}
		}
	}
	order := slices.Compact(slices.Sorted(slices.Values(of)))
	for i := range of {
		of[i], _ = slices.BinarySearch(order, of[i])
	}
	return of
}

// parted reports whether a way over two processors leads from a GPU to one that is said to be near the same.
func (b *builder) parted(of []int, gpu int) bool {
	for j, c := range b.Cells[gpu][:gpu] {
		if of[j] == of[gpu] && c.Hops > 2 {
			return true
		}
	}
	return false
}

// unsaid notes what AMD's tools do not say.
func (b *builder) unsaid() {
	b.note("PCIe switches and network adapters are not said: GPUs are drawn at their processor, without adapters")
	linked := slices.ContainsFunc(b.n.GPUs, func(g survey.GPU) bool { return len(g.Ports) > 0 })
	if linked && !b.rated() {
		b.note("how many links of Infinity Fabric join two GPUs is not said: one each is assumed")
	}
	for i, row := range b.Cells {
		for j := range row[:i] {
			if row[j].Kind == XGMI && !b.Direct(i, j) {
				b.note("gpu%d and gpu%d reach each other over other GPUs, as all pairs of a weight above %d or without a rate of their own",
					j, i, directWeight)
				return
			}
		}
	}
}
