package schedule

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
)

// Program is what a rank does in a phase, one operation after the other. In JSON, operations that
// differ from the ones before by the same steps are written once, and so are places of a sum: what
// a rank exchanges with thousands of others stays short.
type Program []Op

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
func (p Program) turns() (every, times int) {
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
func (p Program) MarshalJSON() ([]byte, error) {
	out := []opRun{}
	for len(p) > 0 {
		every, times := p.turns()
		for j := range every {
			x := opRun{Op: p[j], Srcs: placeRuns(p[j].Srcs)}
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
	return json.Marshal(out)
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
	var list []opRun
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&list); err != nil {
		return err
	}
	for i := range list {
		x := &list[i]
		for j := range x.Srcs {
			s := &x.Srcs[j]
			if err := allowed(len(x.Op.Srcs), s.Times); err != nil {
				return err
			}
			for t := range max(s.Times, 1) {
				x.Op.Srcs = append(x.Op.Srcs, s.Loc.moved(s.Step*t))
			}
		}
	}
	*p = nil
	for len(list) > 0 {
		times, every := max(list[0].Times, 1), max(list[0].Every, 1)
		if int(every) > min(len(list), mostInTurn) {
			return fmt.Errorf("every %d: there are %d operations, and at most %d come in turn", every, len(list), mostInTurn)
		}
		if err := cmp.Or(allowed(len(*p), list[0].Times), allowed(len(*p), list[0].Times*every)); err != nil { // the product may overflow
			return err
		}
		*p = slices.Grow(*p, int(times*every))
		for t := range times {
			for j := range every {
				*p = append(*p, list[j].Op.moved(list[j].Step, t))
			}
		}
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
