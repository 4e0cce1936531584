package block

import "railyard/model/schedule"

// inPlace prepares a schedule for input and output in one memory. The error says where a rank
// overwrites what is still read.
func inPlace(s *schedule.Schedule, o Options) (*schedule.Schedule, error) {
	switch {
	case !o.InPlace:
		return s, nil
	case o.Mechanism.Flagged():
		return schedule.WithoutSelfCopies(s) // a message is copied when it is sent
	}
	return schedule.InPlace(s)
}
