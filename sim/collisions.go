package sim

import "railyard/model/topology"

// Collisions says how a plan's transfers meet between the switches of a hashed network.
// A transfer is what a channel sends from one rank to another; all of a schedule count,
// at once or not. One that is split over queue pairs counts where it goes by its shares.
type Collisions struct {
	Transfers int      // that go from switch to switch
	Worst     float64  // transfers on the fullest link
	Mean      float64  // on the fullest link of a transfer's way, on average
	Spread    float64  // on the fullest link, had the network spread them ideally
	Fullest   LinkLoad // the fullest link, its load left out
}

// Collisions counts; all is nothing where networks do not hash.
func (p *Plan) Collisions() (Collisions, error) {
	if p.options.Hashing == nil {
		return Collisions{}, nil
	}
	p = p.unfolded()
	hashed, spread := fabricLoads{p.topo, map[wire]float64{}}, fabricLoads{p.topo, map[wire]float64{}}
	ideal := topology.NewRouter(p.topo)
	for i := range p.routes {
		r := &p.routes[i]
		hashed.add(r.full)
		even, err := ideal.Route(int(r.src), int(r.dst))
		if err != nil {
			return Collisions{}, err
		}
		spread.add(even)
	}
	var out Collisions
	for i := range p.routes {
		if w, n := hashed.fullest(p.routes[i].full); n > 0 {
			out.Transfers++
			out.Mean += n
			if n > out.Worst+1e-9 {
				out.Worst, out.Fullest = n, LinkLoad{Link: w.link, Lane: w.lane}
			}
		}
	}
	for _, n := range spread.load {
		out.Spread = max(out.Spread, n)
	}
	out.Mean /= float64(max(out.Transfers, 1))
	return out, nil
}

// fabricLoads counts transfers on the links from switch to switch.
type fabricLoads struct {
	topo *topology.Topology
	load map[wire]float64
}

// between reports whether a link joins two switches of a network.
func (f fabricLoads) between(l topology.LinkID) bool {
	link, devices := &f.topo.Links()[l], f.topo.Devices()
	return devices[link.From].Kind.NetworkSwitch() && devices[link.To].Kind.NetworkSwitch()
}

func (f fabricLoads) add(r topology.Route) {
	for _, h := range r.Hops {
		if !f.between(h.Link) {
			continue
		}
		n := float64(h.Num) / float64(h.Den)
		if h.Lane == 0 { // spread over the parallel links, too
			n /= float64(f.topo.Links()[h.Link].Count)
		}
		f.load[wire{h.Link, h.Lane}] += n
	}
}

// fullest is the fullest of the links that a route crosses.
func (f fabricLoads) fullest(r topology.Route) (at wire, n float64) {
	for _, h := range r.Hops {
		if w := (wire{h.Link, h.Lane}); f.between(h.Link) && f.load[w] > n {
			at, n = w, f.load[w]
		}
	}
	return at, n
}
