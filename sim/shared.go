package sim

import "railyard/model/units"

// Shared is the link on which jobs are most in one another's way: that on which the
// jobs other than its busiest spend most time.
type Shared struct {
	Load LinkLoad  // of all jobs
	Jobs []float64 // by job: bytes
}

// mostShared is nil where no two jobs use one link. perRoute are the bytes of each route.
func (p *Plan) mostShared(perRoute []float64, t units.Time) *Shared {
	n := len(p.jobs)
	if n < 2 {
		return nil
	}
	bytes := make([]float64, n*len(p.wires)) // by wire and job
	for i, b := range perRoute {
		for _, h := range p.routes[i].hops {
			bytes[int(h.wire)*n+int(p.routes[i].job)] += float64(b * h.share)
		}
	}
	var out *Shared
	longest := 0.0
	for i, w := range p.wires {
		jobs := bytes[i*n : (i+1)*n]
		sum, most := 0.0, 0.0
		for _, b := range jobs {
			sum, most = sum+b, max(most, b)
		}
		if others := (sum - most) / p.rate(w); others > longest*(1+1e-9) {
			longest = others
			out = &Shared{p.load(w, sum, t), jobs}
		}
	}
	return out
}
