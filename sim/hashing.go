package sim

import (
	"railyard/model/symmetry"
	"railyard/model/topology"
)

// Hashing makes networks hash flows to single paths, on which they may collide, instead
// of spreading each transfer over all. Each connection of each channel is a transfer of
// its own, split over QPs flows (topology.NewECMPRouter).
type Hashing struct {
	Seed uint64
	QPs  int // queue pairs of a connection; 0 is 1
}

// Rehashed is the plan where networks hash with another seed. The two share what they know
// of routes, so that they are not safe for concurrent use together.
func (p *Plan) Rehashed(seed uint64) (*Plan, error) {
	o := p.options
	o.Hashing = &Hashing{Seed: seed, QPs: p.options.Hashing.QPs}
	return CompileJobs(p.topo, p.jobs, p.profile, o)
}

// hashed is the route of what a strand sends from a rank to another over a network that hashes.
func (c *compiler) hashed(strand int32, src, dst int) (topology.Route, error) {
	h, s := c.options.Hashing, c.strand(strand)
	return c.options.router.Seeded(strandSeed(h.Seed, c.jobs[s.job].Label, s.channel)).RouteQPs(src, dst, max(h.QPs, 1))
}

// strandSeed is the seed itself for the first channel of a job without a label.
func strandSeed(seed uint64, label int, channel int32) uint64 {
	if label == 0 && channel == 0 {
		return seed
	}
	return symmetry.Mix(symmetry.Mix(seed, uint64(label)), uint64(channel))
}

// wire is a link or, where a flow was hashed to it, one of its parallel links, counted
// from 1.
type wire struct {
	link topology.LinkID
	lane int32
}

// rate is what a wire carries in bytes/s.
func (p *Plan) rate(w wire) float64 {
	if w.lane > 0 {
		return float64(p.topo.Class(w.link).Rate)
	}
	return float64(p.topo.Rate(w.link))
}
