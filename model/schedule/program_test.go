package schedule

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

	"railyard/model/collective"
)

// Programs that were added are the same to whoever expands, checks or writes them, and what a rank does with all others of a group is
// kept in as much memory as what it does with few.
func TestAddedProgramsArePacked(t *testing.T) {
	const ranks = 64
	written := &Schedule{Spec: collective.Spec{Kind: collective.AllReduce, Ranks: ranks}, Protocol: Simple, Channels: []Channel{{Share: 1, Slices: 2,
		Chunks: ranks}}}
	whole := []int32{}
	for r := range int32(ranks) {
		whole = append(whole, r)
	}
	for _, op := range []collective.Kind{collective.ReduceScatter, collective.AllGather} {
		direct := Phase{Gen: GenDirect, Op: op, Src: Input, Acc: Scratch, Dst: Output, Groups: Groups{List: []Group{{Ranks: whole,
			Whole: Range(0, ranks)}}}}
		if op == collective.AllGather {
			direct.Src = Output
		}
		x := NewExpander(&Schedule{Spec: written.Spec, Channels: []Channel{{Chunks: ranks, Phases: []Phase{direct}}}})
		ph := Phase{Gen: GenOps, Op: op, Src: direct.Src, Acc: direct.Acc, Dst: direct.Dst}
		for r := range ranks {
			ph.Ops = append(ph.Ops, x.AppendProgram(nil, 0, 0, r))
		}
		written.Channels[0].Phases = append(written.Channels[0].Phases, ph)
	}
	added := *written
	added.Channels = []Channel{written.Channels[0]}
	added.Channels[0].Phases = nil
	for p, ph := range written.Channels[0].Phases {
		programs := ph.Ops
		ph.Ops = nil
		for _, ops := range programs {
			ph.Add(ops)
		}
		for r, list := range ph.Packed {
			if len(list) > 8 {
				t.Errorf("rank %d: %d operations are kept as %d", r, len(programs[r]), len(list))
			}
		}
		if !ph.Equal(written.Channels[0].Phases[p]) {
			t.Errorf("phase %d: not what was added", p)
		}
		added.Channels[0].Phases = append(added.Channels[0].Phases, ph)
	}
	if err := Check(&added, nil); err != nil {
		t.Fatal(err)
	}
	a, b := NewExpander(written), NewExpander(&added)
	for p := range written.Channels[0].Phases {
		for r := range ranks {
			if want, got := a.AppendProgram(nil, 0, p, r), b.AppendProgram(nil, 0, p, r); !reflect.DeepEqual(want, got) {
				t.Fatalf("phase %d, rank %d: %v, not %v", p, r, got, want)
			}
		}
	}
	var files [2]bytes.Buffer
	for i, s := range []*Schedule{written, &added} {
		if err := json.NewEncoder(&files[i]).Encode(s); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(files[0].Bytes(), files[1].Bytes()) {
		t.Error("files differ")
	}
}
