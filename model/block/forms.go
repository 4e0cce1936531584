package block

import (
	"fmt"
	"slices"
	"strings"
)

// Forms are what an interpreter knows of its plans when it is compiled: which operations
// there are, with how many sources and destinations, so that their loops are as those of a
// specialised kernel, and of short lanes their order. Addresses, sizes, steps and slices it reads, and
// the order of others. So a schedule needs the same few interpreters for all sizes.
type Forms struct {
	threads int // of a block
	list    []form
	order   []int // of all lanes' operations, where it is one and short; else nil
	Width   int   // the most sources, destinations or packets of a kind
	Refs    int   // the most references

	Unaligned bool // some data are not aligned to 16 bytes
}

// form is an operation without its places.
type form struct {
	kind                                                     Kind
	sources, packetSources, destinations, packetTargets, own int
	flags, line                                              uint8
}

// form of a lane's operation.
func (f *Forms) form(l *Lane, op *Op) form {
	x := form{kind: op.Kind, sources: len(op.Sources), packetSources: len(op.PacketSources), destinations: len(op.Destinations),
		packetTargets: len(op.PacketTargets), own: op.Own, flags: op.Flags, line: op.Line}
	if round := int64(f.threads) * op.access(); round > 0 && min(l.Unit, op.Limit) <= round {
		x.flags |= Once
	}
	return x
}

// access is the bytes of data that a thread moves in a round of packets or words; 0 of operations
// that do not ask whether one round is enough.
func (op *Op) access() int64 {
	if m, ok := op.Kind.Mechanism(); ok && mechanisms[m].threads == 1 {
		return mechanisms[m].bytes
	}
	return 0
}

// Peers is what the loops of a kernel of constants are unrolled to: the ranks, or more where an
// operation names more places, several of one peer.
func (p *Program) Peers() int { return max(p.Ranks, FormsOf(0, slices.Concat(p.Lanes...)...).Width) }

// FormsOf are those of lanes whose blocks have so many threads.
func FormsOf(threads int, lanes ...Lane) *Forms {
	f := &Forms{threads: threads, Width: 2, Refs: 2, Unaligned: Unaligned(lanes...)}
	for i := range lanes {
		l := &lanes[i]
		for _, op := range l.ops() {
			if x := f.form(l, &op); !slices.Contains(f.list, x) {
				f.list = append(f.list, x)
			}
			f.Width = max(f.Width, len(op.Sources), len(op.Destinations), len(op.PacketSources)+1, len(op.PacketTargets)+1)
			f.Refs = max(f.Refs, len(op.refs(0, 1, nil))+len(op.Limits))
		}
	}
	f.Refs += f.Refs % 2 // operations are whole 16 bytes
	f.order = f.commonOrder(lanes)
	return f
}

// ops are a lane's operations as a plan lists them.
func (l *Lane) ops() []Op { return slices.Concat(l.Before, l.Body, l.After) }

// maxUnrolled is how many operations an interpreter has one after the other at most: each is there as
// often as it comes, and code that runs once is not faster for being longer.
const maxUnrolled = 16

// commonOrder is in which order all lanes have their forms; nil where lanes differ, go round in
// slices or are long.
func (f *Forms) commonOrder(lanes []Lane) (order []int) {
	for i := range lanes {
		l := &lanes[i]
		var own []int
		for _, op := range l.ops() {
			own = append(own, f.number(l, &op))
		}
		if l.Slices > 1 || len(own) > maxUnrolled || i > 0 && !slices.Equal(own, order) {
			return nil
		}
		order = own
	}
	return order
}

func (f *Forms) number(l *Lane, op *Op) int { return slices.Index(f.list, f.form(l, op)) }

// Source is the forms as C++, with how an engine plays a plan of them.
func (f *Forms) Source() string {
	var b strings.Builder
	fmt.Fprintf(&b, "#pragma once\n")
	for i, x := range f.list {
		fmt.Fprintf(&b, "DEV void form_%d(Engine &e, const Turn &t, Refs ref, u32 number, u32 slice)\n{\n    Head h = t.op;\n", i)
		fmt.Fprintf(&b, "    h.kind = %d, h.nsrc = %d, h.nll = %d, h.ndst = %d, h.nput = %d, h.own = %d, h.flags = %d, h.line = %d;\n",
			x.kind, x.sources, x.packetSources, x.destinations, x.packetTargets, x.own, x.flags, x.line)
		fmt.Fprintf(&b, "    e.run(h, ref, t.share, number, slice);\n}\n")
	}
	if f.order != nil {
		f.writeUnrolled(&b)
	} else {
		f.writeLoop(&b)
	}
	return b.String()
}

// writeUnrolled plays operations one after the other. The first two are read before the kernel ahead has ended.
func (f *Forms) writeUnrolled(b *strings.Builder) {
	fmt.Fprintf(b, "DEV void play_plan(Engine &e, Words plan)\n{\n")
	read := func(i int) { fmt.Fprintf(b, "    const Turn t%d = e.turn(op_at(plan, %d), 0);\n", i, i) }
	const ahead = 2
	for i := range min(ahead, len(f.order)) {
		read(i)
	}
	fmt.Fprintf(b, "    e.begin();\n")
	for i, form := range f.order {
		if i >= ahead {
			read(i)
		}
		fmt.Fprintf(b, "    form_%d(e, t%d, refs_at(plan, %d), %d, 0);\n", form, i, i, i)
	}
	fmt.Fprintf(b, "    e.end();\n}\n")
}

// writeLoop looks for each operation's form when it comes to it.
func (f *Forms) writeLoop(b *strings.Builder) {
	fmt.Fprintf(b, "struct Forms {\n    static DEV void run(Engine &e, const Turn &t, Refs ref, u32 number, u32 slice)\n    {\n")
	for i := range f.list {
		fmt.Fprintf(b, "        if (t.op.form == %d) return form_%d(e, t, ref, number, slice);\n", i, i)
	}
	fmt.Fprintf(b, "    }\n};\nDEV void play_plan(Engine &e, Words plan) { e.play<Forms>(plan); }\n")
}
