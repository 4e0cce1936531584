package block

import (
	"testing"

	_ "railyard/internal/long" // accepts -long
	"railyard/model/collective"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/planner"
	"railyard/topologies"
)

// machine plays a Copying on memory of bytes: stage by stage, all ranks' copies and then
// all ranks' kernels, which is one order that the flags allow.
type machine struct {
	mem map[[2]int][]byte // by rank and buffer
}

func (m *machine) at(r Ref, n int64) []byte {
	return m.mem[[2]int{r.Rank, int(r.Buffer)}][r.Offset : r.Offset+n]
}

func (m *machine) kernel(l Lane) {
	for _, op := range l.Body {
		if op.Kind != Multi {
			continue
		}
		sum := make([]byte, op.Limit)
		for _, s := range op.Sources {
			for i, b := range m.at(s, op.Limit) {
				sum[i] += b
			}
		}
		for _, d := range op.Destinations {
			copy(m.at(d, op.Limit), sum)
		}
	}
}

func (m *machine) play(p *Copying) {
	for _, l := range p.Local {
		m.kernel(l)
	}
	for _, s := range p.Stages {
		for _, copies := range s.Copies {
			for _, c := range copies {
				copy(m.at(c.To, c.Bytes), m.at(c.From, c.Bytes))
			}
		}
		for _, l := range s.Kernel {
			m.kernel(l)
		}
	}
}

// TestCopiesCompute plays direct schedules on bytes and compares with the definition.
func TestCopiesCompute(t *testing.T) {
	for _, c := range []struct {
		kind   collective.Kind
		algo   string
		gpus   int
		slices int
	}{{collective.AllReduce, "two_shot", 4, 1}, {collective.AllReduce, "two_shot", 3, 4}, {collective.AllGather, "direct", 4, 1},
		{collective.ReduceScatter, "direct", 4, 2}, {collective.AllToAll, "direct", 3, 1}, {collective.Broadcast, "direct", 4, 1}} {
		s := build(t, c.kind, c.algo, c.gpus, c.slices)
		count := int64(37 * s.Spec.Blocks())
		p, err := CompileCopies(s, Options{Count: count, Size: 1, Instances: 3})
		if err != nil {
			t.Fatal(err)
		}
		layout := schedule.NewLayout(s, count, 1)
		m := &machine{mem: map[[2]int][]byte{}}
		for r := range c.gpus {
			in := make([]byte, layout.Elements(r, schedule.Input))
			for i := range in {
				in[i] = byte(r*31 + i*7)
			}
			m.mem[[2]int{r, int(schedule.Input)}] = in
			m.mem[[2]int{r, int(schedule.Output)}] = make([]byte, layout.Elements(r, schedule.Output))
			m.mem[[2]int{r, int(schedule.Scratch)}] = make([]byte, p.Scratch)
		}
		m.play(p)
		for r := range c.gpus {
			for b := range s.Spec.Blocks() {
				if !s.Spec.Wants(r, b) {
					continue
				}
				off, n := layout.Block(r, schedule.Output, b)
				for i := range n {
					if got, want := m.mem[[2]int{r, int(schedule.Output)}][off+i], expected(s, layout, r, b, i); got != want {
						t.Fatalf("%v %s on %d: rank %d block %d byte %d: %d instead of %d", c.kind, c.algo, c.gpus, r, b, i, got, want)
					}
				}
			}
		}
	}
}

func build(t *testing.T, kind collective.Kind, algo string, gpus, slices int) *schedule.Schedule {
	t.Helper()
	topo, err := topology.Load(topologies.Source, "hgx-h200-4", topology.Options{GPUs: gpus})
	if err != nil {
		t.Fatal(err)
	}
	s, err := planner.Build(topo, collective.Spec{Kind: kind, Ranks: gpus}, algo, planner.Options{Slices: slices})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// expected is an output byte by the collective's definition, inputs as above.
func expected(s *schedule.Schedule, layout *schedule.Layout, rank, b int, i int64) (sum byte) {
	for r := range s.Spec.Ranks {
		src, sb := r, b
		if !s.Spec.Kind.Reduces() {
			src, sb = s.Spec.Origin(rank, b)
		}
		off, _ := layout.Block(src, schedule.Input, sb)
		sum += byte(src*31 + int(off+i)*7)
		if !s.Spec.Kind.Reduces() {
			break
		}
	}
	return sum
}

// TestHandshakesMeetEverybody: every rank tells and hears all others and not itself, with
// the same step, which grows from kernel to kernel.
func TestHandshakesMeetEverybody(t *testing.T) {
	p, err := CompileCopies(build(t, collective.AllReduce, "two_shot", 4, 3), Options{Count: 4096, Size: 4, Instances: 2})
	if err != nil {
		t.Fatal(err)
	}
	step := 0
	meet := func(lanes []Lane) {
		for r, l := range lanes {
			if len(l.Body) < 2 || l.Body[0].Kind != Signal || l.Body[1].Kind != Wait {
				t.Fatalf("rank %d does not begin with a handshake: %+v", r, l.Body)
			}
			for _, op := range l.Body[:2] {
				if op.Peers != 0b1111&^(1<<r) || op.Value <= step || op.Value != lanes[0].Body[0].Value {
					t.Errorf("rank %d: peers %b, step %d after %d", r, op.Peers, op.Value, step)
				}
			}
		}
		step = lanes[0].Body[0].Value
	}
	meet(p.Start)
	for _, s := range p.Stages {
		if s.Kernel != nil {
			meet(s.Kernel)
		}
	}
	meet(p.End)
}

func TestRefusals(t *testing.T) {
	ring := build(t, collective.AllReduce, "ring", 4, 1)
	if _, err := CompileCopies(ring, Options{Count: 64, Size: 4, Instances: 1}); err == nil {
		t.Error("copy engines took a ring")
	}
	if _, err := Compile(ring, Options{Count: 64, Size: 4}); err == nil {
		t.Error("no blocks")
	}
}
