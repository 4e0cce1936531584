package cost

import (
	"cmp"
	"slices"

	"railyard/model/topology"
	"railyard/model/units"
)

// Machine is what one kind of machine's hardware costs, and whom: a YAML file. Machines are shared
// and must not be changed; With… make new ones.
type Machine struct {
	Name string
	Hardware
	nccl    *Profile // as in the file; nil: not there
	own     *Profile
	fastest *Fastest
	assumed string // why another machine's costs are taken for this one; "" where it is the machine itself
}

// Fastest is which way was fastest, on GPUs of one name.
type Fastest struct {
	GPU string `file:"gpu,need"` // as its driver has it
	Origin
	Methods []Method `file:"methods,lines"`
}

// NewMachine is a machine of which nothing is known.
func NewMachine(name string) *Machine { return &Machine{Name: name} }

// WithNCCL is the machine with other costs of NCCL's kernels.
func (m Machine) WithNCCL(p *Profile) *Machine {
	m.nccl = p
	return &m
}

// WithOwn is the machine with other costs of railyard's own kernels.
func (m Machine) WithOwn(p *Profile) *Machine {
	m.own = p
	return &m
}

// WithAccess is the machine with other rates of accesses to memory.
func (m Machine) WithAccess(a *Access) *Machine {
	m.Access = a
	return &m
}

// WithFastest is the machine with other fastest ways.
func (m Machine) WithFastest(f *Fastest) *Machine {
	m.fastest = f
	return &m
}

// NCCL is what NCCL's kernels cost (RCCL's on AMD's GPUs); nil where the machine says nothing of them.
func (m *Machine) NCCL() *Profile {
	return m.part(m.nccl, func(other *Machine) *Profile { return other.nccl })
}

// Measured is what railyard's own kernels cost as the machine's file says; nil where it says nothing:
// Own is what plans are predicted by.
func (m *Machine) Measured() *Profile {
	return m.part(m.own, func(other *Machine) *Profile { return other.own })
}

// part is a part of the machine, with what it takes from another one's.
func (m *Machine) part(p *Profile, of func(*Machine) *Profile) *Profile {
	if p == nil {
		return nil
	}
	out := *p
	if p.borrows() {
		other, err := GetMachine(p.From)
		if err != nil {
			panic(err) // looked up when the file was read
		}
		out = p.over(of(other))
	}
	out.Name = cmp.Or(p.Name, m.Name)
	if out.Hardware.empty() {
		out.Hardware = m.Hardware
	}
	if m.assumed != "" {
		out.Origin = Origin{Assumed, m.Name, m.assumed, p.Date, p.Error}
	}
	return &out
}

// borrows reports whether the part is another machine's: it names one and has no costs itself.
func (p *Profile) borrows() bool {
	return p.From != "" && len(p.Curves)+len(p.Kernels)+len(p.Memory) == 0
}

// over is another machine's part with what p says itself.
func (p *Profile) over(other *Profile) Profile {
	out := *other
	out.Origin = p.Origin
	set(&out.Launch, p.Launch)
	set(&out.Reduce, p.Reduce)
	set(&out.Copy, p.Copy)
	set(&out.LocalOp, p.LocalOp)
	set(&out.Sum, p.Sum)
	return out
}

func set[T ~int64](to *T, v T) {
	if v != 0 {
		*to = v
	}
}

func (h *Hardware) empty() bool {
	return h.MessageProtocols == nil && h.Engines == nil && h.Steps == nil && h.Access == nil
}

// Fastest is which way is fastest; nil where that was not measured.
func (m *Machine) Fastest() *Fastest { return m.fastest }

// Method is the fastest way of a collective on so many GPUs and a size; nil where none was measured.
func (m *Machine) Method(collective string, gpus int, size units.Bytes) *Method {
	if m.fastest == nil {
		return nil
	}
	return m.fastest.Method(collective, gpus, size)
}

// Own is what railyard's own plans cost on a topology of such machines: as measured; from another
// machine's kernels, with the same shares of the line rate; over media that were not measured, from
// what NCCL reaches there on this machine, else on all machines together. Curves say which by their Origin.
func (m *Machine) Own(t *topology.Topology) *Profile {
	p := m.Measured()
	switch {
	case p == nil && m.nccl != nil && len(m.nccl.Curves) > 0:
		p = m.NCCL()
		p.Kernels, p.Origin = nil, Origin{Derived, "", "what messages of NCCL cost here: " + p.Source, p.Date, p.Error}
	case p == nil:
		p = &Profile{Name: m.Name, Hardware: m.Hardware, Origin: Origin{Kind: Assumed,
			Source: "no messages of railyard's were measured on such a machine"}}
	case p.Kind == LineRate:
		return p
	}
	return m.complete(p, t)
}

// complete adds curves of media that a profile has none for.
func (m *Machine) complete(p *Profile, t *topology.Topology) *Profile {
	curves := slices.Clone(p.Curves)
	launch := p.Launch
	for _, medium := range []topology.Medium{topology.NVLink, topology.XGMI, topology.PCIe, topology.Network} {
		if !has(t, medium) {
			continue
		}
		if slices.ContainsFunc(p.Curves, func(c Curve) bool { return c.Medium == anyMedium || c.Medium == medium.String() }) || p.Serial {
			continue
		}
		more, first := m.reached(medium, FabricOf(t))
		curves = append(curves, more...)
		if more != nil && p.Curves == nil && (launch == 0 || first < launch) {
			launch = first
		}
	}
	if share := inSwitchShare(t); share > 0 && !slices.ContainsFunc(p.Curves, func(c Curve) bool { return c.Protocol == inSwitch }) {
		for _, source := range []*Profile{m.NCCL(), GeneralNCCL()} {
			if source == nil {
				continue
			}
			if c := source.deriveInSwitch(share); c != nil {
				curves = append(curves, *c)
				break
			}
		}
	}
	out := *p
	out.Curves, out.Launch = curves, launch
	return &out
}

// has reports whether messages may go over a medium.
func has(t *topology.Topology, medium topology.Medium) bool {
	if medium == topology.Network && t.NumNodes() == 1 {
		return false
	}
	return slices.ContainsFunc(t.Classes(), func(c topology.Class) bool { return c.Medium == medium })
}

// reached are the costs of messages over a medium by what kernels of NCCL reach there on this machine, else on all together; over a
// network that nobody measured, over InfiniBand.
func (m *Machine) reached(medium topology.Medium, fabric string) (curves []Curve, launch units.Time) {
	overs := []string{medium.String()}
	if medium == topology.Network {
		overs = []string{fabric, "ib"}
	}
	for _, over := range overs {
		for _, source := range []*Profile{m.NCCL(), GeneralNCCL()} {
			if source == nil {
				continue
			}
			if curves, launch = source.derive(medium, over); curves == nil {
				continue
			}
			if medium == topology.Network {
				m.handOver(curves, fabric)
			}
			return curves, launch
		}
	}
	return nil, 0
}

// derive are the costs of messages that kernels of NCCL reach over a medium: α is what a dependent step
// costs, the share of the line rate that of large chunks; launch is what the quickest kernel takes to
// start and end.
func (p *Profile) derive(medium topology.Medium, over string) (curves []Curve, launch units.Time) {
	for _, protocol := range []string{"simple", "ll", "ll128"} {
		k := p.typical(over, protocol)
		if k == nil {
			continue
		}
		alpha := k.Hop
		if medium == topology.Network {
			alpha = k.NetHop
		}
		last := k.Pieces[len(k.Pieces)-1].Slowdown
		c := Curve{Medium: medium.String(), Protocol: protocol, Origin: p.reachedBy(k),
			Segments: []Segment{{Alpha: alpha, Efficiency: 1 / last}}}
		if curves = append(curves, c); len(curves) == 1 { // for protocols of which nothing is known here
			c.Protocol = anyMedium
			curves = append(curves, c)
		}
		if launch == 0 || k.Base < launch {
			launch = k.Base
		}
	}
	return curves, launch
}

// handOver gives curves over a fabric the time from one message to the next that NCCL's all-to-alls have there, which hand
// one after the other to the network: on this machine, on all together, else the constant that kernels over other media carry.
func (m *Machine) handOver(curves []Curve, fabric string) {
	sources := []*Profile{m.NCCL(), GeneralNCCL()}
	for i := range curves {
		for _, over := range []string{fabric, ""} {
			for _, source := range sources {
				if gap := source.gap(over, curves[i].Protocol); gap > 0 && curves[i].Gap == 0 {
					curves[i].Gap = gap
				}
			}
		}
	}
}

// gap is what a further message costs a kernel that sends to everybody, of the protocol where that is known, else of any; over
// any medium where over is "". 0: there is none.
func (p *Profile) gap(over, protocol string) (gap units.Time) {
	if p == nil {
		return 0
	}
	for i := range p.Kernels {
		k := &p.Kernels[i]
		if k.Algorithm != "p2p" || over != "" && k.Over != over {
			continue
		}
		if k.Protocol == protocol {
			return k.NetHop
		}
		gap = max(gap, k.NetHop)
	}
	return gap
}

// typical is the kernel of a protocol that tells best what steps over a medium cost: rings before others (in-switch
// kernels count no steps of ours), then the one with most rows.
func (p *Profile) typical(over, protocol string) (best *Kernel) {
	for i := range p.Kernels {
		k := &p.Kernels[i]
		if k.Over != over || k.Protocol != protocol || !slices.Contains(stepping, k.Algorithm) {
			continue
		}
		if best == nil || k.ring() && !best.ring() || k.ring() == best.ring() && k.Rows > best.Rows {
			best = k
		}
	}
	return best
}

// stepping are algorithms whose steps are messages between two GPUs.
var stepping = []string{"ring", "tree", "p2p"}

func (k *Kernel) ring() bool { return k.Algorithm == "ring" }
