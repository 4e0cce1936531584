package schedule

// Instances is the schedule with every channel n times over, each with an n-th of its
// share: on runtimes that run a channel in one thread block, n of them move its data.
// The links carry what they carried, in n times as many messages.
func (s *Schedule) Instances(n int) *Schedule {
	out := *s
	out.Channels = nil
	for i := range s.Channels {
		for range n {
			out.Channels = append(out.Channels, s.Channels[i])
		}
	}
	return &out
}
