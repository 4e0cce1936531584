package cost

import (
	"fmt"
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

// Protocol is the profile's protocol with a name, else the shipped one; nil where neither
// is known.
func (p *Profile) Protocol(name string) *Protocol {
	for _, list := range [][]Protocol{p.MessageProtocols, defaults.protocols} {
		if i := slices.IndexFunc(list, func(x Protocol) bool { return x.Name == name }); i >= 0 {
			return &list[i]
		}
	}
	return nil
}

type protocolInFile struct {
	Name        string  `yaml:"name"`
	Efficiency  float64 `yaml:"efficiency"`
	Slots       int     `yaml:"slots"`
	Slot        string  `yaml:"slot"`
	Unit        string  `yaml:"unit"`
	Threads     int     `yaml:"threads"`
	ThreadBytes string  `yaml:"thread_bytes"`
	Hop         string  `yaml:"hop"`
	Drain       float64 `yaml:"drain"`
	Source      string  `yaml:"source"`
	Date        string  `yaml:"date"`
}

func (r *reader) protocols(list []protocolInFile) []Protocol {
	var out []Protocol
	for i, f := range list {
		what := fmt.Sprintf("protocol %d", i)
		x := Protocol{f.Name, f.Efficiency, f.Slots, optional(r, what+" slot", f.Slot, units.ParseBytes), optional(r, what+" unit", f.Unit, units.ParseBytes), f.Threads,
			optional(r, what+" thread_bytes", f.ThreadBytes, units.ParseBytes), optional(r, what+" hop", f.Hop, units.ParseTime), f.Drain, f.Source, f.Date}
		switch {
		case x.Name == "" || x.Source == "" || x.Date == "":
			r.fail("%s: name, source and date must be given", what)
		case !(x.Efficiency > 0 && x.Efficiency <= 1):
			r.fail("%s: efficiency %v must be above 0 and at most 1", what, x.Efficiency)
		case !(x.Drain >= 0 && x.Drain <= 1):
			r.fail("%s: drain %v must be from 0 to 1", what, x.Drain)
		case x.Slots < 1 || x.Slot < 1 || x.Unit < 1 || x.Threads < 1 || x.ThreadBytes < 1 || x.Hop < 1:
			r.fail("%s: slots, slot, unit, threads, thread_bytes and hop must be positive", what)
		case slices.ContainsFunc(out, func(y Protocol) bool { return y.Name == x.Name }):
			r.fail("%s: %s is given twice", what, x.Name)
		}
		out = append(out, x)
	}
	return out
}

func protocolText(x *Protocol) protocolInFile {
	return protocolInFile{x.Name, x.Efficiency, x.Slots, x.Slot.String(), x.Unit.String(), x.Threads, x.ThreadBytes.String(), timeText(x.Hop), x.Drain, x.Source, x.Date}
}
