package schedule

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
)

// Program is what a rank does in a phase, one operation after the other. In JSON it is packed.
type Program []Op

// Packed is a program in which operations that differ from the ones before by the same steps are written once, and so are places of a
// sum: what a rank exchanges with thousands of others stays short.
type Packed []opRun

// opRun is an operation, times over in steps; with every, that one and those behind it, so many in
// all, in turn.
type opRun struct {
	Op
	Srcs  []locRun `json:"srcs,omitempty"`
	Times int32    `json:"times,omitempty"`
	Every int32    `json:"every,omitempty"`
	Step  opStep   `json:"step,omitzero"`
}

// opStep is by how much the peer and the first chunks of an operation grow.
type opStep struct {
	Peer int32 `json:"peer,omitempty"`
	Src  int32 `json:"src,omitempty"`
	Dst  int32 `json:"dst,omitempty"`
}

// locRun is a place, times over in steps.
type locRun struct {
	Loc
	Times int32 `json:"times,omitempty"`
	Step  int32 `json:"step,omitempty"`
}

func (o *Op) moved(by opStep, times int32) Op {
	out := *o
	out.Peer += by.Peer * times
	out.Src.Set.First += by.Src * times
	out.Dst.Set.First += by.Dst * times
	return out
}

func (l Loc) moved(by int32) Loc {
	l.Set = l.Set.shifted(by)
	return l
}

// sameOp reports whether two operations are equal; none of runs sums or has several peers.
func sameOp(a, b *Op) bool {
	return a.Kind == b.Kind && a.Peer == b.Peer && a.Src == b.Src && a.Dst == b.Dst && len(a.Srcs)+len(b.Srcs)+len(a.Peers)+
		len(b.Peers) == 0
}

// shortest is how many operations or places are worth a run.
const shortest = 3

// runLength is how many of a list of n follow one another as the first two do; 1 if that is few.
func runLength(n int, follows func(i int) bool) int {
	i := 1
	for i < n && follows(i) {
		i++
	}
	if i < shortest {
		return 1
	}
	return i
}

// mostInTurn is how many operations that come in turn are looked for.
const mostInTurn = 16

// turns is how many of the first operations come in turn, and how often; 1 and 1 if that is few.
func turns(p []Op) (every, times int) {
	for every = 1; every <= min(mostInTurn, len(p)/shortest); every++ {
		times = runLength(len(p)/every, func(t int) bool {
			for j := range every {
				want := p[j].moved(p[j].step(&p[every+j]), int32(t))
				if !sameOp(&want, &p[t*every+j]) {
					return false
				}
			}
			return true
		})
		if times > 1 {
			return every, times
		}
	}
	return 1, 1
}

// step is that from an operation to another.
func (o *Op) step(to *Op) opStep {
	return opStep{to.Peer - o.Peer, to.Src.Set.First - o.Src.Set.First, to.Dst.Set.First - o.Dst.Set.First}
}

// MarshalJSON writes the runs.
func (p Program) MarshalJSON() ([]byte, error) { return json.Marshal(pack(p)) }

func pack(p []Op) Packed {
	out := Packed{}
	for len(p) > 0 {
		every, times := turns(p)
		for j := range every {
			x := opRun{Op: p[j], Srcs: placeRuns(p[j].Srcs)}
			x.Op.Srcs = nil
			if times > 1 {
				x.Step = p[j].step(&p[every+j])
			}
			out = append(out, x)
		}
		if first := &out[len(out)-every]; times > 1 {
			if first.Times = int32(times); every > 1 {
				first.Every = int32(every)
			}
		}
		p = p[every*times:]
	}
	return slices.Clone(out) // of its own length
}

// append appends the operations.
func (list Packed) append(dst []Op) []Op {
	for len(list) > 0 {
		every, times, first := int(max(list[0].Every, 1)), int(max(list[0].Times, 1)), len(dst)
		dst = slices.Grow(dst, every*times)
		for j := range every {
			op := list[j].Op
			op.Srcs = list[j].places()
			dst = append(dst, op)
		}
		for t := range times - 1 {
			for j := range every {
				dst = append(dst, dst[first+j].moved(list[j].Step, int32(t+1)))
			}
		}
		list = list[every:]
	}
	return dst
}

// places are those of a sum.
func (x *opRun) places() (out []Loc) {
	n := 0
	for i := range x.Srcs {
		n += int(max(x.Srcs[i].Times, 1))
	}
	out = slices.Grow(out, n)
	for i := range x.Srcs {
		s := &x.Srcs[i]
		for t := range max(s.Times, 1) {
			out = append(out, s.Loc.moved(s.Step*t))
		}
	}
	return out
}

// Add adds the program of the next rank to a phase of generator "ops" that has no Ops, packed: where ranks talk to all others of a group,
// that takes a quarter of the memory.
func (ph *Phase) Add(ops []Op) { ph.Packed = append(ph.Packed, pack(ops)) }

// programs is how many there are of a phase of generator "ops".
func (ph *Phase) programs() int { return max(len(ph.Ops), len(ph.Packed)) }

// appendProgram appends the operations of one of them.
func (ph *Phase) appendProgram(dst []Op, i int) []Op {
	if ph.Packed != nil {
		return ph.Packed[i].append(dst)
	}
	return append(dst, ph.Ops[i]...)
}

// unpacked is the phase with the programs that were added as Ops.
func (ph *Phase) unpacked() *Phase {
	out := *ph
	for i := range ph.Packed {
		out.Ops = append(out.Ops, ph.appendProgram(nil, i))
	}
	out.Packed = nil
	return &out
}

// Equal reports whether two phases are the same, however their programs are kept.
func (ph Phase) Equal(o Phase) bool { return reflect.DeepEqual(ph.unpacked(), o.unpacked()) }

// MarshalJSON writes the programs that were added as Ops.
func (ph Phase) MarshalJSON() ([]byte, error) {
	type plain Phase
	return json.Marshal((*plain)(ph.unpacked()))
}

func placeRuns(list []Loc) (out []locRun) {
	for len(list) > 0 {
		x := locRun{Loc: list[0]}
		if len(list) > 1 {
			x.Step = list[1].Set.First - list[0].Set.First
		}
		n := runLength(len(list), func(i int) bool { return list[0].moved(x.Step*int32(i)) == list[i] })
		if x.Times = int32(n); n == 1 {
			x.Times, x.Step = 0, 0
		}
		out, list = append(out, x), list[n:]
	}
	return out
}

// UnmarshalJSON reads the runs.
func (p *Program) UnmarshalJSON(data []byte) error {
	var list Packed
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&list); err != nil {
		return err
	}
	if err := list.validate(); err != nil {
		return err
	}
	*p = list.append(nil)
	return nil
}

// validate refuses what would be too long, or comes in turn with nothing.
func (list Packed) validate() error {
	for i := range list {
		places := 0
		for j := range list[i].Srcs {
			s := &list[i].Srcs[j]
			if err := allowed(places, s.Times); err != nil {
				return err
			}
			places += int(max(s.Times, 1))
		}
	}
	for ops := 0; len(list) > 0; {
		times, every := list[0].Times, max(list[0].Every, 1)
		if int(every) > min(len(list), mostInTurn) {
			return fmt.Errorf("every %d: there are %d operations, and at most %d come in turn", every, len(list), mostInTurn)
		}
		if err := cmp.Or(allowed(ops, times), allowed(ops, max(times, 1)*every)); err != nil { // the product may overflow
			return err
		}
		ops += int(max(times, 1) * every)
		list = list[every:]
	}
	return nil
}

// allowed refuses lists that a short text makes too long.
func allowed(have int, times int32) error {
	if times < 0 || have+int(times) > maxList {
		return fmt.Errorf("%d times: must be from 1 to %d in all", times, maxList)
	}
	return nil
}
