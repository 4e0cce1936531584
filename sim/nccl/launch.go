package nccl

import (
	"math"

	"railyard/model/cost"
	"railyard/model/units"
)

// LaunchSize is a size whose time shows what launches take, where they take longer than kernels.
const LaunchSize = 8 * units.KiB

// Launch is what launches take, in a run in which one process launches for several GPUs.
type Launch struct {
	Floor   units.Time // at least, of a small size, its kernel included
	Channel units.Time // more for each channel that a size takes beyond those of LaunchSize
	Ahead   units.Time // ahead of kernels, which nothing hides: an operation's share of the launch of a graph of several
}

// PredictLaunched predicts a run behind its launches.
func (r *Runtime) PredictLaunched(a Ask, l Launch) (Prediction, error) {
	p, err := r.Predict(a)
	p.Time += l.Ahead
	if err != nil || l.Floor == 0 {
		return p, err
	}
	a.Size = min(a.Size, LaunchSize)
	small, err := r.Predict(a)
	return p.behind(l.Floor+r.launched(&p, &small)*l.Channel, small.Time), err
}

// LaunchOf is what launches of a case take at least, its small kernel included.
func (r *Runtime) LaunchOf(a Ask, l Launch) (units.Time, error) {
	if l.Floor == 0 || l.Channel == 0 {
		return l.Floor, nil
	}
	p, err := r.Predict(a)
	if err != nil {
		return 0, err
	}
	a.Size = min(a.Size, LaunchSize)
	small, err := r.Predict(a)
	return l.Floor + r.launched(&p, &small)*l.Channel, err
}

// launched is how many channels more a prediction takes than a small one. Sends and receives are not counted: their number
// of channels hardly depends on the size.
func (r *Runtime) launched(p, small *Prediction) units.Time {
	return units.Time(max(r.channelsOf(p)-r.channelsOf(small), 0))
}

// channelsOf are the channels of what was predicted; 0 where NCCL's model does not say.
func (r *Runtime) channelsOf(p *Prediction) int {
	if r.model == nil || p.Algorithm == "p2p" {
		return 0
	}
	algorithm, protocol := choice{algorithm: p.Algorithm, protocol: p.Protocol}.names()
	return r.model.channelsAt(algorithm, protocol, p.Work.Size)
}

// behind is a prediction behind launches that take floor, the time of a small kernel included. Launches hide kernels and kernels
// hide launches, but neither wholly: both vary from one GPU and one operation to the next, so that times near the floor are above it
// and above the kernel's. They add as independent parts do, in squares.
func (p Prediction) behind(floor, small units.Time) Prediction {
	p.Floored = floor > p.Time
	if p.Floored {
		p.Basis = cost.LaunchFloor
	}
	if launch := float64(floor)*float64(floor) - float64(small)*float64(small); launch > 0 {
		p.Time = units.Time(math.Sqrt(launch + float64(p.Time)*float64(p.Time)))
	}
	return p
}
