package nccltopo

import (
	"strings"

	"railyard/internal/lazy"
	"railyard/interop/foreign"
)

var busPattern = lazy.Regexp(`^[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-9a-f]$`)

// hidden is the address that virtual machines give NVSwitches.
const hidden = "fffffff:ff:ff.0"

// bridge reports whether other devices may hang on it.
func (p *PCI) bridge() bool { return strings.HasPrefix(p.Class, "0x0604") || len(p.PCI) > 0 }

// graphics reports whether it is a GPU that a hand-written file leaves to NCCL.
func (p *PCI) graphics() bool {
	return p.GPU != nil || strings.HasPrefix(p.Class, "0x0302") || strings.HasPrefix(p.Class, "0x0300")
}

// network reports whether it is a network adapter: Ethernet or InfiniBand.
func (p *PCI) network() bool {
	return strings.HasPrefix(p.Class, "0x0200") || strings.HasPrefix(p.Class, "0x0207")
}

// Validate checks what NCCL takes for granted.
func (s *System) Validate() error {
	v := &validator{}
	if len(s.CPUs) == 0 {
		v.Add(0, "no cpu element: GPUs and adapters must be below one")
	}
	for _, host := range s.hosts() { // each has addresses and numbers of its own
		v.buses, v.devs = map[string]bool{}, map[int]bool{}
		for i := range s.CPUs {
			for j := range s.CPUs[i].PCI {
				if s.CPUs[i].Host == host {
					v.device(&s.CPUs[i].PCI[j])
				}
			}
		}
	}
	return v.Err()
}

type validator struct {
	foreign.Mistakes
	buses map[string]bool
	devs  map[int]bool
}

func (v *validator) device(p *PCI) {
	switch {
	case !busPattern().MatchString(p.Bus):
		v.Add(p.line, "pci: busid %q is not a PCI address such as 0000:1b:00.0", p.Bus)
	case v.buses[p.Bus]:
		v.Add(p.line, "pci: %s twice", p.Bus)
	case p.GPU != nil && len(p.PCI) > 0:
		v.Add(p.line, "pci: %s is a GPU and holds other devices", p.Bus)
	}
	v.buses[p.Bus] = true
	if g := p.GPU; g != nil {
		if v.devs[g.Dev] {
			v.Add(g.line, "gpu: dev %d twice", g.Dev)
		}
		v.devs[g.Dev] = true
		for _, l := range g.NVLinks {
			if l.Target != hidden && !busPattern().MatchString(l.Target) {
				v.Add(l.line, "nvlink: target %q is not a PCI address", l.Target)
			}
		}
	}
	for i := range p.PCI {
		v.device(&p.PCI[i])
	}
}
