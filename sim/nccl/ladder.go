package nccl

import (
	"fmt"
	"math"
	"math/bits"

	"railyard/model/units"
)

// A ladder holds the times of a collective at powers of two, made so that none falls as sizes grow: kernels of
// different choices come from different measurements and may disagree where NCCL goes from one to the other.
// Such a choice then is worth as much as its band is narrow (isotonic regression of logarithms by pooling
// adjacent violators: Ayer, Brunk, Ewing, Reid, Silverman 1955).
type ladder []rung

type rung struct {
	algorithm, protocol string
	time                float64 // ps
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
	out, weights := make(ladder, rungs), make([]float64, rungs)
	for i := range out {
		a.Size = 1 << i
		p, err := r.raw(a)
		if err != nil {
			out = nil
			break
		}
		low, high := p.Band()
		out[i] = rung{p.Algorithm, p.Protocol, float64(max(p.Time, 1))}
		weights[i] = 1 / math.Pow(math.Log(float64(max(high, 2))/float64(max(low, 1))), 2)
	}
	out.level(weights)
	r.ladders.Store(key, out)
	return out
}

// level pools neighbours that fall.
func (l ladder) level(weights []float64) {
	type pool struct {
		log, weight float64
		first       int
	}
	var pools []pool
	for i := range l {
		p := pool{math.Log(l[i].time), weights[i], i}
		for len(pools) > 0 && pools[len(pools)-1].log > p.log {
			q := pools[len(pools)-1]
			pools = pools[:len(pools)-1]
			p = pool{(p.log*p.weight + q.log*q.weight) / (p.weight + q.weight), p.weight + q.weight, q.first}
		}
		pools = append(pools, p)
	}
	end := len(l)
	for k := len(pools) - 1; k >= 0; k-- {
		for i := pools[k].first; i < end && end-pools[k].first > 1; i++ { // one alone stays what it is
			l[i].time = math.Exp(pools[k].log)
		}
		end = pools[k].first
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
	t := float64(p.Time)
	switch {
	case i >= rungs-1:
		t = max(t, l[rungs-1].time)
	case l[i].same(&p) && l[i+1].same(&p):
		t = min(max(t, l[i].time), l[i+1].time)
	default:
		share := math.Log2(float64(a.Size)) - float64(i)
		t = math.Exp((1-share)*math.Log(l[i].time) + share*math.Log(l[i+1].time))
	}
	took := max(units.Time(math.Round(t)), p.least)
	if off := float64(took) / float64(p.Time); off > 1.1 || off < 1/1.1 {
		p.Warnings = append(p.Warnings[:len(p.Warnings):len(p.Warnings)], fmt.Sprintf("NCCL's choice changes near this size, and the "+
			"kernels disagree: %s/%s by itself would take %v", p.Algorithm, p.Protocol, p.Time))
	}
	p.Time, p.Latency = took, min(p.Latency, took)
	return p
}

func (x *rung) same(p *Prediction) bool {
	return x.algorithm == p.Algorithm && x.protocol == p.Protocol
}
