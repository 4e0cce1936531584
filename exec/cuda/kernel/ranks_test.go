package kernel

import (
	"fmt"
	"path/filepath"
	"testing"

	"railyard/internal/long"
	"railyard/model/block"
	"railyard/model/collective"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/planner"
	"railyard/topologies"
)

// machine plans for some of the GPUs of a shipped topology.
func machine(t *testing.T, name string, o topology.Options, kind collective.Kind, algo string) *schedule.Schedule {
	t.Helper()
	topo, err := topology.Load(topologies.Source, name, o)
	if err != nil {
		t.Fatal(err)
	}
	s, err := planner.Build(topo, collective.Spec{Kind: kind, Ranks: topo.NumRanks()}, algo, planner.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// compiled is a run of a schedule.
func compiled(t *testing.T, s *schedule.Schedule, o block.Options) run {
	t.Helper()
	p, err := block.Compile(s, o)
	if err != nil {
		t.Fatal(err)
	}
	return run{s: s, o: o, p: p, epochs: 3, firstEpoch: 1}
}

// correct runs a program and compares its outputs with their definition.
func correct(t *testing.T, bin string, x run) {
	t.Helper()
	out, err := execute(t, bin, x)
	if err != nil {
		t.Fatal(err)
	}
	x.verify(t, out[0])
}

// TestManyRanks: as many peers side by side as operations take, of which some have less than
// the others or nothing; reductions of two local places and packets.
func TestManyRanks(t *testing.T) {
	all := series{bin: racing(t)}
	for i, c := range []struct {
		nodes, gpus int
		kind        collective.Kind
		algo        string
		m           block.Mechanism
		inPlace     bool
	}{
		{1, 5, collective.AllReduce, "two_shot", block.WordsPush, true}, {1, 8, collective.AllReduce, "two_shot", block.WordsPush, false},
		{1, 6, collective.ReduceScatter, "direct", block.WordsPush, true},
		{1, 8, collective.AllReduce, "halving_doubling", block.WordsPush, false},
		{1, 8, collective.AllReduce, "two_shot", block.Packets, true}, {1, 7, collective.AllToAll, "direct", block.Packets, false},
		{1, 5, collective.AllGather, "direct", block.Lines, false}, {1, 8, collective.AllReduce, "two_shot", block.Push, false},
		{2, 3, collective.AllReduce, "hierarchical_two_shot", block.Packets, false},
		{2, 4, collective.ReduceScatter, "hierarchical_two_shot", block.WordsPush, true},
	} {
		s := machine(t, "dgx-a100", topology.Options{Nodes: c.nodes, GPUs: c.gpus}, c.kind, c.algo)
		blocks := int64(s.Spec.Blocks())
		count := (int64(s.Spec.Ranks)*[]int64{39, 2}[i%2] - 5 + blocks - 1) / blocks * blocks
		all.add(fmt.Sprintf("%v %s %d×%d %v in place %v", c.kind, c.algo, c.nodes, c.gpus, c.m, c.inPlace),
			compiled(t, s, block.Options{Count: count, Size: 4, Instances: 1, Mechanism: c.m, InPlace: c.inPlace}))
	}
	all.verify(t)
}

// TestWholeLines: pieces long enough to be rounded to lines of memory, of which the last ranks'
// are shorter or empty, in blocks that begin within lines.
func TestWholeLines(t *testing.T) {
	all := series{bin: racing(t)}
	for i, c := range []struct {
		kind    collective.Kind
		algo    string
		m       block.Mechanism
		inPlace bool
		blocks  int
	}{
		{collective.AllReduce, "two_shot", block.WordsPush, true, 2}, {collective.AllReduce, "two_shot", block.WordsPush, false, 1},
		{collective.AllReduce, "two_shot", block.Push, true, 2}, {collective.AllReduce, "two_shot", block.Push, false, 1},
		{collective.AllReduce, "two_shot", block.Pull, false, 2},
		{collective.AllReduce, "two_shot", block.Packets, true, 2}, {collective.AllReduce, "simple_ring", block.Words, true, 1},
		{collective.ReduceScatter, "direct", block.Pull, false, 2}, {collective.ReduceScatter, "direct", block.WordsPush, true, 2},
		{collective.AllGather, "direct", block.Push, false, 1}, {collective.AllGather, "direct", block.Pull, true, 2},
		{collective.AllToAll, "direct", block.Push, false, 2},
		{collective.Broadcast, "scatter_exchange", block.Push, false, 2},
	} {
		for k, count := range []int64{3*1100 + 4*int64(i%3), 3*1027 + int64(i)} {
			if !taken(2 * (i + k)) {
				continue
			}
			s := plan(t, 3, c.kind, c.algo, 1)
			blocks := int64(s.Spec.Blocks())
			all.add(fmt.Sprintf("%v %s %v in place %v, %d elements", c.kind, c.algo, c.m, c.inPlace, count), compiled(t, s,
				block.Options{Count: count / blocks * blocks, Size: 4, Instances: c.blocks, Mechanism: c.m, InPlace: c.inPlace}))
		}
	}
	all.verify(t)
}

// TestPlacesOfOnePeer: a rank puts more at once than there are peers. Loops are unrolled to as
// many, in specialised kernels as well.
func TestPlacesOfOnePeer(t *testing.T) {
	for _, m := range []block.Mechanism{block.Packets, block.Lines} {
		s := plan(t, 3, collective.Broadcast, "direct", 1)
		all := s.Channels[0].Phases[0].Groups
		s.Channels[0].Chunks = 3 // van de Geijn, 1994: dealt out, and passed on round a ring
		s.Channels[0].Phases = []schedule.Phase{
			{Gen: schedule.GenDirect, Op: collective.Scatter, Groups: all, Acc: schedule.Output, Dst: schedule.Output},
			{Gen: schedule.GenRing, Op: collective.AllGather, Groups: all, Src: schedule.Output, Acc: schedule.Output,
				Dst: schedule.Output}}
		o := block.Options{Count: 1000, Size: 4, Instances: 1, Mechanism: m, InPlace: true}
		x := compiled(t, s, o)
		p := x.p
		if p.Peers() <= p.Ranks {
			t.Errorf("%v: no operation of more than %d places: not a case", m, p.Ranks-1)
		}
		if m == block.Packets && long.Given() {
			correct(t, simulator(t, filepath.Join(t.TempDir(), "simulate"), "-DT_FLOAT32", "-DSPECIALISED",
				fmt.Sprintf("-DPEERS=%d", p.Peers())), x)
		}
	}
}

// TestPushedIsSaidInTime: rank 0 polls for words that rank 1 sends only when it knows of the
// result that rank 0 has pushed to it.
func TestPushedIsSaidInTime(t *testing.T) {
	s := pushedFirst()
	if err := schedule.Check(s, nil); err != nil {
		t.Fatal(err)
	}
	correct(t, racing(t), compiled(t, s, block.Options{Count: 200, Size: 4, Instances: 1, Mechanism: block.WordsPush}))
}

// pushedFirst is an all-reduce of two chunks: the first's result goes from rank 0 to rank 1,
// then the second's, which rank 0 has copied to its output before, the other way.
func pushedFirst() *schedule.Schedule {
	at := func(b schedule.Buffer, chunk int32) schedule.Loc {
		return schedule.Loc{Buf: b, Set: schedule.Range(chunk, 1)}
	}
	send := func(peer int32, l schedule.Loc) schedule.Op {
		return schedule.Op{Kind: schedule.Send, Peer: peer, Src: l}
	}
	recv := func(peer int32, l schedule.Loc) schedule.Op {
		return schedule.Op{Kind: schedule.Recv, Peer: peer, Dst: l}
	}
	sum := func(chunk int32) schedule.Op {
		return schedule.Op{Kind: schedule.Reduce, Peer: -1, Srcs: []schedule.Loc{at(schedule.Input, chunk), at(schedule.Scratch, chunk)},
			Dst: at(schedule.Output, chunk)}
	}
	ops := []schedule.Program{
		{{Kind: schedule.Copy, Peer: -1, Src: at(schedule.Input, 1), Dst: at(schedule.Output, 1)}, send(1, at(schedule.Output, 1)),
			recv(1, at(schedule.Scratch, 0)),
			sum(0), send(1, at(schedule.Output, 0)), recv(1, at(schedule.Output, 1))},
		{send(0, at(schedule.Input, 0)), recv(0, at(schedule.Scratch, 1)), recv(0, at(schedule.Output, 0)), sum(1),
			send(0, at(schedule.Output, 1))},
	}
	return &schedule.Schedule{Algorithm: "pushed_first", Spec: collective.Spec{Kind: collective.AllReduce, Ranks: 2},
		Protocol: schedule.Simple,
		Channels: []schedule.Channel{{Share: 1, Slices: 1, Chunks: 2,
			Phases: []schedule.Phase{{Gen: schedule.GenOps, Op: collective.AllReduce, Src: schedule.Input, Acc: schedule.Scratch,
				Dst: schedule.Output, Ops: ops}}}}}
}
