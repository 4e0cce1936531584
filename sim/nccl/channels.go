package nccl

// duplicate turns few fast channels into twice as many of half the speed: one channel is
// one SM, which cannot move that much (ncclTopoDupChannels).
func (c *channels) duplicate(cc int) {
	if c.n == 0 || c.pattern == nvlsPattern || c.bwIntra < 25 || cc > 80 && c.bwIntra < 50 && c.n > 4 {
		return
	}
	n := min(2*c.n, c.max)
	for i := c.n; i < n; i++ {
		copy(c.intra[i], c.intra[i-c.n])
		c.inter[i] = c.inter[i-c.n]
	}
	times := float64((n + c.n - 1) / c.n)
	c.bwIntra /= times
	c.bwInter /= times
	c.n = n
}

// fallBack is one slow channel in order of number, for machines where nothing was found.
func (c *channels) fallBack(s *system) {
	c.n, c.bwIntra, c.typeIntra = 1, 0.1, pathSYS
	for g := range c.intra[0] {
		c.intra[0][g] = g
	}
	c.bwInter, c.typeInter = 0, pathDIS
	if len(s.of[vNET]) > 0 {
		c.bwInter, c.typeInter = 0.1, pathSYS
	}
}

// reserve makes room for all channels and their GPUs.
func (c *channels) reserve(gpus int) {
	flat := make([]int, maxChannels*gpus)
	c.intra = make([][]int, maxChannels)
	for i := range c.intra {
		c.intra[i] = flat[i*gpus : (i+1)*gpus]
	}
	c.inter = make([][2]int, maxChannels)
}

func (c *channels) clone() *channels {
	out := &channels{}
	if c.intra == nil { // nothing was looked for
		*out = *c
		return out
	}
	out.reserve(len(c.intra[0]))
	out.copyFrom(c)
	return out
}

// copyFrom makes c equal to o without sharing memory.
func (c *channels) copyFrom(o *channels) {
	intra, inter := c.intra, c.inter
	*c = *o
	c.intra, c.inter = intra, inter
	for i := range o.n {
		copy(c.intra[i], o.intra[i])
	}
	copy(c.inter, o.inter[:o.n])
}
