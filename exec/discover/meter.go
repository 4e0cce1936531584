package discover

import (
	"time"

	"railyard/model/units"
)

// Meter reads what the NVLinks carry during a run.
type Meter struct {
	library Library
	last    []Traffic
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

// Moved is what each port carried since the call before, or since NewMeter.
func (m *Meter) Moved() ([]Traffic, error) {
	now, err := settled(m.library)
	if err != nil {
		return nil, err
	}
	moved := Moved(m.last, now)
	m.last = now
	return moved, nil
}

// settled is the first of two equal readings; of a machine that others use, the last of
// several.
func settled(l Library) ([]Traffic, error) {
	last, err := l.Traffic()
	for range maxRests {
		if err != nil {
			return nil, err
		}
		time.Sleep(rest)
		var now []Traffic
		if now, err = l.Traffic(); err == nil && equal(last, now) {
			return now, nil
		}
		last = now
	}
	return last, err
}

func equal(a, b []Traffic) bool {
	for _, t := range Moved(a, b) {
		if t.Sent != 0 || t.Received != 0 {
			return false
		}
	}
	return len(a) == len(b)
}

// Busiest is what the GPU that sent most sent.
func Busiest(moved []Traffic) (most units.Bytes) {
	byGPU := map[int]units.Bytes{}
	for _, m := range moved {
		byGPU[m.GPU] += m.Sent
		most = max(most, byGPU[m.GPU])
	}
	return most
}
