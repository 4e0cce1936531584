package topology

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Part says what kind of part a fault hits.
type Part uint8

// The parts that can fail or be slow.
const (
	LinkPart   Part = iota // a link between two devices, or some of its parallel links
	NICPart                // a network adapter
	GPUPart                // a device that holds a rank
	NodePart               // a node with all its devices
	SwitchPart             // a switch of a fabric, an NVSwitch or a PCIe switch
	PeerPart               // PCIe peer-to-peer to and from a GPU: without it, transfers are staged through host memory
)

var partNames = []string{"link", "nic", "gpu", "node", "switch", "p2p"}

// String is the part as faults write it.
func (p Part) String() string { return partNames[p] }

// Fault is one part of a machine that has failed or carries less than it should.
type Fault struct {
	Part Part
	Name string  // as DeviceName, NodeName and LinkName print; a link also as A--B, both directions
	Some int     // of a link: how many of its parallel links; 0: all
	Rate float64 // what is left of the rates of the part's links; 0: nothing, it has failed
}

// Slow reports whether the part still works, with a lower rate.
func (f Fault) Slow() bool { return f.Rate > 0 }

// String is the fault as ParseFault reads it.
func (f Fault) String() string {
	s := f.Part.String() + ":" + f.what()
	if f.Slow() {
		s += "=" + strconv.FormatFloat(f.Rate, 'g', -1, 64)
	}
	return s
}

// what names the part, without its kind.
func (f Fault) what() string {
	if f.Some > 0 {
		return f.Name + "#" + strconv.Itoa(f.Some)
	}
	return f.Name
}

const faultForms = "write link:A--B (both directions), link:A->B (one), link:A--B#2 (two of its parallel links), nic:NAME, gpu:NAME, " +
	"node:NAME, switch:NAME or p2p:GPU (its PCIe peer-to-peer); for a slow part, =0.5 after it is what is left of its rate"

var faultName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_./-]*$`)

// ParseFault reads a fault such as gpu:node0/gpu3, link:gpu0--nvswitch1#2 or nic:nic0=0.5.
func ParseFault(s string) (Fault, error) {
	wrong := func(format string, args ...any) (Fault, error) {
		return Fault{}, fmt.Errorf("fault %q: %s: %s", shorten(s), fmt.Sprintf(format, args...), faultForms)
	}
	kind, rest, ok := strings.Cut(s, ":")
	part := slices.Index(partNames, kind)
	if !ok || part < 0 {
		return wrong("it does not say what has failed")
	}
	f := Fault{Part: Part(part)}
	rest, rate, slow := strings.Cut(rest, "=")
	if slow {
		var err error
		if f.Rate, err = strconv.ParseFloat(rate, 64); err != nil || math.IsNaN(f.Rate) || f.Rate <= 0 || f.Rate >= 1 {
			return wrong("%q is not a share of the rate between 0 and 1", shorten(rate))
		}
	}
	rest, some, partly := strings.Cut(rest, "#")
	if partly {
		var err error
		if f.Some, err = strconv.Atoi(some); err != nil || f.Some < 1 || f.Some > maxCount {
			return wrong("%q is not a number of parallel links", shorten(some))
		}
		if f.Part != LinkPart {
			return wrong("only of a link can a number be lost")
		}
	}
	f.Name = rest
	switch {
	case f.Part == LinkPart && len(linkEnds(rest)) == 0:
		return wrong("%q does not name a link", shorten(rest))
	case f.Part == PeerPart && slow:
		return wrong("peer-to-peer works or does not")
	case f.Part != LinkPart && !faultName.MatchString(rest):
		return wrong("%q is not a name", shorten(rest))
	}
	return f, nil
}

// ends are the two devices that a link's name may mean.
type ends struct {
	from, to string
	both     bool // both directions
}

// linkEnds are the ways to read a link's name: ids may themselves hold dashes.
func linkEnds(name string) []ends {
	if a, b, ok := strings.Cut(name, "->"); ok {
		if faultName.MatchString(a) && faultName.MatchString(b) {
			return []ends{{a, b, false}}
		}
		return nil
	}
	var out []ends
	for i := 1; i+2 < len(name); i++ {
		if a, b := name[:i], name[i+2:]; name[i:i+2] == "--" && faultName.MatchString(a) && faultName.MatchString(b) {
			out = append(out, ends{a, b, true})
		}
	}
	return out
}

// Repeats reports whether both faults hit one part, or links of one that the other has as
// well. Some of a link's parallel links may fail while others of them are slow.
func (f Fault) Repeats(g Fault) bool {
	if f.Part != g.Part || f.Some > 0 && g.Some > 0 && f.Rate != g.Rate {
		return false
	}
	if f.Part != LinkPart {
		return f.Name == g.Name
	}
	return slices.ContainsFunc(linkEnds(f.Name), func(a ends) bool {
		return slices.ContainsFunc(linkEnds(g.Name), a.meets)
	})
}

// meets reports whether a direction is in both.
func (e ends) meets(o ends) bool {
	return e.from == o.from && e.to == o.to || (e.both || o.both) && e.from == o.to && e.to == o.from
}

// maxNamed is how many faults the name of a degraded topology lists.
const maxNamed = 3

// describe says what is missing: "without gpu gpu3, with link a--b at 0.5 of its rate".
func describe(faults []Fault) string {
	var out []string
	for i, f := range faults {
		if i == maxNamed {
			out = append(out, fmt.Sprintf("and %d more", len(faults)-maxNamed))
			break
		}
		if f.Slow() {
			out = append(out, fmt.Sprintf("with %v %s at %g of its rate", f.Part, f.what(), f.Rate))
		} else {
			out = append(out, fmt.Sprintf("without %v %s", f.Part, f.what()))
		}
	}
	return strings.Join(out, ", ")
}
