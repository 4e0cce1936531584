package schedule

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
)

// Program is what a rank does in a phase, one operation after the other. In JSON, operations that
// differ from the ones before by the same steps are written once, and so are places of a sum: what
// a rank exchanges with thousands of others stays short.
type Program []Op

// opRun is an operation, times over in steps.
type opRun struct {
	Op
	Srcs  []locRun `json:"srcs,omitempty"`
	Times int32    `json:"times,omitempty"`
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

// MarshalJSON writes the runs.
func (p Program) MarshalJSON() ([]byte, error) {
	out := []opRun{}
	for rest := p; len(rest) > 0; rest = rest[out[len(out)-1].count():] {
		first, step := &rest[0], opStep{}
		if len(rest) > 1 {
			next := &rest[1]
			step = opStep{next.Peer - first.Peer, next.Src.Set.First - first.Src.Set.First, next.Dst.Set.First - first.Dst.Set.First}
		}
		x := opRun{Op: *first, Srcs: placeRuns(first.Srcs)}
		n := runLength(len(rest), func(i int) bool {
			want := first.moved(step, int32(i))
			return sameOp(&want, &rest[i])
		})
		if n > 1 {
			x.Times, x.Step = int32(n), step
		}
		out = append(out, x)
	}
	return json.Marshal(out)
}

func (x *opRun) count() int { return max(int(x.Times), 1) }

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
	*p = nil
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
		if err := allowed(len(*p), x.Times); err != nil {
			return err
		}
		*p = slices.Grow(*p, x.count())
		for t := range max(x.Times, 1) {
			*p = append(*p, x.Op.moved(x.Step, t))
		}
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
