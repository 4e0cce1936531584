package block

import (
	"fmt"
	"slices"
	"strings"
)

// Forms are what an interpreter knows of its plans when it is compiled: which operations
// there are, with how many sources and destinations, so that their loops are as those of a
// specialised kernel. Addresses, sizes, steps, slices and order it reads. So a schedule needs
// the same few forms for all sizes.
type Forms struct {
	list  []form
	Width int // the most sources, destinations or packets of a kind
	Refs  int // the most references
}

// form is an operation without its places.
type form struct {
	kind                                                     Kind
	sources, packetSources, destinations, packetTargets, own int
	flags, line                                              uint8
}

func (op *Op) form() form {
	return form{kind: op.Kind, sources: len(op.Sources), packetSources: len(op.PacketSources), destinations: len(op.Destinations),
		packetTargets: len(op.PacketTargets), own: op.Own, flags: op.Flags, line: op.Line}
}

// Peers is what the loops of a kernel of constants are unrolled to: the ranks, or more where an
// operation names more places, several of one peer.
func (p *Program) Peers() int { return max(p.Ranks, FormsOf(slices.Concat(p.Lanes...)...).Width) }

// FormsOf are those of lanes.
func FormsOf(lanes ...Lane) *Forms {
	f := &Forms{Width: 2, Refs: 2}
	for _, l := range lanes {
		for _, op := range slices.Concat(l.Before, l.Body, l.After) {
			if x := op.form(); !slices.Contains(f.list, x) {
				f.list = append(f.list, x)
			}
			f.Width = max(f.Width, len(op.Sources), len(op.Destinations), len(op.PacketSources)+1, len(op.PacketTargets)+1)
			f.Refs = max(f.Refs, len(op.refs(0, 1))+len(op.Limits))
		}
	}
	f.Refs += f.Refs % 2 // operations are whole 16 bytes
	return f
}

func (f *Forms) number(op *Op) int { return slices.Index(f.list, op.form()) }

// Source is the forms as C++, for an engine to play.
func (f *Forms) Source() string {
	var b strings.Builder
	fmt.Fprintf(&b, "#pragma once\nstruct Forms {\n    static DEV void run(Engine &e, const Turn &t, Refs ref, u32 number, u32 slice)\n    {\n        Head h = t.op;\n")
	for i, x := range f.list {
		fmt.Fprintf(&b, "        if (h.form == %d) {\n", i)
		fmt.Fprintf(&b, "            h.kind = %d, h.nsrc = %d, h.nll = %d, h.ndst = %d, h.nput = %d, h.own = %d, h.flags = %d, h.line = %d;\n",
			x.kind, x.sources, x.packetSources, x.destinations, x.packetTargets, x.own, x.flags, x.line)
		fmt.Fprintf(&b, "            e.run(h, ref, t.share, number, slice);\n            return;\n        }\n")
	}
	fmt.Fprintf(&b, "    }\n};\n")
	return b.String()
}
