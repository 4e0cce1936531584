package mscclpp

import (
	"io"

	"railyard/model/program"
	"railyard/model/schedule"
)

// Import reads a plan and makes a schedule of it: what its operations do in one order
// that its synchronisation allows, and Validate has shown that it allows no other
// result. Schedule.Check says whether it computes its collective. A plan with a race is read where race takes it: as what
// it does if that goes well; schedules wait for what they read.
func Import(r io.Reader, race *error) (*schedule.Schedule, error) {
	f, err := Read(r)
	if err != nil {
		return nil, err
	}
	if err := validate(f, race); err != nil {
		return nil, err
	}
	return f.schedule(race)
}

// schedule is the schedule that a valid plan describes.
func (f *File) schedule(race *error) (*schedule.Schedule, error) {
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
	if err := fine.play(v.spec, v.unit*parts, l, race); err != nil {
		return nil, err
	}
	s := l.Schedule()
	if f.Protocol == "LL" {
		s.Protocol = schedule.LL
	}
	s.Algorithm, s.Inputs = f.Name, map[string]string{"imported": "mscclpp"}
	return s, s.Validate()
}
