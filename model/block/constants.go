package block

import (
	"fmt"
	"strings"
)

// Constants writes a rank's plan as C++ constants with the loops around them, for a
// kernel in which the compiler folds it.
func (p *Program) Constants(rank int) string {
	var b strings.Builder
	n := 0
	var lanes strings.Builder
	fmt.Fprintf(&b, "#pragma once\n")
	for i := range p.Lanes[rank] {
		l := &p.Lanes[rank][i]
		fmt.Fprintf(&lanes, "    if (e.lane == %d) {\n", i)
		for k, list := range [][]Op{l.Before, l.Body, l.After} {
			slice := "0"
			if k == 1 && l.Slices > 1 {
				fmt.Fprintf(&lanes, "        for (u32 slice = 0; slice < %d; slice++) {\n", l.Slices)
				slice = "slice"
			}
			for j := range list {
				fmt.Fprintf(&b, "constexpr Op OP_%d = %s;\n", n, list[j].constant(l))
				fmt.Fprintf(&lanes, "        e.run(OP_%d.head, OP_%d.ref, %d, %s);\n", n, n, n, slice)
				n++
			}
			if slice != "0" {
				fmt.Fprintf(&lanes, "        }\n")
			}
		}
		fmt.Fprintf(&lanes, "    }\n")
	}
	fmt.Fprintf(&b, "DEV void play_lanes(Engine &e)\n{\n%s}\n", lanes.String())
	return b.String()
}

// constant is an operation as an aggregate of plan.cuh's Op.
func (op *Op) constant(l *Lane) string {
	var refs []string
	for _, list := range [][]Ref{op.Sources, op.PacketSources, op.Destinations, op.PacketTargets} {
		for _, r := range list {
			refs = append(refs, fmt.Sprintf("%#xull", uint64(r.Rank*buffers+int(r.Buffer))<<48|uint64(r.Offset)))
		}
	}
	return fmt.Sprintf("{{%d, %d, %d, %d, %d, %d, %d, %d, %d, %d, %d, %d, %dull, %dull, %dull}, {%s}}", op.Kind, len(op.Sources), len(op.PacketSources), len(op.Destinations),
		len(op.PacketTargets), op.Own, op.Flags, op.Line, op.Peers, op.Lane, op.Value, op.PerSlice, l.Unit, op.Limit, l.Stride, strings.Join(refs, ", "))
}
