package nccl

// farther is what the links of this machine add to the latencies of kernels that were fitted elsewhere, ps;
// less than nothing where they are faster.
func (r *Runtime) farther(w *Work) float64 {
	return w.Hops*r.rates.hopMore + w.NetHops*r.rates.acrossMore
}
