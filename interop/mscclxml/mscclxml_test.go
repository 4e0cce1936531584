package mscclxml

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"railyard/internal/golden"
	"railyard/model/collective"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/planner"
	"railyard/topologies"
)

// built is a planner's schedule over GPUs of one DGX H100.
func built(t testing.TB, algo string, kind collective.Kind, ranks int) *schedule.Schedule {
	t.Helper()
	topo, err := topology.Load(topologies.Source, "dgx-h100", topology.Options{GPUs: ranks})
	if err != nil {
		t.Fatal(err)
	}
	s, err := planner.Build(topo, collective.Spec{Kind: kind, Ranks: ranks}, algo, planner.Options{Channels: 1})
	if planner.NotApplicable(err) {
		t.Skip(err)
	}
	if algo == "double_binary_tree" && err == nil {
		s, err = planner.Build(topo, s.Spec, algo, planner.Options{})
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// sentBytes is what each rank sends, as shares of the buffer in units of 1/lots.
func sentBytes(s *schedule.Schedule) []int64 {
	const lots = 1 << 32
	out := make([]int64, s.Spec.Ranks)
	x := schedule.NewExpander(s)
	for c := range s.Channels {
		var total int64
		for i := range s.Channels {
			total += s.Channels[i].Share
		}
		for p := range s.Channels[c].Phases {
			for r := range out {
				for _, op := range x.AppendProgram(nil, c, p, r) {
					if op.Kind == schedule.Send {
						out[r] += int64(op.Src.Set.Len()) * (lots * s.Channels[c].Share / total / int64(s.Channels[c].Chunks))
					}
				}
			}
		}
	}
	return out
}

func sameBytes(a, b *schedule.Schedule) bool {
	x, y := sentBytes(a), sentBytes(b)
	for i := range x {
		if d := x[i] - y[i]; d > 1<<10 || d < -(1<<10) {
			return false
		}
	}
	return true
}

func text(t testing.TB, f *File) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := f.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

var samples = []struct {
	algo string
	kind collective.Kind
}{
	{"ring", collective.AllReduce}, {"direct", collective.AllReduce}, {"double_binary_tree", collective.AllReduce}, {"ring", collective.AllGather},
}

func TestSamples(t *testing.T) {
	for _, x := range samples {
		for _, n := range []int{4, 8} {
			name := fmt.Sprintf("%s-%v-%d.xml", x.algo, x.kind, n)
			t.Run(name, func(t *testing.T) {
				f, err := Export(built(t, x.algo, x.kind, n), Options{})
				if err != nil {
					t.Fatal(err)
				}
				golden.Equal(t, name, text(t, f))
			})
		}
	}
}

// TestRoundTrip exports everything that the planner makes and proves what comes back.
func TestRoundTrip(t *testing.T) {
	for _, a := range planner.Algorithms() {
		for _, k := range []collective.Kind{collective.AllReduce, collective.AllGather, collective.ReduceScatter, collective.AllToAll, collective.Broadcast, collective.Reduce} {
			for _, n := range []int{2, 3, 4, 8} {
				for _, inPlace := range []bool{false, true} {
					t.Run(fmt.Sprintf("%s/%v/%d/%v", a.Name, k, n, inPlace), func(t *testing.T) { roundTrip(t, built(t, a.Name, k, n), inPlace) })
				}
			}
		}
	}
}

func roundTrip(t *testing.T, s *schedule.Schedule, inPlace bool) {
	if len(s.Needs) > 0 {
		if _, err := Export(s, Options{}); err == nil || !strings.Contains(err.Error(), "--no-in-network") {
			t.Errorf("exported for an executor without in-network operations: %v", err)
		}
		return
	}
	if inPlace && schedule.CheckWith(s, nil, schedule.CheckOptions{InPlace: true}) != nil {
		t.Skip("not in place")
	}
	f, err := Export(s, Options{Dialect: "msccl", InPlace: inPlace})
	if err != nil {
		t.Fatal(err)
	}
	data := text(t, f)
	back, err := Import(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if err := schedule.CheckWith(back, nil, schedule.CheckOptions{InPlace: inPlace}); err != nil {
		t.Fatalf("%v\n%s", err, data)
	}
	if !sameBytes(s, back) {
		t.Errorf("sends %v, then %v", sentBytes(s), sentBytes(back))
	}
	if inPlace {
		f.OutOfPlace = false
		again, err := f.Schedule()
		if err == nil {
			err = schedule.Check(again, nil)
		}
		if err != nil {
			t.Errorf("as an in-place file: %v", err)
		}
	}
}

func TestFused(t *testing.T) {
	f, err := Export(built(t, "ring", collective.AllReduce, 4), Options{})
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for _, g := range f.GPUs {
		for _, tb := range g.Blocks {
			for _, s := range tb.Steps {
				count[s.Type]++
			}
		}
	}
	// by rank: 2 partial sums and 1 result passed on, 2 results handed on, 1 taken
	want := map[string]int{"s": 4, "rrs": 8, "rrcs": 4, "rcs": 8, "r": 4}
	for k, n := range want {
		if count[k] != n {
			t.Errorf("%d %s instead of %d (%v)", count[k], k, n, count)
		}
	}
}

func TestRefusals(t *testing.T) {
	ring := built(t, "ring", collective.AllReduce, 8)
	rooted := built(t, "ring", collective.Broadcast, 4)
	rooted.Spec.Root = 2
	many := built(t, "direct", collective.AllToAll, 8)
	for range 8 {
		many.Channels = append(many.Channels, many.Channels[0])
	}
	for _, x := range []struct {
		s    *schedule.Schedule
		o    Options
		want string
	}{
		{ring, Options{Dialect: "cuda"}, "unknown MSCCL dialect"},
		{rooted, Options{}, "--root 0"},
		{built(t, "knomial", collective.Barrier, 4), Options{}, "no name for barrier"},
		{many, Options{}, "rccl allows 64"},
	} {
		if _, err := Export(x.s, x.o); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%v instead of %q", err, x.want)
		}
	}
}

// TestSplit has more messages on a connection than a thread block has steps.
func TestSplit(t *testing.T) {
	topo, err := topology.Load(topologies.Source, "dgx-h100", topology.Options{Nodes: 5})
	if err != nil {
		t.Fatal(err)
	}
	s, err := planner.Build(topo, collective.Spec{Kind: collective.AllReduce, Ranks: 40}, "simple_ring", planner.Options{})
	if err != nil {
		t.Fatal(err)
	}
	f, err := Export(s, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if f.Channels < 2 {
		t.Errorf("%d channels", f.Channels)
	}
	roundTrip(t, s, false)
}
