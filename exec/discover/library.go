package discover

import "railyard/model/units"

// Library is the driver's management library. Implementations need not be safe for
// concurrent use.
type Library interface {
	// Driver is the version of the driver.
	Driver() string
	// GPUs are the GPUs by the library's number, which is the order of their PCI addresses.
	GPUs() ([]GPU, error)
	// Traffic is what each NVLink that is up has carried since the driver was loaded, by
	// GPU and port; an error where the driver keeps no counters.
	Traffic() ([]Traffic, error)
	// Close ends the use of the library; nothing may be called afterwards.
	Close()
}

// GPU is what the library says about a GPU.
type GPU struct {
	Name         string      // as sold, such as "NVIDIA H200"
	Bus          string      // PCI address as sysfs writes it, 0000:1b:00.0
	Major, Minor int         // compute capability
	Memory       units.Bytes // 0: not known
	PCIe         Lanes       // largest generation, present width; zero parts are not known
	C2C          bool        // joined to its CPU chip to chip
	Ports        []Port      // NVLink ports by number, also those that are down
	Peers        []Peer      // by GPU
}

// Port is an NVLink port of a GPU.
type Port struct {
	Up  bool
	End End
	Bus string     // of the device at the other end; "" where it is not visible in this machine
	Raw units.Rate // line rate that the driver reports; 0: not known
}

// End is the kind of device at the other end of an NVLink.
type End uint8

// The ends of an NVLink.
const (
	EndUnknown End = iota
	EndGPU
	EndSwitch
	EndCPU
)

// Peer is how a GPU reaches the memory of another.
type Peer struct {
	NVLink bool // over NVLink, directly or over switches
	PCIe   bool // over PCIe, without a copy in host memory
}

// Lanes are a PCIe connection.
type Lanes struct {
	Generation int // 1 … 6
	Width      int // 1 … 16
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
