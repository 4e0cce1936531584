package cost

import (
	"fmt"
	"slices"
	"strings"

	"railyard/model/topology"
)

// InSwitch is the protocol of messages that scale-up switches copy to several GPUs or add up on their way. Where
// no such were measured or derived, they cost what messages of the protocol between two GPUs do.
func InSwitch(protocol string) string { return protocol + "_" + inSwitch }

// inSwitch is the curve's name: switches do not care how ranks tell one another that data have come.
const inSwitch = "in_switch"

// What NVSwitches sustain of their links' rate while they add up, by NCCL's own model
// (src/graph/tuning.cc, nvlsEfficiency, NCCL 2.28).
const (
	HopperInSwitch    = 0.85
	BlackwellInSwitch = 0.74
)

// MaxHeads is the most GPUs that NCCL's NVLS pulls from (NCCL_MAX_NVLS_ARITY, src/include/device.h, NCCL 2.28).
const MaxHeads = 32

// inSwitchShare is that of a topology's NVSwitches; 0 where they do not multicast and add up.
func inSwitchShare(t *topology.Topology) float64 {
	multicast, reduces := t.InNetwork(func(d topology.Device) bool { return d.Kind == topology.NVSwitch })
	_, domains := t.ScaleUpDomains()
	if !multicast || !reduces || len(domains[0]) < 2 {
		return 0
	}
	return map[string]float64{"4": HopperInSwitch, "5": BlackwellInSwitch}[nvlinkGeneration(t)]
}

// deriveInSwitch is what operations of switches cost by what NCCL's NVLS reaches, nil where it is not known: a hop
// of its all-reduce is a reduction and a multicast, and what it moves at best is the share of the line rate.
func (p *Profile) deriveInSwitch(share float64) *Curve {
	i := slices.IndexFunc(p.Kernels, func(k Kernel) bool { return k.Algorithm == "nvls" && k.Over == topology.NVLink.String() })
	if i < 0 || share == 0 {
		return nil
	}
	k := &p.Kernels[i]
	return &Curve{Medium: k.Over, Protocol: inSwitch, Origin: p.reachedBy(k),
		Segments: []Segment{{Alpha: k.Hop / 2, Efficiency: share / k.Pieces[len(k.Pieces)-1].Slowdown}}}
}

// reachedBy is the origin of costs that are what a kernel of NCCL reaches.
func (p *Profile) reachedBy(k *Kernel) *Origin {
	o := &Origin{Derived, "", fmt.Sprintf("what NCCL's %s by %s/%s reaches over %s on %s", k.Collective, k.Algorithm, k.Protocol, k.Over,
		p.Name), p.Date, ""}
	if p.Name == General {
		o.Kind, o.From = Assumed, General
	}
	return o
}

// OriginInSwitch is where the costs of what switches do come from.
func (p *Profile) OriginInSwitch() Origin {
	for i := range p.Curves {
		switch c := &p.Curves[i]; {
		case c.Protocol != inSwitch:
		case c.Origin != nil:
			return *c.Origin
		default:
			return p.Origin
		}
	}
	if p.Kind == LineRate {
		return p.Origin
	}
	return Origin{Kind: Assumed, Source: "operations of switches cost what messages do: none were measured on such a machine"}
}

// inSwitchCurve is the curve of a protocol's messages in switches, nil where it has none of its own.
func (p *Profile) inSwitchCurve(medium topology.Medium, protocol string) *Curve {
	if c := p.specific(medium, inSwitch); c != nil && c.Protocol == inSwitch {
		return c
	}
	return p.curve(medium, strings.TrimSuffix(protocol, "_"+inSwitch))
}
