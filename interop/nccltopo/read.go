package nccltopo

import (
	"fmt"
	"io"
	"math"
	"strings"

	"railyard/interop/foreign"
)

// Read reads a file and validates it.
func Read(r io.Reader) (*System, error) {
	data, err := foreign.Read(r, 16)
	if err != nil {
		return nil, err
	}
	p := &parser{}
	x := foreign.XML{What: "topology file of NCCL", Open: p.open,
		Parents: map[string]string{"system": "", "cpu": "system", "pci": "cpu|pci", "pcilink": "pci", "gpu": "pci", "nvlink": "gpu",
			"xgmi": "gpu", "c2c": "gpu", "nic": "cpu|pci", "net": "nic", "gin": "nic", "rma": "nic"}}
	if err := x.Read(data); err != nil {
		return nil, err
	}
	return &p.s, p.s.Validate()
}

// parser takes the elements.
type parser struct {
	s    System
	pcis []*PCI // those that stand open, outermost first
}

func (p *parser) cpu() *CPU { return &p.s.CPUs[len(p.s.CPUs)-1] }

// above closes what stands no deeper than a new element, and returns the PCI device that it belongs to; nil: none.
func (p *parser) above(e *foreign.Element) *PCI {
	if n := max(e.Depth-2, 0); n < len(p.pcis) { // system and cpu are not PCI devices
		p.pcis = p.pcis[:n]
	}
	if len(p.pcis) == 0 {
		return nil
	}
	return p.pcis[len(p.pcis)-1]
}

func (p *parser) open(e *foreign.Element) error {
	switch e.Name {
	case "system":
		if v := number(e, "version"); v != 1 && v != 2 {
			e.Fail("version %d: NCCL writes 1, RCCL 2", v)
		}
	case "cpu":
		p.pcis = nil
		p.s.CPUs = append(p.s.CPUs, cpu(e))
	case "pci":
		p.pci(e)
	case "gpu":
		g := gpu(e)
		at := p.above(e)
		if at.GPU != nil {
			return fmt.Errorf("a second gpu at %s", at.Bus)
		}
		at.GPU = &g
	case "nvlink", "xgmi":
		g := p.pcis[len(p.pcis)-1].GPU
		g.NVLinks = append(g.NVLinks, NVLink{Target: e.Text("target"), Count: int(e.Int("count", 0, 64)), Class: e.Text("tclass"),
			line: e.Line})
	case "c2c":
		p.pcis[len(p.pcis)-1].GPU.C2C = true
	case "nic":
		p.above(e)
	case "net":
		if e.Has("net") && e.Int("net", 0, 1) == 0 {
			break // one of several ports that NCCL makes one adapter of, which stands there as well
		}
		if len(p.pcis) == 0 {
			p.cpu().Nets = append(p.cpu().Nets, net(e))
			break
		}
		at := p.pcis[len(p.pcis)-1]
		at.Nets = append(at.Nets, net(e))
	}
	return nil
}

func (p *parser) pci(e *foreign.Element) {
	x := PCI{Bus: e.Text("busid"), Class: optional(e, "class"), Vendor: optional(e, "vendor"), Device: optional(e, "device"),
		Speed: optional(e, "link_speed"), line: e.Line}
	if e.Has("link_width") {
		x.Width = int(e.Int("link_width", 0, 32))
	}
	list := &p.cpu().PCI
	if at := p.above(e); at != nil {
		list = &at.PCI
	}
	*list = append(*list, x)
	p.pcis = append(p.pcis, &(*list)[len(*list)-1])
}

func number(e *foreign.Element, name string) int { return int(e.Int(name, 0, math.MaxInt32)) }

func optional(e *foreign.Element, name string) string {
	if e.Has(name) {
		return e.Text(name)
	}
	return ""
}

// flag is 0 or 1, false where it is left out.
func flag(e *foreign.Element, name string) bool { return e.Has(name) && e.Int(name, 0, 1) == 1 }

func cpu(e *foreign.Element) CPU {
	c := CPU{Host: optional(e, "host_hash"), NUMA: int(e.Int("numaid", -1, math.MaxInt32)), Affinity: optional(e, "affinity"),
		Arch: optional(e, "arch"), Vendor: optional(e, "vendor"), line: e.Line}
	if e.Has("familyid") {
		c.Family = int(e.Int("familyid", math.MinInt32, math.MaxInt32))
	}
	if e.Has("modelid") {
		c.Model = int(e.Int("modelid", math.MinInt32, math.MaxInt32))
	}
	return c
}

func gpu(e *foreign.Element) GPU {
	g := GPU{Dev: number(e, "dev"), SM: int(e.Int("sm", 0, 999)), Rank: -1, GDR: flag(e, "gdr"), line: e.Line}
	if e.Has("gcn") {
		g.SM, g.Arch = 0, architecture(e.Text("gcn"))
	}
	if e.Has("rank") {
		g.Rank = int(e.Int("rank", -1, math.MaxInt32))
	}
	return g
}

// architecture is what compilers call an AMD GPU's: earlier versions of RCCL wrote it as a number.
func architecture(gcn string) string {
	switch {
	case gcn == "910":
		return "gfx90a"
	case strings.HasPrefix(gcn, "gfx"):
		return gcn
	}
	return "gfx" + gcn
}

func net(e *foreign.Element) Net {
	n := Net{Name: e.Text("name"), GUID: optional(e, "guid"), GDR: flag(e, "gdr"), Coll: flag(e, "coll"), line: e.Line}
	if e.Has("dev") {
		n.Dev = number(e, "dev")
	}
	if e.Has("speed") {
		n.Mbps = number(e, "speed")
	}
	if e.Has("port") {
		n.Port = number(e, "port")
	}
	return n
}
