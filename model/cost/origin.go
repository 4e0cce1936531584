package cost

import (
	"fmt"

	"railyard/model/topology"
	"railyard/model/yamlfile"
)

// OriginKind is how costs came to be known, from the best to the worst.
type OriginKind string

// The kinds of origins.
const (
	Measured OriginKind = "measured" // links and messages, on this machine
	Fitted   OriginKind = "fitted"   // to collectives that were measured on it
	Derived  OriginKind = "derived"  // from another machine's, or from what another runtime reaches here
	Assumed  OriginKind = "assumed"  // nothing like it was measured
	LineRate OriginKind = "line rate"
)

// Choices are all of them.
func (OriginKind) Choices() []string {
	return yamlfile.Words(Measured, Fitted, Derived, Assumed, LineRate)
}

// Origin says where costs come from.
type Origin struct {
	Kind   OriginKind `file:"origin"`
	From   string     `file:"from"` // the machine whose costs they are, where Kind is Derived or Assumed
	Source string     `file:"source,need"`
	Date   string     `file:"date,date"`
	Error  string     `file:"error"` // how well they fit, in words: in and out of sample
}

// Borrowed reports whether the costs are not of the machine itself.
func (o *Origin) Borrowed() bool { return o.Kind == Derived || o.Kind == Assumed }

// String is one line: "measured: …", "derived from h200: …".
func (o *Origin) String() string {
	text := string(o.Kind)
	if o.From != "" {
		text += " from " + o.From
	}
	return fmt.Sprintf("%s: %s", text, o.Source)
}

// OriginOver is where the costs of transfers over a medium come from.
func (p *Profile) OriginOver(medium topology.Medium) Origin {
	for i := range p.Curves {
		if c := &p.Curves[i]; c.Origin != nil && c.Protocol != inSwitch && (c.Medium == medium.String() || c.Medium == anyMedium) {
			return *c.Origin
		}
	}
	return p.Origin
}

// PartOrigin is the origin of a part of a machine.
type PartOrigin struct {
	Part string // nccl, railyard, access, fastest
	Origin
}

// Parts are the origins of what the machine's file has.
func (m *Machine) Parts() []PartOrigin {
	var out []PartOrigin
	for _, x := range []struct {
		part string
		*Profile
	}{{"nccl", m.NCCL()}, {"railyard", m.Measured()}} {
		if x.Profile != nil {
			out = append(out, PartOrigin{x.part, x.Origin})
		}
	}
	if m.Access != nil {
		out = append(out, PartOrigin{"access", m.Access.Origin})
	}
	if m.fastest != nil {
		out = append(out, PartOrigin{"fastest", m.fastest.Origin})
	}
	return out
}
