package sim

import (
	"math"

	"railyard/model/collective"
	"railyard/model/schedule"
	"railyard/model/units"
)

// link is the α-β-γ model of a message between any two ranks that talk in a phase:
// α + s·β, and γ for each byte combined. Hockney, "The communication challenge for
// MPP", 1994.
type link struct {
	alpha float64 // ps
	beta  float64 // ps per byte
	gamma float64 // ps per byte
}

// message is the time of one message.
func (l link) message(bytes float64) float64 { return l.alpha + bytes*l.beta }

// phaseForm is what a closed form is told of a phase.
type phaseForm struct {
	link
	ph     *schedule.Phase
	op     collective.Kind
	n      int     // ranks of a group
	part   float64 // bytes of a member's chunks
	whole  float64 // bytes of all chunks of the group
	slices float64
	port   bool // messages that a rank sends (or gets) at once share its port; else each has its own link
}

// ClosedForm is the textbook time of a schedule, where its assumptions hold: one
// channel, all routes of a phase alike, local copies free, and no two messages that
// meet on a link but those that leave (or reach) one rank together. Phases follow one
// another, as in hierarchical algorithms. ok is false where the assumptions do not
// hold. It shares nothing with the event engine but the sizes and prices of messages.
func (p *Plan) ClosedForm(size units.Bytes) (t units.Time, ok bool) {
	p, err := p.flat()
	if err != nil {
		return 0, false
	}
	if len(p.strands) != 1 || p.options.Hashing != nil || p.profile.Copy > 0 || p.profile.Serial {
		return 0, false
	}
	e := p.newEngine()
	e.reset(p.each(size), Options{})
	phases := p.channel(0).Phases
	sum := 0.0
	for k := range phases {
		f := &phaseForm{ph: &phases[k], op: phases[k].Op}
		if !f.describe(e, k) || len(phases) > 1 && !f.symmetric() {
			return 0, false
		}
		time, ok := f.time()
		if !ok {
			return 0, false
		}
		sum += time
	}
	return p.profile.Launch + units.Time(math.Ceil(sum)), true
}

// time picks the formula.
func (f *phaseForm) time() (float64, bool) {
	if f.n == 1 {
		return 0, true
	}
	if f.ph.Gen == schedule.GenRing && (f.op == collective.Broadcast || f.op == collective.Reduce) {
		return f.chain(), true
	}
	if f.slices > 1 {
		return 0, false
	}
	switch f.ph.Gen {
	case schedule.GenRing:
		return f.ring()
	case schedule.GenTree:
		return f.tree()
	case schedule.GenDirect:
		return f.direct()
	case schedule.GenDoubling:
		return f.doubling()
	case schedule.GenBruck:
		return f.bruck()
	}
	return 0, false
}

// symmetric reports whether all ranks of the phase end together, so that the next
// phase begins everywhere at once.
func (f *phaseForm) symmetric() bool {
	switch f.op {
	case collective.AllReduce, collective.AllGather, collective.ReduceScatter, collective.AllToAll, collective.Barrier:
		return f.slices == 1
	}
	return false
}
