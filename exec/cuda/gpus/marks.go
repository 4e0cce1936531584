//go:build cgo

package gpus

import (
	"errors"
	"time"

	"railyard/exec/cuda/driver"
)

// Marks are timed events on a GPU's stream, with the same work between any two that follow one
// another.
type Marks []driver.Event

// NewMarks makes marks on the GPU's thread; Destroy gives them back, after an error too.
func NewMarks(n int) (m Marks, err error) {
	for range n {
		e, err := driver.NewEvent(true)
		if err != nil {
			return m, err
		}
		m = append(m, e)
	}
	return m, nil
}

// Times is how long each work took but the first, which the host's launches stagger.
func (m Marks) Times() ([]time.Duration, error) {
	var out []time.Duration
	for i := 2; i < len(m); i++ {
		t, err := m[i].Since(m[i-1])
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, nil
}

// Destroy gives the marks back.
func (m Marks) Destroy() error {
	var errs []error
	for _, e := range m {
		errs = append(errs, e.Destroy())
	}
	return errors.Join(errs...)
}

// Slowest is the time of the slowest GPU in each round, of the times that each GPU took.
func Slowest(times [][]time.Duration) []time.Duration {
	out := make([]time.Duration, len(times[0]))
	for _, list := range times {
		for i, t := range list {
			out[i] = max(out[i], t)
		}
	}
	return out
}
