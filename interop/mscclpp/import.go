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
	fine, parts, err := f.unrolled()
	if err != nil {
		return nil, err
	}
	scratch := make([]int, len(f.GPUs))
	for i := range f.GPUs {
		scratch[i] = 2 * fine.GPUs[i].Scratch // and that of packets
	}
	l := program.NewLinear(v.spec, v.unit*parts, f.InPlace, scratch)
	if err := fine.play(v.spec, v.unit*parts, l); err != nil {
		return nil, err
	}
	s := l.Schedule()
	if f.Protocol == "LL" {
		s.Protocol = schedule.LL
	}
	s.Algorithm, s.Inputs = f.Name, map[string]string{"imported": "mscclpp"}
	return s, s.Validate()
}
