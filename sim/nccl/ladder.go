package nccl

import (
	"fmt"
	"math"
	"math/bits"

	"railyard/model/units"
)

// A ladder holds the times of a collective at powers of two, made so that none falls as sizes grow: kernels of
// different choices come from different measurements and may disagree where NCCL goes from one to the other. A choice that
// would take longer than the same collective of more bytes is worth what those take: NCCL has no reason to be slower. Where its links
// allow no such time, the choice for more bytes is taken in its place.
type ladder []rung

type rung struct {
	algorithm, protocol string
	time, least         float64 // ps: what it takes, and what its links allow
}

// rungs are powers of two of bytes: up to 64 GiB.
const rungs = 37

type ladderKey struct {
	ask              Ask // without its size
	scaleUp, network float64
}

// ladder is made once for whoever asks the same.
func (r *Runtime) ladder(a Ask) ladder {
	a.Size = 0
	key := ladderKey{a, r.scaleUp, r.network}
	if l, ok := r.ladders.Load(key); ok {
		return l.(ladder)
	}
	out := make(ladder, rungs)
	for i := range out {
		a.Size = 1 << i
		p, err := r.raw(a)
		if err != nil {
			out = nil
			break
		}
		out[i] = rung{p.Algorithm, p.Protocol, float64(max(p.Time, 1)), float64(p.least)}
	}
	out.level()
	r.ladders.Store(key, out)
	return out
}

// level makes no rung higher than those above it.
func (l ladder) level() {
	for i := len(l) - 2; i >= 0; i-- {
		if above := l[i+1]; l[i].least > above.time {
			l[i] = above
		}
		l[i].time = min(l[i].time, l[i+1].time)
	}
}

// climbed makes a prediction lie between those of the powers of two around its size: its own where one choice runs
// at both, else on the line between them.
func (r *Runtime) climbed(a Ask, p Prediction) Prediction {
	l := r.ladder(a)
	if l == nil || a.Size <= 0 || p.Time <= 0 {
		return p
	}
	i := bits.Len64(uint64(a.Size)) - 1
	if i < rungs-1 && float64(p.least) > l.line(a.Size) {
		p = r.by(a, &l[i+1], p)
	}
	t := float64(p.Time)
	switch {
	case i >= rungs-1:
		t = max(t, l[rungs-1].time)
	case l[i].same(&p) && l[i+1].same(&p):
		t = min(max(t, l[i].time), l[i+1].time)
	default:
		t = l.line(a.Size)
	}
	took := max(units.Time(math.Round(t)), p.least)
	if off := float64(took) / float64(p.Time); off > 1.1 || off < 1/1.1 {
		p.Warnings = append(p.Warnings[:len(p.Warnings):len(p.Warnings)], fmt.Sprintf("NCCL's choice changes near %v, and the "+
			"kernels disagree: %s/%s by itself would take %.4g µs", a.Size, p.Algorithm, p.Protocol, p.Time.Microseconds()))
	}
	p.Time, p.Latency = took, min(p.Latency, took)
	return p
}

// line is the time on the line between two rungs.
func (l ladder) line(size units.Bytes) float64 {
	i := bits.Len64(uint64(size)) - 1
	share := math.Log2(float64(size)) - float64(i)
	return math.Exp((1-share)*math.Log(l[i].time) + share*math.Log(l[i+1].time))
}

// by is the prediction of a rung's choice, else another.
func (r *Runtime) by(a Ask, x *rung, or Prediction) Prediction {
	for _, c := range r.choices(a) {
		if c.algorithm == x.algorithm && c.protocol == x.protocol {
			if p, err := r.one(a, c); err == nil {
				return p
			}
		}
	}
	return or
}

func (x *rung) same(p *Prediction) bool {
	return x.algorithm == p.Algorithm && x.protocol == p.Protocol
}
