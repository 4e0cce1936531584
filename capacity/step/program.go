package step

import (
	"railyard/model/gpu"
	"railyard/model/units"
	"railyard/model/workload"
)

// span is one thing on a GPU's timeline of a block.
type span struct {
	name       string
	axis       workload.Axis // "": computation
	start, end units.Time
}

// pass is a block's forward or backward pass on one GPU.
type pass struct {
	time    units.Time
	compute units.Time
	again   units.Time                   // of compute: recomputation
	adds    additions                    // to compute, by framework and stragglers
	exposed map[workload.Axis]units.Time // the GPU waits for it
	busy    [2]units.Time                // communication on scale-up links, and on the network
	calls   []call
	spans   []span
}

// call is one collective of a pass.
type call struct {
	step workload.Step
	time units.Time
	Prediction
	sms     float64    // share of the multiprocessors that it takes
	exposed units.Time // the GPU waits so long for it
}

// player times passes.
type player struct {
	predict   *Predictor
	families  families
	precision gpu.Precision
	overhead  float64 // of the framework, a share of what kernels take
	attention float64 // the same of attention alone
	launch    float64 // of a product of an expert, on the host, microseconds
	straggle  float64 // of the slowest GPU, a share of what one takes in the mean
	scale     float64 // of computation: what the user measured over what kernels take
	measured  bool    // scale is from a measurement
	spans     bool    // keep them
	silent    bool    // communication takes no time
}

// additions are what comes on top of kernels.
type additions struct{ framework, stragglers units.Time }

func (a *additions) add(b additions) {
	a.framework, a.stragglers = a.framework+b.framework, a.stragglers+b.stragglers
}

// parts are what a step that computes takes in kernels, and on top.
func (p *player) parts(s *workload.Step) (kernels units.Time, a additions) {
	kernels = units.Time(float64(s.Time(p.predict.machine.GPU, p.precision)) * p.scale)
	share := p.overhead
	if s.Do == workload.Attend {
		share += p.attention
	}
	a.framework = units.Time(float64(kernels) * share)
	a.stragglers = units.Time(float64(kernels+a.framework) * p.straggle)
	return kernels, a
}

// play runs steps on two streams: computation in order, communication in order. What is
// asynchronous goes on beside the computation until somebody waits.
func (p *player) play(steps []workload.Step) (*pass, error) {
	x := &pass{exposed: map[workload.Axis]units.Time{}}
	var compute, network, hidden units.Time // hidden goes on beside all of it
	var taken float64                       // multiprocessors, as a share, while it does
	waiting := -1                           // the last asynchronous call
	var host units.Time                     // it has launched all
	wait := func() {
		if late := host - compute; late > 0 && !p.measured {
			x.compute, compute = x.compute+late, host
			x.adds.framework += late
		}
	}
	for i := range steps {
		s := &steps[i]
		switch s.Do {
		case workload.Communicate:
			c, err := p.call(s)
			if err != nil {
				return nil, err
			}
			start := max(compute, network)
			if s.Beside {
				hidden, taken = hidden+c.time, c.sms
				x.record(p, c, start)
				continue
			}
			if s.Async {
				waiting = len(x.calls)
			} else {
				c.exposed = start + c.time - compute
				x.exposed[s.Axis] += c.exposed
				compute = start + c.time
			}
			network = start + c.time
			x.record(p, c, start)
		case workload.Launch:
			wait()
			host = compute + units.FromMicroseconds(s.Count*p.launch)
		case workload.Launched:
			wait()
		case workload.Wait:
			if network > compute {
				x.calls[waiting].exposed += network - compute
				x.exposed[x.calls[waiting].step.Axis] += network - compute
				compute = network
			}
		default:
			kernels, adds := p.parts(s)
			t := kernels + adds.framework + adds.stragglers
			if waiting >= 0 { // beside a collective's kernel
				beside := min(units.Time(float64(t)/(1-x.calls[waiting].sms)), max(network-compute, 0))
				t += units.Time(float64(beside) * x.calls[waiting].sms)
			}
			if p.spans {
				x.spans = append(x.spans, span{s.Name, "", compute, compute + t})
			}
			x.compute += t
			x.adds.add(adds)
			compute += t
		}
	}
	wait()
	if hidden > 0 {
		late := max(hidden-x.compute, 0) + units.Time(float64(min(hidden, x.compute))*slower(taken))
		x.exposed[workload.Expert] += late
		compute += late
	}
	x.time = max(compute, network)
	return x, nil
}

// call predicts a collective of a step.
func (p *player) call(s *workload.Step) (call, error) {
	if p.silent {
		return call{step: *s}, nil
	}
	f := p.families.of(s.Axis)
	var x Prediction
	var err error
	if s.Routing != nil && !s.Routing.Copies {
		x, err = p.dispatch(f, s)
	} else {
		x, err = p.predict.Collective(f, s.Kind, s.Size)
	}
	if err != nil {
		return call{}, err
	}
	t := x.Time
	if s.Count > 0 {
		t = units.Time(float64(t) * s.Count)
	}
	return call{step: *s, time: t, Prediction: x, sms: p.smShare(x)}, nil
}

// smShare is the share of the GPU's multiprocessors that a collective takes.
func (p *player) smShare(x Prediction) float64 {
	if all := p.predict.machine.GPU.SMs; all > x.SMs {
		return float64(x.SMs) / float64(all)
	}
	return 0
}

// record notes a collective.
func (x *pass) record(p *player, c call, start units.Time) {
	if c.Network {
		x.busy[1] += c.time
	} else {
		x.busy[0] += c.time
	}
	x.calls = append(x.calls, c)
	if p.spans {
		x.spans = append(x.spans, span{c.step.Name, c.step.Axis, start, start + c.time})
	}
}
