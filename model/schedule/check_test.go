package schedule

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"railyard/model/collective"
)

func TestCheckAcceptsEveryGenerator(t *testing.T) {
	for _, c := range allCases() {
		if err := Check(c.s, nil); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestEncodeDecode(t *testing.T) {
	for _, c := range allCases() {
		var buf, again bytes.Buffer
		if err := Encode(&buf, c.s); err != nil {
			t.Fatal(err)
		}
		back, err := Decode(bytes.NewReader(buf.Bytes()))
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if d := cmp.Diff(c.s, back); d != "" {
			t.Errorf("%s: round trip:\n%s", c.name, d)
		}
		if Encode(&again, back); !bytes.Equal(buf.Bytes(), again.Bytes()) {
			t.Errorf("%s: encoding is not stable", c.name)
		}
	}
}

// TestDecodeSaysWhatIsWrong: in words of the file, with the line.
func TestDecodeSaysWhatIsWrong(t *testing.T) {
	var good bytes.Buffer
	if err := Encode(&good, allCases()[0].s); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ from, to, want string }{
		{good.String(), "", "line 1: the file is empty"},
		{"}\n", "}\n{}", "there is text after the schedule: a file holds one"},
		{"}\n", "}\nx", "there is text after the schedule"},
		{`"slices": `, `"slices": "x", "ignored": `, "channels.slices: string does not belong there"},
		{`"slices": `, `"slice": `, `unknown field "slice"`},
	} {
		text := good.String()
		if i := strings.LastIndex(text, c.from); i >= 0 {
			text = text[:i] + c.to + text[i+len(c.from):]
		}
		if _, err := Decode(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

// A place in scratch has the size of the chunk of its number; another part of a block
// may be larger.
func TestPlacesHaveTheSizeOfTheirPart(t *testing.T) {
	one := func(b Buffer, c int32) Loc { return Loc{Buf: b, Set: One(c)} }
	build := func(place int32) *Schedule {
		ops := []Program{
			{{Kind: Send, Peer: 1, Src: one(Input, 2)}, {Kind: Send, Peer: 1, Src: one(Input, 3)},
				{Kind: Copy, Peer: -1, Src: Loc{Buf: Input, Set: Range(0, 2)}, Dst: Loc{Buf: Output, Set: Range(0, 2)}},
				{Kind: Recv, Peer: 1, Dst: one(Output, 2)}, {Kind: Recv, Peer: 1, Dst: one(Output, 3)}},
			{{Kind: Send, Peer: 0, Src: one(Input, 0)}, {Kind: Send, Peer: 0, Src: one(Input, 1)},
				{Kind: Copy, Peer: -1, Src: Loc{Buf: Input, Set: Range(2, 2)}, Dst: Loc{Buf: Output, Set: Range(2, 2)}},
				{Kind: Recv, Peer: 0, Dst: one(Scratch, place)}, {Kind: Copy, Peer: -1, Src: one(Scratch, place), Dst: one(Output, 0)},
				{Kind: Recv, Peer: 0, Dst: one(Output, 1)}},
		}
		return &Schedule{Algorithm: "x", Spec: collective.Spec{Kind: collective.AllToAll, Ranks: 2}, Protocol: Simple,
			Channels: []Channel{{Share: 1, Slices: 1, Chunks: 4,
				Phases: []Phase{{Gen: GenOps, Op: collective.AllToAll, Src: Input, Acc: Scratch, Dst: Output, Ops: ops}}}}}
	}
	if err := Check(build(2), nil); err != nil {
		t.Error(err)
	}
	if err := Check(build(3), nil); err == nil || !strings.Contains(err.Error(), "which has the size of part 1") {
		t.Errorf("%v", err)
	}
	for place, why := range map[int32]string{2: "", 0: "puts what rank 0 sends to rank 1, which are 9, into a place for 1",
		8: "is for data of rank 2: there is none"} {
		skewed := build(place)
		skewed.Spec.Kind, skewed.Spec.Counts = collective.AllToAllV, [][]int64{{1, 9}, {2, 4}}
		if err := Check(skewed, nil); (err == nil) != (why == "") || err != nil && !strings.Contains(err.Error(), why) {
			t.Errorf("place %d: %v", place, err)
		}
	}
}

// A paged list has what was put there last, and else what it began with.
func TestPagedLists(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 4))
	begin := func(c int32) int32 { return -c }
	for range 20 {
		var p paged[int32]
		has := map[int32]int32{}
		for range 300 {
			c := r.Int32N(20_000)
			want, put := has[c]
			if x := p.get(c); put && (x == nil || *x != want) || !put && x != nil && *x != -c {
				t.Fatalf("%d is %v, want %d (%v)", c, x, want, put)
			}
			if r.IntN(2) == 0 {
				has[c] = r.Int32()
				*p.touch(c, begin) = has[c]
			}
		}
	}
}
