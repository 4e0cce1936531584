package step

import (
	"fmt"
	"math"
	"sync"

	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/gpu"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/sim/nccl"
)

// Prediction is how long a collective takes in every group of a family at once.
type Prediction struct {
	Time     units.Time
	Schedule string // algorithm and protocol
	Limit    string // what bounds it: the fullest link, or latency
	SMs      int    // multiprocessors that its kernel takes from computation; 0: not known
	Network  bool   // groups cross the network
	Warnings []string
}

// Runtime says how long a collective takes on a part of a machine where others leave a
// share of the links.
type Runtime interface {
	Name() string
	Predict(part *topology.Topology, s Share, kind collective.Kind, size units.Bytes) (Prediction, error)
}

// Share is what concurrent groups leave of what a group alone gets: inside domains, and out of
// them. Both are at most 1.
type Share struct{ ScaleUp, Network float64 }

// Predictor answers how long collectives of groups take, once for each kind, size and
// family. It is safe for concurrent use.
type Predictor struct {
	machine *Machine
	runtime Runtime
	mu      sync.Mutex
	shares  map[string]placed
	parts   map[split]*topology.Topology
	times   map[asked]Prediction
	sends   map[string]exchanges
	memo    *memo
}

type asked struct {
	family string
	kind   collective.Kind
	size   units.Bytes
}

// placed is a family on the machine.
type placed struct {
	sharing
	part  *topology.Topology
	spans bool // groups cross the network
}

// NewPredictor makes a predictor.
func NewPredictor(m *Machine, r Runtime) *Predictor {
	return &Predictor{machine: m, runtime: r, memo: newMemo(),
		shares: map[string]placed{}, parts: map[split]*topology.Topology{}, times: map[asked]Prediction{}, sends: map[string]exchanges{}}
}

// OnNCCL makes a predictor of a cluster that runs NCCL. Without a GPU it is the
// topology's, without a profile of NCCL's kernels the one that fits it best; part is as
// for NewMachine.
func OnNCCL(t *topology.Topology, g *gpu.GPU, profile *cost.Profile, part Smaller) (*Predictor, error) {
	var err error
	if g == nil {
		if g, err = gpu.Of(t); err != nil {
			return nil, err
		}
	}
	m, err := NewMachine(t, g, part)
	if err != nil {
		return nil, err
	}
	if profile == nil {
		machine, err := cost.MachineFor(t)
		if err != nil {
			return nil, err
		}
		profile = machine.NCCL()
	}
	return NewPredictor(m, NewNCCL(profile, cost.GeneralNCCL())), nil
}

// Machine is what it predicts for.
func (p *Predictor) Machine() *Machine { return p.machine }

// Runtime is the name of the communication library.
func (p *Predictor) Runtime() string { return p.runtime.Name() }

// once is what was made for a key, or is made now; mistakes are not kept.
func once[K comparable, V any](known map[K]V, key K, make func() (V, error)) (V, error) {
	if v, ok := known[key]; ok {
		return v, nil
	}
	v, err := make()
	if err == nil {
		known[key] = v
	}
	return v, err
}

// Collective is the time of a collective in all groups of a family at once.
func (p *Predictor) Collective(f *Family, kind collective.Kind, size units.Bytes) (Prediction, error) {
	if f.Size < 2 || size <= 0 {
		return Prediction{}, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return once(p.times, asked{f.key, kind, size}, func() (Prediction, error) {
		at, err := p.place(f, patternOf(kind))
		if err != nil {
			return Prediction{}, err
		}
		x, err := p.runtime.Predict(at.part, at.Share, kind, size)
		if err != nil {
			return x, fmt.Errorf("%v over %d GPUs of the %s axis: %w", kind, f.Size, f.Axis, err)
		}
		if x.Limit == "" && at.limit != topology.NoLink {
			x.Limit = p.machine.Topology.LinkName(at.limit)
		}
		x.Network = at.spans
		return x, nil
	})
}

func patternOf(kind collective.Kind) pattern {
	switch kind {
	case collective.AllToAll, collective.AllToAllV:
		return exchange
	case collective.SendRecv:
		return chain
	}
	return ring
}

// place finds the part of the machine and the share that a family gets; a chain's part
// are two of its members.
func (p *Predictor) place(f *Family, x pattern) (placed, error) {
	return once(p.shares, f.key+string('0'+rune(x)), func() (at placed, err error) {
		at.spans = p.machine.spans(f)
		s := p.machine.splitOf(f, x, at.spans)
		if at.part, err = once(p.parts, s, func() (*topology.Topology, error) { return p.machine.part(s) }); err != nil {
			return at, err
		}
		at.sharing, err = p.machine.share(f, x, at.part)
		return at, err
	})
}

// NCCL is the runtime that predicts what NCCL chooses, by fitted kernels (sim/nccl).
type NCCL struct {
	profile, general *cost.Profile
	runtimes         map[*topology.Topology]*nccl.Runtime
}

// NewNCCL makes the runtime with a profile of kernels and a general one.
func NewNCCL(profile, general *cost.Profile) *NCCL {
	return &NCCL{profile: profile, general: general, runtimes: map[*topology.Topology]*nccl.Runtime{}}
}

// Name implements Runtime.
func (n *NCCL) Name() string { return "nccl (profile " + n.profile.Name + ")" }

// Predict implements Runtime.
func (n *NCCL) Predict(part *topology.Topology, s Share, kind collective.Kind, size units.Bytes) (Prediction, error) {
	r, err := once(n.runtimes, part, func() (*nccl.Runtime, error) { return nccl.NewRuntime(part, n.profile, n.general, nccl.Options{}) })
	if err != nil {
		return Prediction{}, err
	}
	x, err := r.Shared(s.ScaleUp, s.Network).Predict(nccl.Ask{Kind: kind, Size: size})
	if err != nil {
		return Prediction{}, err
	}
	p := Prediction{Time: x.Time, Schedule: x.Algorithm + "/" + x.Protocol, SMs: r.Channels(kind, size), Warnings: x.Warnings}
	if 2*x.Latency > x.Time {
		p.Limit = fmt.Sprintf("latency of %s", units.Counted(int(math.Round(x.Work.Hops+x.Work.NetHops+x.Work.Posts)), "step"))
	}
	return p, nil
}
