package discover

import (
	"railyard/model/health"
	"railyard/model/survey"
	"railyard/model/units"
)

// Library is the driver's management library. Implementations need not be safe for
// concurrent use.
type Library interface {
	// Driver is the version of the driver.
	Driver() string
	// GPUs are the GPUs by the library's number, which is the order of their PCI addresses.
	GPUs() ([]survey.GPU, error)
	// Traffic is what each NVLink that is up has carried since the driver was loaded, by
	// GPU and port; an error where the driver keeps no counters.
	Traffic() ([]Traffic, error)
	// Health adds what the library knows of each GPU to what is known of a machine: its PCIe, clocks, memory, modes, NVLinks.
	Health(s *health.State)
	// Close ends the use of the library; nothing may be called afterwards.
	Close()
}

// Traffic is what a port of a GPU carried, payload only.
type Traffic struct {
	GPU, Port      int
	Sent, Received units.Bytes
}

// Moved is what ports carried between two readings, in the order of the second one.
// Ports that the first lacks are left out. A counter that ran backwards (the driver was
// loaded anew) counts from zero.
func Moved(before, after []Traffic) []Traffic {
	type port struct{ gpu, port int }
	first := make(map[port]Traffic, len(before))
	for _, t := range before {
		first[port{t.GPU, t.Port}] = t
	}
	var out []Traffic
	for _, t := range after {
		b, ok := first[port{t.GPU, t.Port}]
		if !ok {
			continue
		}
		t.Sent, t.Received = since(b.Sent, t.Sent), since(b.Received, t.Received)
		out = append(out, t)
	}
	return out
}

func since(before, after units.Bytes) units.Bytes {
	if after < before {
		return after
	}
	return after - before
}
