package discover

import (
	"errors"
	"time"

	"railyard/model/health"
	"railyard/model/load"
	"railyard/model/units"
)

// Meter reads what the NVLinks carry during a run.
type Meter struct {
	library Library
	last    load.Sample
}

// The driver's counters may follow the traffic late: they are read until they rest.
const (
	rest     = 20 * time.Millisecond
	maxRests = 25
)

// NewMeter begins to count.
func NewMeter(l Library) (*Meter, error) {
	last, err := settled(l)
	return &Meter{l, last}, err
}

// Busiest is what the GPU that sent most over its NVLinks sent since the call before, or since NewMeter.
func (m *Meter) Busiest() (most units.Bytes, err error) {
	now, err := settled(m.library)
	if err != nil {
		return 0, err
	}
	moved, err := load.Between(m.last, now)
	if err != nil {
		return 0, err
	}
	m.last = now
	byGPU := map[string]float64{}
	for _, p := range moved.Ports {
		if p.Part.Kind != health.NVLink {
			continue
		}
		gpu := health.OfLink(p.Part.Name)
		byGPU[gpu] += p.Sent * moved.Took.Seconds()
		most = max(most, units.Bytes(byGPU[gpu]+0.5))
	}
	return most, nil
}

// settled is the first of two equal readings; of a machine that others use, the last of
// several.
func settled(l Library) (load.Sample, error) {
	last, err := counted(l)
	for range maxRests {
		if err != nil {
			return last, err
		}
		time.Sleep(rest)
		now, err := counted(l)
		if err != nil {
			return now, err
		}
		moved, err := load.Between(last, now)
		if err != nil {
			return now, err
		}
		still := true
		for _, p := range moved.Ports {
			still = still && (p.Part.Kind != health.NVLink || p.Sent+p.Received == 0)
		}
		if last = now; still {
			break
		}
	}
	return last, err
}

// counted is a sample of the library's counters; an error where no NVLink has any.
func counted(l Library) (load.Sample, error) {
	s := load.Sample{At: time.Now(), State: &health.State{}}
	if err := l.Count(s.State); err != nil {
		return s, err
	}
	for _, p := range s.State.Parts(health.NVLink) {
		if _, ok := p.Fact("sent"); ok {
			return s, nil
		}
	}
	return s, errors.New("no NVLink is up: there is no traffic to count")
}
