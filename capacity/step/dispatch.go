package step

import (
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/model/workload"
)

// What kernels that send tokens to their experts reach of the links, and the multiprocessors
// that they take: DeepEP's normal kernels on H800 with 400 Gb/s a GPU (README of github.com/
// deepseek-ai/DeepEP, 2025-02: 153–158 GB/s of 200 by NVLink, 43–46 of 50 by RDMA, from 16
// GPUs to 64), and DeepSeek-V3, section 3.2.2.
const (
	dispatchScaleUp = 0.78
	dispatchNetwork = 0.89
	dispatchSMs     = 20
)

// exchanges are what each GPU of a family can send when all do: to other domains, and inside
// its own.
type exchanges struct {
	across, within fullest
	local          int // GPUs of a group in one domain
	domains        int
}

// dispatch predicts an all-to-all of tokens: a token crosses to a domain once, however many of
// its experts are there, and is handed on inside, once to each GPU that has some. Both go on at
// once, in small parts, and the slower one is the time.
func (p *player) dispatch(f *Family, s *workload.Step) (Prediction, error) {
	x, err := p.predict.exchanges(f)
	if err != nil {
		return Prediction{}, err
	}
	r := s.Routing
	token := float64(s.Size) / float64(r.TopK)
	out := Prediction{Schedule: "dispatch", SMs: dispatchSMs}
	slowest := 0.0
	add := func(groups, local int, link fullest, share float64, network bool) {
		if groups < 2 {
			return
		}
		away := token * r.Reached(x.domains, groups) * float64(groups-local) / float64(groups)
		if t := away / (link.rate * share); t > slowest {
			slowest, out.Network = t, network
			out.Limit = p.predict.machine.Topology.LinkName(link.link)
		}
	}
	add(x.domains, 1, x.across, dispatchNetwork, true)
	add(x.domains*x.local, x.domains, x.within, dispatchScaleUp, false)
	out.Time = units.FromMicroseconds(slowest * 1e6)
	return out, nil
}

// exchanges are worked out once for each family.
func (p *Predictor) exchanges(f *Family) (exchanges, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return once(p.sends, f.key, func() (exchanges, error) {
		local := p.machine.inside(f)
		x := exchanges{local: local.Size, domains: f.Size / local.Size}
		l, err := p.machine.load(&local, exchange)
		if err != nil {
			return x, err
		}
		if x.within = l.local(); x.within.link == topology.NoLink { // a domain's members meet over a network
			x.within = l.network()
		}
		if x.domains > 1 {
			l, err = p.machine.load(f, exchange)
			x.across = l.network()
			x.across.rate /= float64(x.local)
		}
		return x, err
	})
}

// inside are the parts of a family's groups that lie in one domain, by the first group: jobs
// are placed so that the others lie alike.
func (m *Machine) inside(f *Family) Family {
	size := 0
	each(f.dims, func(offset int) {
		if m.domains[offset] == m.domains[0] {
			size++
		}
	})
	in, out := innermost(f.dims, size)
	return newFamily(f.Axis, in, append(out, f.others...))
}
