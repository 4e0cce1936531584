package cost

import (
	"slices"

	"railyard/model/units"
)

// Protocol is how data and flags share a message, and how much of it is under way: a
// channel's staging buffer has Slots slots of Slot bytes of data each.
type Protocol struct {
	Name        string      `file:"name,need,unique"`                // ll, ll128, simple
	Efficiency  float64     `file:"efficiency,some,lo=0,hi=1"`       // data in what crosses the wire: no kernel of the protocol is faster
	Slots       int         `file:"slots,some,lo=1,hi=1073741824"`   // of a channel's staging buffer
	Slot        units.Bytes `file:"slot,some"`                       // of data
	Unit        units.Bytes `file:"unit,some"`                       // of data that a channel passes on at a time
	Threads     int         `file:"threads,some,lo=1,hi=1073741824"` // of a channel's block
	ThreadBytes units.Bytes `file:"thread_bytes,some"`               // that a thread has to do before another channel is taken
	Hop         units.Time  `file:"hop,some"`                        // of a ring over NVLink: flag, load, store
	Drain       float64     `file:"drain,lo=0,hi=1"`                 // share of a step that copying out of the last slot takes
	Source      string      `file:"source,need"`
	Date        string      `file:"date,date"`
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
