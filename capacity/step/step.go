// Package step predicts a training step: a workload in a parallel layout on a machine,
// with computation timed by fitted GPU costs, every collective by the communication
// library's model on the real topology with all groups at once, and their overlap played
// out from dependencies.
//
//	Layout ─▶ stages ─▶ passes of blocks (player) ─▶ tasks and transfers (builder) ─▶ engine ─▶ Result
//
// What the framework adds, and stragglers, are parts of their own, fitted on published steps
// (model/workload/frameworks.yaml). What is left out: data loading (Result.Notes says so).
package step

import (
	"errors"
	"fmt"
	"math"

	"railyard/model/collective"
	"railyard/model/units"
	"railyard/model/workload"
)

// Options of a prediction.
type Options struct {
	// Measured is the computation of a step on one GPU of the busiest stage, forward and
	// backward, as the user measured it; 0: by the model.
	Measured units.Time
	// AllowOverflow predicts a step that does not fit into memory.
	AllowOverflow bool
	// Timeline keeps what a trace needs.
	Timeline bool
}

// Run predicts a step. A layout that does not fit the machine or its memory is an error
// that says which number to change; memory as *TooLarge.
func Run(p *Predictor, w *workload.Workload, l Layout, o Options) (*Result, error) {
	b, m, err := prepare(p, w, &l, o)
	if err != nil {
		return nil, err
	}
	if o.Measured > 0 {
		if err := b.rescale(o.Measured); err != nil {
			return nil, err
		}
	}
	e, end, tied, err := b.played()
	if err != nil {
		return nil, err
	}
	r := &Result{Workload: w, Layout: l, Memory: m, machine: p.machine, Runtime: p.runtime.Name()}
	r.collect(b, e, end, tied)
	if err := r.alone(b, e.lanes); err != nil {
		return nil, err
	}
	if least := r.minComputeTime(); o.Measured > 0 && o.Measured < least {
		return nil, fmt.Errorf("a measured step of %v is faster than the peak of %s allows, at least %v: "+
			"give the forward and backward passes of all %d micro-batches on one GPU",
			o.Measured, r.machine.GPU.Title, least, l.MicroBatches())
	}
	if o.Timeline {
		r.timeline = e.lanes
	}
	return r, nil
}

// Time is how long the step of Run takes, without saying where it goes: all that a search
// asks of most layouts.
func Time(p *Predictor, w *workload.Workload, l Layout) (units.Time, error) {
	b, _, err := prepare(p, w, &l, Options{})
	if err != nil {
		return 0, err
	}
	_, end, tied, err := b.played()
	if tied != nil {
		end += tied.Time
	}
	return end + b.update(), err
}

// played plays all stages until the last has ended; tied is exchanged after that.
func (b *builder) played() (e *engine, end units.Time, tied *Collective, err error) {
	e = &engine{}
	if err = b.hop(); err == nil {
		e.lanes, err = b.lanes()
	}
	if err == nil {
		end, err = e.run()
	}
	if err == nil {
		tied, err = b.tied()
	}
	return e, end, tied, err
}

// straggle is how much longer the slowest GPU of a machine takes, and with it all: it grows
// by so much a doubling from one node of 8 on (pairs of equal steps in validation/steps.csv
// whose GPUs differ; arXiv 2208.11035 has such a spread between GPUs of one model).
func straggle(ranks int) float64 { return 0.004 * math.Log2(max(float64(ranks)/8, 1)) }

// prepare checks a layout and its memory.
func prepare(p *Predictor, w *workload.Workload, l *Layout, o Options) (*builder, Memory, error) {
	if err := errors.Join(p.machine.GPU.Supports(w.Precision), l.Check(w, p.machine.Topology.NumRanks())); err != nil {
		return nil, Memory{}, err
	}
	b := newBuilder(p, w, l, o)
	m := memory(w, l, b.shard, b.stages, p.machine.GPU.Memory)
	if !m.CanFit() && !o.AllowOverflow {
		return nil, m, m.TooLarge(l)
	}
	return b, m, nil
}

func newBuilder(p *Predictor, w *workload.Workload, l *Layout, o Options) *builder {
	by := w.RunBy(l.Zero)
	x := &player{predict: p, families: l.families(), precision: w.Precision, straggle: straggle(l.Ranks()), scale: 1,
		overhead: by.OverheadOn(p.machine.GPU, w.Precision), attention: by.Attention.On(p.machine.GPU),
		launch: by.ExpertLaunch.On(p.machine.GPU), spans: o.Timeline}
	shard := l.Sharding()
	shard.By = by
	known := p.memo
	if o.Timeline {
		known = newMemo()
	}
	return &builder{shard: shard, memo: known,
		replicas: &replicas{player: x, w: w, l: l, known: map[exchangedKey]exchanged{}}, stages: stages(w, p.memo.blocks(w), l),
		works: map[workKey]*work{}, calls: map[int]*callTable{}}
}

// hop is the time from one pipeline stage to the next: the largest boundary that there is.
func (b *builder) hop() error {
	if b.l.Pipeline == 1 {
		return nil
	}
	size := 0.0
	for _, s := range b.stages {
		for _, c := range s.chunks {
			size = max(size, c[len(c)-1].Boundary(b.l.Sharding(), float64(b.l.MicroBatch)))
		}
	}
	x, err := b.predict.Collective(&b.families.pipeline, collective.SendRecv, units.Bytes(size))
	b.travel, b.sent = x.Time, x
	b.sentSize = units.Bytes(size)
	return err
}

// busiest is the stage that computes longest, and how long.
func (b *builder) busiest() (int, units.Time, error) {
	stage, most := 0, units.Time(-1)
	for i := range b.stages {
		var t units.Time
		for _, chunk := range b.stages[i].chunks {
			for _, backward := range []bool{false, true} {
				w, err := b.work(chunk, backward)
				if err != nil {
					return 0, 0, err
				}
				t += w.compute * units.Time(b.l.MicroBatches())
			}
		}
		if t > most {
			stage, most = i, t
		}
	}
	return stage, most, nil
}

// rescale makes the busiest stage compute as long as was measured.
func (b *builder) rescale(measured units.Time) error {
	b.overhead, b.attention, b.straggle, b.measured = 0, 0, 0, true
	_, model, err := b.busiest()
	if err != nil {
		return err
	}
	if model == 0 {
		return fmt.Errorf("%s computes nothing: a measured step cannot be divided over its layers", b.w.Name)
	}
	b.scale = float64(measured) / float64(model)
	b.memo = newMemo()
	clear(b.works)
	return nil
}
