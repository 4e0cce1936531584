package nccl

import "railyard/model/cost"

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
		b.max = min(cost.MaxHeads, gpus)
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
