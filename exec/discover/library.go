package discover

import (
	"railyard/model/health"
	"railyard/model/survey"
)

// Library is the driver's management library. Implementations need not be safe for
// concurrent use.
type Library interface {
	// Driver is the version of the driver.
	Driver() string
	// GPUs are the GPUs by the library's number, which is the order of their PCI addresses.
	GPUs() ([]survey.GPU, error)
	// Count adds what the counters of each GPU and NVLink say, and what moves besides: clocks, how busy it is, why it is slow.
	Count(s *health.State) error
	// Recount adds only the counters that go round soon, again: those of PCIe.
	Recount(s *health.State) error
	// Health adds what the library knows of each GPU to what is known of a machine: its PCIe, clocks, memory, modes, NVLinks.
	Health(s *health.State)
	// Close ends the use of the library; nothing may be called afterwards.
	Close()
}
