package cost

import (
	"slices"

	"railyard/model/units"
)

// Protocol is how data and flags share a message, and how much of it is under way: a
// channel's staging buffer has Slots slots of Slot bytes of data each.
type Protocol struct {
	Name        string      // ll, ll128, simple
	Efficiency  float64     // data in what crosses the wire: no kernel of the protocol is faster
	Slots       int         // of a channel's staging buffer
	Slot        units.Bytes // of data
	Unit        units.Bytes // of data that a channel passes on at a time
	Threads     int         // of a channel's block
	ThreadBytes units.Bytes // that a thread has to do before another channel is taken
	Hop         units.Time  // of a ring over NVLink: flag, load, store
	Drain       float64     // share of a step that copying out of the last slot takes
	Source      string
	Date        string
}

// Protocol is the machine's protocol with a name, else the shipped one; nil where neither
// is known.
func (h *Hardware) Protocol(name string) *Protocol {
	for _, list := range [][]Protocol{h.MessageProtocols, defaults.MessageProtocols} {
		if i := slices.IndexFunc(list, func(x Protocol) bool { return x.Name == name }); i >= 0 {
			return &list[i]
		}
	}
	return nil
}
