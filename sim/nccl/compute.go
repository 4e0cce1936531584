package nccl

// The speeds that the search tries, GB/s per channel, by compute capability.
var (
	speedsIntra      = []float64{40, 30, 20, 18, 15, 12, 10, 9, 7, 6, 5, 4, 3}
	speedsInter      = []float64{48, 30, 28, 24, 20, 18, 15, 12, 10, 9, 7, 6, 5, 4, 3, 2.4, 1.2, 0.24, 0.12}
	speedsIntraSM90  = []float64{60, 50, 40, 30, 24, 20, 15, 12, 11, 6, 3}
	speedsInterSM90  = []float64{48, 45, 42, 40, 30, 24, 22, 20, 17.5, 15, 12, 6, 3, 2.4, 1.2, 0.24, 0.12}
	speedsIntraSM100 = []float64{90, 80, 70, 60, 50, 45, 40, 30, 24, 20, 19, 18}
	speedsInterSM100 = []float64{96, 86, 80, 48, 45.1, 42, 40, 30, 24, 22, 20, 17.5, 15, 12, 6, 3, 2.4, 1.2, 0.24, 0.12}
)

func speeds(cc int, inter bool) []float64 {
	switch {
	case inter && cc >= 100:
		return speedsInterSM100
	case inter && cc >= 90:
		return speedsInterSM90
	case inter:
		return speedsInter
	case cc >= 100:
		return speedsIntraSM100
	case cc >= 90:
		return speedsIntraSM90
	}
	return speedsIntra
}

// The steps a search may take: in all, for one set of constraints, and for one where all
// channels are alike.
const (
	allSteps  = 1 << 19
	someSteps = 1 << 14
	sameSteps = 1 << 8
)

// quest is one run of NCCL's search for channels of a pattern (ncclTopoCompute). Pass 1
// relaxes constraints and lowers the speed until there are channels; pass 2 raises the
// speed again while as many channels fit.
type quest struct {
	s              *system
	cc             int
	best, cur      *channels
	speeds         []float64
	at             int // index into speeds
	same           bool
	crossNIC       int
	minIntra       pathKind
	maxIntra       pathKind
	minInter       pathKind
	maxInter       pathKind
	total, maxBW   float64
	budget, left   int // steps: in all, and not taken by the last search
	pass           int
	optimal, spent bool // the last search: cannot be beaten; ran out of steps
}

// find searches for channels of a pattern, at least least and at most most of them.
func (s *system) find(p pattern, cc, least, most int) *channels {
	best := &channels{pattern: p, min: least, max: most}
	q := &quest{s: s, cc: cc, best: best, speeds: speeds(cc, s.inter), budget: allSteps, pass: 1}
	q.constrain()
	if p == nvlsPattern && (len(s.of[vNVS]) == 0 || cc < 90) {
		return best
	}
	q.adapt()
	best.reserve(len(s.of[vGPU]))
	q.cur = best.clone()
	q.firstSpeed()
	for {
		q.search()
		if q.pass == 1 {
			if !q.optimal && q.relax() {
				continue
			}
			q.secondPass()
		}
		if !q.raise() {
			break
		}
	}
	if best.n == 0 && best.pattern != nvlsPattern {
		best.fallBack(s)
	}
	return best
}

// constrain starts with the best connections there are.
func (q *quest) constrain() {
	b, s := q.best, q.s
	if s.nets > 1 && (b.pattern == ringPattern || b.pattern == balancedTree) {
		q.crossNIC = 2
	}
	q.minIntra, q.maxIntra, q.minInter, q.maxInter = pathLOC, pathSYS, pathPIX, pathSYS
	if len(s.of[vGPU]) > 1 {
		q.minIntra, q.maxIntra = s.extremes(vGPU)
	}
	if s.inter {
		q.minInter, q.maxInter = s.extremes(vNET)
		q.maxIntra = q.maxInter
	}
	if q.cc < 90 { // balanced trees may have to come back over PHB or SYS
		q.maxInter = pathSYS
	}
	q.same = b.pattern != nvlsPattern
	b.typeIntra, b.typeInter, b.same = q.minIntra, q.minInter, q.same
}

// adapt fits the wanted number of channels and the pattern to the system.
func (q *quest) adapt() {
	b, gpus := q.best, len(q.s.of[vGPU])
	if b.pattern == nvlsPattern {
		b.max = min(maxNVLSHeads, gpus)
		if !q.s.inter {
			b.min = b.max // pull evenly from all GPUs
		}
	}
	if gpus == 1 && b.pattern != ringPattern {
		b.pattern = plainTree
	}
	// Between two halves without NVLink a tree is likely better, and needs two channels.
	if b.pattern == ringPattern && b.max >= 2 && b.min == 1 && q.s.split() {
		b.min = 2
	}
}

func (q *quest) firstSpeed() {
	q.maxBW, q.total = q.s.maxBW, q.s.total
	if n := float64(len(q.s.of[vGPU])); n > 1 && q.best.pattern != ringPattern {
		q.total *= n / (n - 1) // a chain has one link less than a ring
	}
	q.at = 0
	for q.at < len(q.speeds)-1 && (q.speeds[q.at] > q.maxBW || q.speeds[q.at]*float64(q.best.min) > q.total) {
		q.at++
	}
	q.setSpeed()
}

func (q *quest) setSpeed() { q.cur.bwIntra, q.cur.bwInter = q.speeds[q.at], q.speeds[q.at] }

func (q *quest) search() {
	x := &searcher{s: q.s, cur: q.cur, best: q.best, steps: someSteps}
	if q.cur.same {
		x.steps = sameSteps
	}
	q.cur.n = 0
	q.budget -= x.steps
	x.channel()
	q.optimal = x.steps == -1 || float64(q.best.n)*q.best.bwInter >= q.s.total
	q.spent = x.steps == 0
	q.left = x.steps
}

// relax loosens the next constraint; false where the search has found all it will.
func (q *quest) relax() bool {
	c, b, s := q.cur, q.best, q.s
	if c.same && (s.cpu != AMD || c.typeIntra != pathSYS) {
		c.same = false
		return true
	}
	c.same = q.same
	q.budget += q.left
	if q.budget < 0 && b.n > 0 {
		return false
	}
	if q.cc >= 90 && c.pattern == balancedTree {
		c.pattern = plainTree
		return true
	}
	c.pattern = b.pattern
	return q.relaxPaths() || q.relaxNICs() || q.slower()
}

func (q *quest) relaxPaths() bool {
	c, b := q.cur, q.best
	worst := q.maxIntra
	if q.s.inter {
		worst = c.typeInter
	}
	if c.typeIntra < worst && (b.n == 0 || c.typeIntra < b.typeIntra) {
		if c.typeIntra++; c.typeIntra < pathDIS {
			return true
		}
	}
	c.typeIntra = q.minIntra
	if q.s.inter && c.typeInter < q.maxInter && (b.n == 0 || c.typeInter < b.typeInter || c.typeInter < pathPXN) {
		if c.typeInter++; c.typeInter < pathDIS {
			return true
		}
	}
	c.typeInter = q.minInter
	return false
}

func (q *quest) relaxNICs() bool {
	if q.crossNIC == 2 && q.cur.crossNIC == 0 && (q.best.pattern == ringPattern || q.best.pattern == balancedTree) {
		q.cur.crossNIC = 2
		return true
	}
	q.cur.crossNIC = 0
	return false
}

// slower takes the next speed, unless half the speed that was found is reached.
func (q *quest) slower() bool {
	if q.at < len(q.speeds)-1 && (q.best.n == 0 || q.speeds[q.at+1]/q.best.bwInter > 0.49) {
		q.at++
		q.setSpeed()
		return true
	}
	return false
}

// secondPass starts from what was found.
func (q *quest) secondPass() {
	q.best.duplicate(q.cc)
	q.cur.copyFrom(q.best)
	q.at = 0
	for q.at < len(q.speeds)-1 && q.speeds[q.at] > q.best.bwInter {
		q.at++
	}
	q.setSpeed()
	q.cur.min = q.best.n
	q.pass, q.spent = 2, false
}

// raise tries the next higher speed; false where there is nothing more to try.
func (q *quest) raise() bool {
	c, b := q.cur, q.best
	if q.spent || q.at == 0 {
		return false
	}
	switch {
	case b.pattern == ringPattern:
		q.at--
		q.setSpeed()
	case b.pattern == nvlsPattern && c.bwInter == b.bwInter && c.bwInter < c.bwIntra*2:
		c.min, c.max = b.n, b.n
		q.at--
		c.bwInter = q.speeds[q.at]
	case c.bwIntra == b.bwIntra && c.bwIntra < c.bwInter*2: // trees of two nodes
		q.at--
		c.bwIntra = q.speeds[q.at]
	default:
		return false
	}
	return true
}

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
