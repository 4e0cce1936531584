package block

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"railyard/internal/long"
	"railyard/model/collective"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/planner"
	"railyard/topologies"
)

// system is a topology that random schedules are made for.
type system struct {
	name string
	o    topology.Options
}

// TestPrograms plays programs of random collectives by all algorithms that apply.
func TestPrograms(t *testing.T) {
	playRandom(t, 20261122, 100, 6, []system{
		{"hgx-h200-4", topology.Options{GPUs: 2}}, {"hgx-h200-4", topology.Options{GPUs: 3}}, {"hgx-h200-4", topology.Options{}},
		{"dgx-a100", topology.Options{Nodes: 2, GPUs: 2}}, {"dgx-a100", topology.Options{Nodes: 2, GPUs: 3}},
		{"dgx-a100", topology.Options{Nodes: 4, GPUs: 2}}, // from here on long
		{"dgx-a100", topology.Options{Nodes: 2, GPUs: 4}}, {"dgx-a100", topology.Options{Nodes: 1}}, {"dgx1-v100", topology.Options{}},
	}, func(*topology.Topology, *rand.Rand) [][]int { return nil })
}

// TestStages plays them with their ranks dealt out to one to eight nodes: as the topology has them, or at random.
func TestStages(t *testing.T) {
	playRandom(t, 20261123, 50, 4, []system{
		{"dgx-a100", topology.Options{Nodes: 2, GPUs: 1}}, {"dgx-a100", topology.Options{Nodes: 2, GPUs: 2}},
		{"dgx-a100", topology.Options{Nodes: 3, GPUs: 1}}, {"hgx-h200-4", topology.Options{GPUs: 3}},
		{"dgx-a100", topology.Options{Nodes: 3, GPUs: 2}}, {"dgx-a100", topology.Options{Nodes: 2, GPUs: 3}}, // from here on long
		{"dgx-a100", topology.Options{Nodes: 4, GPUs: 2}}, {"dgx-a100", topology.Options{Nodes: 2, GPUs: 4}},
		{"dgx-a100", topology.Options{Nodes: 8, GPUs: 1}}, {"dgx-a100", topology.Options{Nodes: 5, GPUs: 2}},
	}, func(topo *topology.Topology, random *rand.Rand) [][]int {
		if random.IntN(2) == 0 {
			return randomNodes(topo.NumRanks(), random)
		}
		return nodesOf(topo)
	})
}

// playRandom plays random collectives on the first systems, on all of them where tests are long, in nodes; there are enough in each
// mechanism.
func playRandom(t *testing.T, seed uint64, enough, first int, systems []system, nodes func(*topology.Topology, *rand.Rand) [][]int) {
	played := map[Mechanism]int{}
	for m, x := range systems[:long.Or(first, len(systems))] {
		topo, err := topology.Load(topologies.Source, x.name, x.o)
		if err != nil {
			t.Fatal(err)
		}
		for a, algo := range planner.Algorithms() {
			for kind := collective.AllReduce; kind <= collective.Barrier; kind++ {
				random := rand.New(rand.NewPCG(seed, uint64(m)<<32|uint64(a)<<16|uint64(kind)))
				s, err := planner.Build(topo, randomSpec(kind, topo.NumRanks(), random), algo.Name,
					planner.Options{Slices: 1 + random.IntN(4)})
				if err != nil || s.Plain() != nil {
					continue
				}
				if err := schedule.Check(s, topo); err != nil {
					t.Errorf("%s of %v: %v", algo.Name, kind, err)
					continue
				}
				playAll(t, s, nodes(topo, random), random, played)
			}
		}
	}
	for m := Pull; m <= WordsPush; m++ {
		if played[m] < enough {
			t.Errorf("%d schedules in %v", played[m], m)
		}
		if n, ok := played[Copies+1+m]; ok && n < enough {
			t.Errorf("%d schedules in %v by proxy", n, m)
		}
	}
}

// TestPlansInStages plays what the planner chooses for two and four nodes of DGX H100.
func TestPlansInStages(t *testing.T) {
	random := rand.New(rand.NewPCG(20261123, 1))
	played := map[Mechanism]int{}
	gpus := []int{1, 2, 4}
	if long.Given() {
		gpus = []int{1, 2, 3, 4, 5, 6, 7, 8}
	}
	for _, nodes := range []int{2, 4} {
		for _, n := range gpus {
			topo, err := topology.Load(topologies.Source, "dgx-h100", topology.Options{Nodes: nodes, GPUs: n})
			if err != nil {
				t.Fatal(err)
			}
			for _, kind := range []collective.Kind{collective.AllReduce, collective.AllGather, collective.ReduceScatter,
				collective.Broadcast, collective.AllToAll} {
				if topo.NumRanks() > 8 && !long.Given() && (int(kind)+n+nodes)%4 != 0 {
					continue // they take long
				}
				for _, s := range plans(t, topo, kind, random) {
					playAll(t, s, nodesOf(topo), random, played)
				}
			}
		}
	}
}

// TestProxiesOfManyRanks plays as many ranks as kernels hear of by proxy.
func TestProxiesOfManyRanks(t *testing.T) {
	random := rand.New(rand.NewPCG(20261123, 2))
	topo, err := topology.Load(topologies.Source, "dgx-h100", topology.Options{Nodes: maxPeers / 8})
	if err != nil {
		t.Fatal(err)
	}
	s, err := planner.Build(topo, collective.Spec{Kind: collective.AllGather, Ranks: topo.NumRanks()}, "direct", planner.Options{})
	if err != nil {
		t.Fatal(err)
	}
	played := map[Mechanism]int{}
	playProxied(t, s, Options{Count: int64(2 * topo.NumRanks()), Size: 4, Instances: 1, Mechanism: Push}, nodesOf(topo), random, nil,
		played)
	if len(played) != 1 {
		t.Errorf("%d ranks by proxy are refused", topo.NumRanks())
	}
}

// playAll plays a schedule in some of the mechanisms, in nodes or, without any, as one program.
func playAll(t *testing.T, s *schedule.Schedule, nodes [][]int, random *rand.Rand, played map[Mechanism]int) {
	rarely := map[bool]int{false: 2, true: 5}[nodes != nil]
	for m := Pull; m <= WordsPush; m++ {
		if s.Spec.Ranks >= 6 && (nodes != nil || s.Spec.Ranks == MaxRanks) && random.IntN(rarely) > 0 {
			continue // they take long
		}
		o := Options{Count: (1 + random.Int64N(40*int64(s.Spec.Ranks))) * int64(s.Spec.Blocks()), Size: 1 + 3*random.IntN(2),
			InPlace: random.IntN(3) == 0, Instances: 1 + random.IntN(2), Mechanism: m}
		streams := 1 + random.IntN(3)
		whole, refused := Compile(s, o)
		var p *Staged
		if nodes == nil && refused == nil {
			p = oneStage(whole)
			if BlocksAligned(s, o) && slices.ContainsFunc(whole.Lanes, func(lanes []Lane) bool { return Unaligned(lanes...) }) {
				t.Errorf("%s of %v, %v, %+v: blocks begin at multiples of 16 bytes, other places do not", s.Algorithm, s.Spec.Kind, s.Spec.Counts, o)
			}
		} else if nodes != nil {
			var err error
			p, err = CompileStages(s, o, nodes, streams)
			if err != nil && s.Spec.Ranks <= MaxRanks && refused == nil && !strings.Contains(err.Error(), "pull instead") {
				t.Errorf("%s of %v is refused in nodes %v, not in one: %v", s.Algorithm, s.Spec.Kind, nodes, err)
			}
		}
		if nodes != nil && s.Spec.Ranks <= 16 { // each message has slots of its own, which grow as the ranks' square
			playProxied(t, s, o, nodes, random, refused, played)
		}
		if p == nil {
			continue // what the kernels refuse
		}
		played[m]++
		for range 2 {
			if err := newPlayOff(s, o, p, random).run(); err != nil {
				t.Errorf("%s of %v, nodes %v, %d streams, %d slices, %v, %+v: %v", s.Algorithm, s.Spec.Kind, nodes, streams,
					s.Channels[0].Slices, s.Spec.Counts, o, err)
			}
			if nodes != nil {
				break // they take long
			}
		}
	}
}

// playProxied plays it with proxies between nodes, from a mechanism's number behind all mechanisms on.
func playProxied(t *testing.T, s *schedule.Schedule, o Options, nodes [][]int, random *rand.Rand, refused error, played map[Mechanism]int) {
	t.Helper()
	p, err := CompileProxied(s, o, nodes)
	if err != nil {
		if s.Spec.Ranks <= MaxRanks && refused == nil && !strings.Contains(err.Error(), "pull instead") {
			t.Errorf("%s of %v is refused by proxy in nodes %v, not in one: %v", s.Algorithm, s.Spec.Kind, nodes, err)
		}
		return
	}
	played[Copies+1+o.Mechanism]++
	if err := proxied(s, o, p, random).run(); err != nil {
		t.Errorf("%s of %v by proxy, nodes %v, %d slices, %v, %+v: %v", s.Algorithm, s.Spec.Kind, nodes, s.Channels[0].Slices,
			s.Spec.Counts, o, err)
	}
}

// nodesOf are a topology's.
func nodesOf(topo *topology.Topology) (out [][]int) {
	for r := range topo.NumRanks() {
		n := topo.NodeOf(r)
		for len(out) <= n {
			out = append(out, nil)
		}
		out[n] = append(out[n], r)
	}
	return out
}

// randomNodes are one to eight, of any ranks, at most eight each.
func randomNodes(ranks int, random *rand.Rand) (out [][]int) {
	out = make([][]int, 1+random.IntN(min(ranks, 8)))
	if ranks > MaxRanks*len(out) {
		out = make([][]int, 8)
	}
	for i, r := range random.Perm(ranks) {
		n := random.IntN(len(out))
		if i < len(out) {
			n = i
		}
		for len(out[n]) == MaxRanks {
			n = (n + 1) % len(out)
		}
		out[n] = append(out[n], r)
	}
	return out
}

// plans are some of what the planner compares.
func plans(t *testing.T, topo *topology.Topology, kind collective.Kind, random *rand.Rand) (out []*schedule.Schedule) {
	all, err := planner.Candidates(topo, collective.Spec{Kind: kind, Ranks: topo.NumRanks()}, "", planner.Options{})
	if err != nil {
		t.Fatal(err)
	}
	all = slices.DeleteFunc(all, func(s *schedule.Schedule) bool { return s.Plain() != nil })
	for range 2 {
		s := all[random.IntN(len(all))]
		for i := range s.Channels { // a pipeline of thousands of slices is one of dozens, longer, and a million messages take minutes
			pieces := s.Channels[i].Chunks * s.Spec.Ranks
			s.Channels[i].Slices = min(s.Channels[i].Slices, long.Or(min(max(1<<11/pieces, 2), 48), max(1<<18/pieces, 1)))
		}
		out = append(out, s)
	}
	return out
}

// written is a schedule of one channel with these programs.
func written(t *testing.T, spec collective.Spec, programs ...schedule.Program) *schedule.Schedule {
	t.Helper()
	s := &schedule.Schedule{Algorithm: "written", Spec: spec, Protocol: schedule.Simple, Channels: []schedule.Channel{{Share: 1, Slices: 1,
		Chunks: spec.Blocks(), Phases: []schedule.Phase{{Gen: schedule.GenOps, Op: spec.Kind, Src: schedule.Input, Acc: schedule.Scratch,
			Dst: schedule.Output, Ops: programs}}}}}
	if err := schedule.Check(s, nil); err != nil {
		t.Fatal(err)
	}
	return s
}

func send(to int32, l schedule.Loc) schedule.Op {
	return schedule.Op{Kind: schedule.Send, Peer: to, Src: l}
}
func recv(from int32, l schedule.Loc) schedule.Op {
	return schedule.Op{Kind: schedule.Recv, Peer: from, Dst: l}
}
func reduce(dst schedule.Loc, srcs ...schedule.Loc) schedule.Op {
	return schedule.Op{Kind: schedule.Reduce, Peer: -1, Srcs: srcs, Dst: dst}
}
func transferred(dst, src schedule.Loc) schedule.Op {
	return schedule.Op{Kind: schedule.Copy, Peer: -1, Src: src, Dst: dst}
}

// TestMemoryUsedAgain: a message between nodes waits until nothing uses the memory that it is for, be it a kernel, a peer
// or another message; and what is read twice is stored, though who reads it at once could take it where it is.
func TestMemoryUsedAgain(t *testing.T) {
	in, out, scratch := places(schedule.Input), places(schedule.Output), places(schedule.Scratch)
	random := rand.New(rand.NewPCG(20261123, 2))
	for name, c := range map[string]struct {
		s     *schedule.Schedule
		nodes [][]int
	}{
		"a kernel's": {written(t, collective.Spec{Kind: collective.Gather, Ranks: 3},
			schedule.Program{transferred(out[0], in[0]), recv(1, out[1]), transferred(scratch[0], out[1]),
				transferred(scratch[1], scratch[0]), recv(2, scratch[0]), transferred(out[2], scratch[0])},
			schedule.Program{send(0, in[1])}, schedule.Program{send(0, in[2])}), [][]int{{0}, {1}, {2}}},
		"a message's": {written(t, collective.Spec{Kind: collective.Gather, Ranks: 4, Root: 2},
			schedule.Program{recv(1, scratch[0]), send(2, scratch[0]), recv(2, scratch[1]), recv(3, scratch[0]), send(2, scratch[0]),
				send(2, in[0])},
			schedule.Program{send(0, in[1])},
			schedule.Program{transferred(out[2], in[2]), recv(0, out[1]), send(0, in[2]), recv(0, out[3]), recv(0, out[0])},
			schedule.Program{send(0, in[3])}), [][]int{{0}, {1}, {2}, {3}}},
		"a peer's": {written(t, collective.Spec{Kind: collective.Gather, Ranks: 4, Root: 1},
			schedule.Program{recv(2, scratch[0]), send(1, scratch[0]), recv(1, scratch[1]), recv(3, scratch[0]), send(1, scratch[0]),
				send(1, in[0])},
			schedule.Program{transferred(out[1], in[1]), recv(3, scratch[0]), recv(0, out[2]), send(0, in[1]), recv(0, out[3]),
				recv(0, out[0])},
			schedule.Program{send(0, in[2]), send(3, in[2])},
			schedule.Program{send(0, in[3]), recv(2, scratch[0]), send(1, scratch[0])}), [][]int{{0, 1}, {2}, {3}}},
		"what is read twice": {written(t, collective.Spec{Kind: collective.AllReduce, Ranks: 3},
			schedule.Program{send(1, in[0]), recv(1, out[0])},
			schedule.Program{recv(0, scratch[0]), reduce(scratch[1], scratch[0], in[0]), send(2, scratch[0]), send(2, in[0]),
				recv(2, out[0]), send(0, out[0])},
			schedule.Program{recv(1, scratch[0]), recv(1, scratch[1]), reduce(out[0], scratch[0], scratch[1], in[0]), send(1, out[0])}),
			[][]int{{0, 1}, {2}}},
	} {
		t.Run(name, func(t *testing.T) {
			for range 20 {
				playAll(t, c.s, c.nodes, random, map[Mechanism]int{})
			}
		})
	}
}

// places are the first chunks of a buffer.
func places(b schedule.Buffer) (list [4]schedule.Loc) {
	for i := range list {
		list[i] = schedule.Loc{Buf: b, Set: schedule.Range(int32(i), 1)}
	}
	return list
}

// TestLevels: as many as messages between nodes follow one another, however many ranks a node has.
func TestLevels(t *testing.T) {
	for _, c := range []struct {
		algo   string
		nodes  int
		levels int
	}{{"ring", 4, 6}, {"direct", 4, 1}, {"two_shot", 4, 2}, {"doubling", 4, 2}, {"halving_doubling", 4, 4}} {
		topo, err := topology.Load(topologies.Source, "dgx-a100", topology.Options{Nodes: c.nodes, GPUs: 1})
		if err != nil {
			t.Fatal(err)
		}
		s, err := planner.Build(topo, collective.Spec{Kind: collective.AllReduce, Ranks: c.nodes}, c.algo, planner.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, slices := range []int{1, 4} {
			s.Channels[0].Slices = slices
			for streams := 1; streams <= slices; streams++ {
				p, err := CompileStages(s, Options{Count: 4096, Size: 4, Instances: 1}, nodesOf(topo), streams)
				if err != nil {
					t.Fatal(err)
				}
				groups := 0
				for _, stage := range p.Streams[0] {
					if len(stage.Group) > 0 {
						groups++
					}
				}
				if want := c.levels + (slices+streams-1)/streams - 1; len(p.Streams) != streams || groups != want {
					t.Errorf("%s in %d slices: %d streams, %d groups on the first; want %d, %d", c.algo, slices, len(p.Streams), groups,
						streams, want)
				}
			}
		}
	}
}

// TestNodesAreAllRanks: each once, no more in a node than kernels address.
func TestNodesAreAllRanks(t *testing.T) {
	s := build(t, collective.AllReduce, "ring", 4, 1)
	for _, nodes := range [][][]int{{{0, 1}, {2}}, {{0, 1}, {1, 2, 3}}, {{0, 1}, {2, 3}, {4}}, {}} {
		if _, err := CompileStages(s, Options{Count: 64, Size: 4, Instances: 1}, nodes, 1); err == nil ||
			!strings.Contains(err.Error(), "must be all of 4 ranks") {
			t.Errorf("nodes %v: %v", nodes, err)
		}
	}
}

// TestPacketsInPlace: messages are copied when they are sent, so that in packets all may run in place,
// and what is pulled only where nobody overwrites what others still read.
func TestPacketsInPlace(t *testing.T) {
	s := build(t, collective.AllReduce, "direct", 4, 1)
	for m := Pull; m <= WordsPush; m++ {
		if _, err := Compile(s, Options{Count: 64, Size: 4, Instances: 1, Mechanism: m, InPlace: true}); (err == nil) != m.Flagged() {
			t.Errorf("%v: %v", m, err)
		}
	}
}

func randomSpec(kind collective.Kind, ranks int, random *rand.Rand) collective.Spec {
	spec := collective.Spec{Kind: kind, Ranks: ranks}
	if kind.Rooted() {
		spec.Root = random.IntN(ranks)
	}
	if kind == collective.AllToAllV {
		for range ranks {
			row := make([]int64, ranks)
			for i := range row {
				row[i] = random.Int64N(4)
			}
			spec.Counts = append(spec.Counts, row)
		}
		spec.Counts[0][ranks-1] = 3 // somebody sends something
	}
	return spec
}
