package survey

import (
	"fmt"
	"slices"
	"strings"
)

// Product is a GPU as sold.
type Product struct {
	Name         string
	Major, Minor int      // compute capability
	Ports        int      // NVLinks; 0: none
	PCIe         int      // generation
	Devices      []string // PCI device ids (pci-ids.ucw.cz, vendors 10de and 1002, read 2026-11-28)
}

// products are what NVIDIA and AMD sell with links between GPUs or put into servers. AMD's have no compute capability, and what links they
// have is not known by their names.
var products = []Product{
	{"p100", 6, 0, 4, 3, []string{"0x15f9"}},
	{"v100", 7, 0, 6, 3, []string{"0x1db1", "0x1db3", "0x1db5", "0x1db8"}},
	{"v100-pcie", 7, 0, 0, 3, []string{"0x1db4", "0x1db6", "0x1df6"}},
	{"t4", 7, 5, 0, 3, []string{"0x1eb8"}},
	{"a100", 8, 0, 12, 4, []string{"0x20b0", "0x20b2"}},
	{"a100-pcie", 8, 0, 12, 4, []string{"0x20b1", "0x20b5", "0x20f1"}},
	{"a800", 8, 0, 8, 4, []string{"0x20bd", "0x20f3"}},
	{"a30", 8, 0, 4, 4, []string{"0x20b7"}},
	{"a10", 8, 6, 0, 4, []string{"0x2236", "0x2237"}},
	{"a40", 8, 6, 4, 4, []string{"0x2235"}},
	{"rtxa6000", 8, 6, 4, 4, []string{"0x2230"}},
	{"rtx3090", 8, 6, 4, 4, []string{"0x2204"}},
	{"l4", 8, 9, 0, 4, []string{"0x27b8"}},
	{"l40", 8, 9, 0, 4, []string{"0x26b5"}},
	{"l40s", 8, 9, 0, 4, []string{"0x26b9"}},
	{"rtx4090", 8, 9, 0, 4, []string{"0x2684"}},
	{"h100", 9, 0, 18, 5, []string{"0x2330", "0x2337", "0x2338", "0x2339"}},
	{"h100-pcie", 9, 0, 12, 5, []string{"0x2331"}},
	{"h100-nvl", 9, 0, 12, 5, []string{"0x2321"}},
	{"h800", 9, 0, 8, 5, []string{"0x2324"}},
	{"h20", 9, 0, 18, 5, []string{"0x2329", "0x232c"}},
	{"h200", 9, 0, 18, 5, []string{"0x2335"}},
	{"h200-nvl", 9, 0, 18, 5, []string{"0x233b"}},
	{"gh200", 9, 0, 18, 5, []string{"0x2342", "0x2348"}},
	{"b200", 10, 0, 18, 5, []string{"0x2901", "0x2909"}},
	{"gb200", 10, 0, 18, 5, []string{"0x2941"}},
	{"b300", 10, 3, 18, 6, []string{"0x3182"}},
	{"gb300", 10, 3, 18, 6, []string{"0x31c2", "0x31c3"}},
	{"rtx5090", 12, 0, 0, 5, []string{"0x2b85"}},
	{"rtxpro6000", 12, 0, 0, 5, []string{"0x2bb1", "0x2bb4", "0x2bb5"}},
	{"mi50", 0, 0, 0, 4, []string{"0x66a1"}},
	{"mi60", 0, 0, 0, 4, []string{"0x66a0"}},
	{"mi100", 0, 0, 0, 4, []string{"0x738c"}},
	{"mi210", 0, 0, 0, 4, []string{"0x740f", "0x7410"}},
	{"mi250x", 0, 0, 0, 4, []string{"0x7408", "0x740c"}},
	{"mi300a", 0, 0, 0, 5, []string{"0x74a0"}},
	{"mi300x", 0, 0, 0, 5, []string{"0x74a1", "0x74b5"}},
	{"mi325x", 0, 0, 0, 5, []string{"0x74a5", "0x74b9"}},
	{"mi350x", 0, 0, 0, 5, []string{"0x75a0"}},
	{"mi355x", 0, 0, 0, 5, []string{"0x75a3"}},
}

// archs are the architectures of AMD's products, by the beginnings of their names.
var archs = []struct{ product, arch string }{{"mi50", "gfx906"}, {"mi60", "gfx906"}, {"mi100", "gfx908"}, {"mi2", "gfx90a"},
	{"mi300", "gfx942"}, {"mi325", "gfx942"}, {"mi35", "gfx950"}}

// Arch is the architecture of one of AMD's, "" of others.
func (p Product) Arch() string {
	for _, a := range archs {
		if strings.HasPrefix(p.Name, a.product) {
			return a.arch
		}
	}
	return ""
}

// IsAMD reports whether the GPUs of a topology's model, which has the name of a product, are AMD's.
func IsAMD(model string) bool { return Product{Name: strings.ToLower(model)}.Arch() != "" }

// ProductNamed is the product of a name.
func ProductNamed(name string) (Product, error) {
	var all []string
	for _, p := range products {
		if p.Name == name {
			return p, nil
		}
		all = append(all, p.Name)
	}
	return Product{}, fmt.Errorf("GPU %q is not known: must be one of %s", name, strings.Join(all, ", "))
}

// ProductOf is the product of a PCI device id, such as 0x2330.
func ProductOf(device string) (Product, bool) {
	i := slices.IndexFunc(products, func(p Product) bool { return slices.Contains(p.Devices, strings.ToLower(device)) })
	if i < 0 {
		return Product{}, false
	}
	return products[i], true
}

// ProductWith is the first product whose modules have so many NVLinks.
func ProductWith(ports int) (Product, bool) {
	i := slices.IndexFunc(products, func(p Product) bool { return ports > 0 && p.Ports == ports })
	if i < 0 {
		return Product{}, false
	}
	return products[i], true
}
