package mscclpp

import (
	"bytes"
	"strings"
	"testing"

	"railyard/interop/interoptest"
	"railyard/model/schedule"
)

func at(kind string, index, size int) Buffer { return Buffer{Type: kind, Index: index, Size: size} }

func peers(index, size int) Buffer { id := 0; return Buffer{Remote: &id, Index: index, Size: size} }

func switched(index, size int) Buffer { id := 0; return Buffer{Switch: &id, Index: index, Size: size} }

// pair is a plan of two ranks; ops are those of a rank's thread blocks.
func pair(protocol string, in, out, scratch int, ops func(rank int) [][]Op) *File {
	f := &File{Name: "pair", Collective: "allreduce", Protocol: protocol, InPlace: true, Alignment: 16}
	for r := range 2 {
		g := GPU{ID: r, Input: in, Output: out, Scratch: scratch, Semaphores: []Semaphore{{}},
			Channels: []Channels{{Type: memory, To: []int{1 - r, 1 - r}},
				{Type: through, Buffer: "i", Groups: []Ranks{{Ranks: []int{0, 1}}}}},
			RemoteBuffers: []RemoteBuffer{{Rank: 1 - r, Type: "s", Access: []string{memory}}}}
		for id, list := range ops(r) {
			g.Blocks = append(g.Blocks, Block{ID: id, Ops: list, Channels: []ChannelIDs{{memory, []int{0, 1}}, {through, []int{0}}},
				Remote: []BufferIDs{{memory, []int{0}}}})
		}
		f.GPUs = append(f.GPUs, g)
	}
	return f
}

// twoShots is an all-reduce in packets: of each half a rank sends the other's to it, adds what comes to its own and
// sends the result back; two thread blocks share what a group does.
func twoShots(group bool) *File {
	share := func(op Op, block int) Op {
		if group {
			op.Group = &Group{block, 2}
		}
		return op
	}
	return pair("LL", 2, 2, 2, func(r int) (out [][]Op) {
		put := Op{Name: "ppkt", Type: memory, Src: []Buffer{at("i", 1-r, 1)}, Dst: []Buffer{peers(0, 1)}}
		add := Op{Name: "respkt", Type: memory, Src: []Buffer{at("i", r, 1), at("s", 0, 1)}, Dst: []Buffer{at("i", r, 1), peers(1, 1)}}
		take := Op{Name: "upkt", Src: []Buffer{at("s", 1, 1)}, Dst: []Buffer{at("i", 1-r, 1)}}
		for _, op := range []Op{put, add, take} {
			out = append(out, []Op{share(op, 0)})
			if group {
				out = append(out, []Op{share(op, 1)})
			}
		}
		return out
	})
}

// bySwitch is an all-reduce of a chunk a rank by switches: one thread block copies the input to the output and says so
// to the peer's, another has the switch add up what lies there, and a barrier joins them.
func bySwitch(pipeline bool) *File {
	id := 3
	f := pair("Simple", 2, 2, 0, func(r int) (out [][]Op) {
		meet := Op{Name: "barrier", BarrierID: &id, NumBlocks: 2}
		work := Op{Name: "glres", Type: through, Channels: []int{0}, Src: []Buffer{switched(r, 1)}, Dst: []Buffer{switched(r, 1)}}
		if pipeline {
			work = Op{Name: "pipeline", Pieces: &Pieces{Bytes: 1 << 20, Chunks: 1}, Ops: []Op{work}}
		}
		signal, wait := Op{Name: "signal", Type: memory, Channels: []int{0}}, Op{Name: "wait", Type: memory, Channels: []int{0}}
		return [][]Op{{{Name: "copy", Src: []Buffer{at("i", 0, 2)}, Dst: []Buffer{at("o", 0, 2)}}, {Name: "nop"}, signal, wait, meet, meet,
			signal, wait}, {meet, work, meet}}
	})
	f.InPlace = false
	for g := range f.GPUs {
		f.GPUs[g].Channels[1].Buffer = "o"
	}
	return f
}

// without leaves out the first operation of a name of each thread block.
func without(f *File, name string) *File {
	for g := range f.GPUs {
		for b := range f.GPUs[g].Blocks {
			tb := &f.GPUs[g].Blocks[b]
			for i, op := range tb.Ops {
				if op.Name == name {
					tb.Ops = append(append([]Op{}, tb.Ops[:i]...), tb.Ops[i+1:]...)
					break
				}
			}
		}
	}
	return f
}

// TestPackets: packets say themselves that they have arrived, and order what lies before and behind them.
func TestPackets(t *testing.T) {
	for _, f := range []*File{twoShots(false), twoShots(true)} {
		s, err := proven(bytes.NewReader(text(t, f)))
		if err != nil {
			t.Fatal(err)
		}
		if err := schedule.Check(s, nil); err != nil {
			t.Fatal(err)
		}
		if s.Protocol != schedule.LL {
			t.Errorf("protocol %s", s.Protocol)
		}
		interoptest.Uneven(t, s)
	}
}

// TestSwitches: what switches add up and copy becomes what schedules have for it, in phases of its own.
func TestSwitches(t *testing.T) {
	for _, f := range []*File{bySwitch(false), bySwitch(true)} {
		s, err := proven(bytes.NewReader(text(t, f)))
		if err != nil {
			t.Fatal(err)
		}
		if err := schedule.Check(s, nil); err != nil {
			t.Fatal(err)
		}
		if len(s.Needs) != 2 {
			t.Errorf("needs %v of switches", s.Needs)
		}
		interoptest.Uneven(t, s)
	}
}

func TestMistakesOfGroups(t *testing.T) {
	twice := twoShots(false)
	twice.GPUs[0].Blocks[0].Ops = append(twice.GPUs[0].Blocks[0].Ops, twice.GPUs[0].Blocks[0].Ops[0])
	alone := bySwitch(false)
	alone.GPUs[0].Channels[1].Groups[0].Ranks = []int{0}
	empty := bySwitch(true)
	empty.GPUs[0].Blocks[1].Ops[1].Ops = nil
	share := twoShots(true)
	share.GPUs[0].Blocks[0].Ops[0].Group.Block = 2
	for _, x := range []struct {
		f    *File
		want string
	}{
		{without(twoShots(false), "ppkt"), "gpu 0 tb 1 op 0 (respkt): deadlock: it waits for packets"},
		{without(twoShots(true), "respkt"), "(upkt): deadlock: it waits for packets"},
		{twice, "scratch[0] of gpu 1 may still be in use by gpu 0 tb 0 op 0 (ppkt)"},
		{without(bySwitch(false), "wait"), "may still be in use by"},
		{without(bySwitch(true), "signal"), "deadlock: it waits for a signal"},
		{without(without(bySwitch(false), "barrier"), "barrier"), "may still be in use by"},
		{alone, "switch channel 0: buffer \"o\" of ranks [0]"},
		{empty, "it needs operations, and an iter_context"},
		{share, "thread block 2 of a group of 2"},
	} {
		if _, err := proven(bytes.NewReader(text(t, x.f))); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%v instead of %q", err, x.want)
		}
	}
}

// crossed is an all-reduce in place by two thread blocks a rank, each of which tells one of the peer's that it has copied its
// chunk, and then adds a chunk of the peer's: the one that it has heard of, or the other.
func crossed(other bool) *File {
	return pair("Simple", 2, 2, 2, func(int) (out [][]Op) {
		for b := range 2 {
			chunk := b
			if other {
				chunk = 1 - b
			}
			signal, wait := Op{Name: "signal", Type: memory, Channels: []int{b}}, Op{Name: "wait", Type: memory, Channels: []int{b}}
			out = append(out, []Op{{Name: "copy", Src: []Buffer{at("i", b, 1)}, Dst: []Buffer{at("s", b, 1)}}, {Name: "nop"}, signal, wait,
				{Name: "nop"}, {Name: "rre", Type: memory, ReduceOp: "sum", Src: []Buffer{at("i", chunk, 1), peers(chunk, 1)},
					Dst: []Buffer{at("i", chunk, 1)}}})
		}
		return out
	})
}

// TestRace: a plan with a race is refused with an order that shows it, and read where the caller takes the race; what
// is read computes the collective.
func TestRace(t *testing.T) {
	if _, err := proven(bytes.NewReader(text(t, crossed(false)))); err != nil {
		t.Errorf("no race, but %v", err)
	}
	_, err := proven(bytes.NewReader(text(t, crossed(true))))
	for _, want := range []string{"scratch[1] of gpu 1 may still be in use by gpu 1 tb 1 op 0 (copy): no signal, semaphore and nop order them",
		"\n  an order that the file allows, in which gpu 1 tb 1 op 0 (copy) has not begun when gpu 0 tb 0 op 5 (rre) is done:",
		"\n    gpu 0 tb 0: op 0 (copy), op 1 (nop), op 2 (signal)\n    gpu 1 tb 0: op 0 (copy), op 1 (nop), op 2 (signal)\n    gpu 0 tb 0: op 3 " +
			"(wait), op 4 (nop), op 5 (rre)"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v instead of %q", err, want)
		}
	}
	var race error
	s, err2 := Import(bytes.NewReader(text(t, crossed(true))), &race)
	if err2 != nil || race == nil || race.Error() != err.Error() {
		t.Fatalf("%v, %v", err2, race)
	}
	if err := schedule.Check(s, nil); err != nil {
		t.Error(err)
	}
	interoptest.Uneven(t, s)
}
