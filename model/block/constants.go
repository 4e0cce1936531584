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
				fmt.Fprintf(&b, "constexpr Op OP_%d = %s;\n", n, list[j].constant(l, rank, p.Instances))
				fmt.Fprintf(&lanes, "        e.run(OP_%d, %d, %s);\n", n, n, slice)
				n++
			}
			if slice != "0" {
				fmt.Fprintf(&lanes, "        }\n")
			}
		}
		fmt.Fprintf(&lanes, "    }\n")
	}
	fmt.Fprintf(&b, "DEV void play_lanes(Engine &e)\n{\n    e.begin();\n%s    e.end();\n}\n", lanes.String())
	return b.String()
}

// constant is an operation as an aggregate of plan.cuh's Op.
func (op *Op) constant(l *Lane, rank, instances int) string {
	var refs []string
	for _, r := range op.refs(rank, instances, nil) {
		refs = append(refs, fmt.Sprintf("%#xull", r.symbol()))
	}
	for _, n := range op.Limits {
		refs = append(refs, fmt.Sprintf("%dull", n))
	}
	var values []string
	h := op.head(l, 0)
	for _, n := range h.Bytes {
		values = append(values, fmt.Sprint(n))
	}
	for _, n := range h.Words {
		values = append(values, fmt.Sprint(n))
	}
	for _, n := range h.Longs {
		values = append(values, fmt.Sprintf("%dull", n))
	}
	return fmt.Sprintf("{{%s}, {%s}}", strings.Join(values, ", "), strings.Join(refs, ", "))
}
