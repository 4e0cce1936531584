package mscclpp

import (
	"io"

	"railyard/model/program"
	"railyard/model/schedule"
)

// Import reads a plan and makes a schedule of it: what its operations do in one order
// that its synchronisation allows, and Validate has shown that it allows no other
// result. Schedule.Check says whether it computes its collective.
func Import(r io.Reader) (*schedule.Schedule, error) {
	f, err := Read(r)
	if err != nil {
		return nil, err
	}
	if err := Validate(f); err != nil {
		return nil, err
	}
	return f.Schedule()
}

// Schedule is the schedule that a valid plan describes.
func (f *File) Schedule() (*schedule.Schedule, error) {
	v := &validator{f: f}
	v.file()
	scratch := make([]int, len(f.GPUs))
	for i := range f.GPUs {
		scratch[i] = f.GPUs[i].Scratch
	}
	l := program.NewLinear(v.spec, v.unit, f.InPlace, scratch)
	if err := newRunner(f, v.spec, v.unit, l).run(); err != nil {
		return nil, err
	}
	s := l.Schedule()
	s.Algorithm, s.Inputs = f.Name, map[string]string{"imported": "mscclpp"}
	return s, s.Validate()
}
