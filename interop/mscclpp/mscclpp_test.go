package mscclpp

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
			name := fmt.Sprintf("%s-%v-%d.json", x.algo, x.kind, n)
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
		for _, k := range []collective.Kind{collective.AllReduce, collective.AllGather, collective.ReduceScatter, collective.AllToAll} {
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
	f, err := Export(s, Options{InPlace: inPlace})
	if err != nil {
		t.Fatal(err)
	}
	data := text(t, f)
	back, err := Import(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if err := schedule.Check(back, nil); err != nil {
		t.Fatalf("%v\n%s", err, data)
	}
	if !sameBytes(s, back) {
		t.Errorf("sends %v, then %v", sentBytes(s), sentBytes(back))
	}
}
