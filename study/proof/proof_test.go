package proof

import (
	"strings"
	"testing"

	_ "railyard/internal/long" // accepts -long
	"railyard/model/collective"
	"railyard/model/measurement"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/sim/nccl"
	"railyard/study"
	"railyard/topologies"
)

func times(us ...int) (out Times) {
	for _, t := range us {
		out = append(out, units.Time(t)*units.Microsecond)
	}
	return out
}

// TestFaster: few runs must differ by more than repeats do, many must not overlap.
func TestFaster(t *testing.T) {
	for _, x := range []struct {
		a, b Times
		want bool
	}{
		{times(100), times(103), false}, {times(100), times(106), true}, {times(100, 101), times(103, 104), false},
		{times(100, 100, 101, 100, 100), times(102, 102, 103, 102, 102), true},
		{times(100, 100, 102, 100, 100), times(102, 102, 103, 102, 102), false},
		{times(100), times(100), false},
	} {
		if got := x.a.Faster(x.b); got != x.want {
			t.Errorf("%v beside %v: %v", x.a, x.b, got)
		}
	}
}

const table = `collective,gpus,algo,proto,registration,launch,size_bytes,time_us,wrong
all_reduce,2,default,default,none,graph,67108864,230,0
all_reduce,2,Ring,Simple,none,graph,67108864,232,0
all_reduce,2,tree,simple,none,graph,67108864,285,0
all_reduce,2,tree,simple,none,stream,67108864,246,0
all_reduce,2,default,default,none,stream,67108864,262,0
all_reduce,2,tree,ll,none,stream,67108864,10,-1
all_reduce,2,ring,ll,none,stream,67108864,1,7
all_reduce,4,ring,ll,none,stream,67108864,1,0
all_reduce,2,default,default,window,graph,67108864,5,0
`

func judge(t *testing.T, launch string) Judge {
	t.Helper()
	set, err := measurement.ReadCSV(strings.NewReader(table), "table")
	if err != nil {
		t.Fatal(err)
	}
	topo, err := topology.Load(topologies.Source, "hgx-h200-4", topology.Options{GPUs: 2})
	if err != nil {
		t.Fatal(err)
	}
	m, err := nccl.New(topo, nccl.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := study.NCCL(topo, nil, nccl.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return Judge{Rows: Read(set, launch, 2), Model: m, Runtime: r, Graph: launch == "graph"}
}

// TestLaunchModeDecides: what wins on streams loses in graphs, as measured on two H200; wrong results, other numbers of GPUs and
// registered windows are nobody's proof.
func TestLaunchModeDecides(t *testing.T) {
	c := Case{collective.AllReduce, 64 * units.MiB}
	for launch, want := range map[string]Setting{"graph": {}, "stream": {"tree", "ll"}} {
		j := judge(t, launch)
		ways, channels, err := j.Candidates(c)
		if err != nil {
			t.Fatal(err)
		}
		best, _ := j.Best(c, ways)
		if best.Setting != want {
			t.Errorf("%s: %+v", launch, best)
		}
		own, found := j.AsOwn(c, ways)
		if !found || own.Setting != (Setting{"ring", "simple"}) || channels[own.Setting] < 1 || own.Slower {
			t.Errorf("%s: %+v %v", launch, own, found)
		}
		tree, ok := j.Of(c, Setting{"tree", "simple"})
		if !ok || !tree.Measured || tree.Slower != (launch == "graph") || tree.Faster != (launch == "stream") {
			t.Errorf("%s: %+v", launch, tree)
		}
	}
}

// TestNothingMeasuredNothingFaster: where only predictions speak, a way beats NCCL's own choice beyond what repeats differ by or is no
// best way; NCCL's own choice never is.
func TestNothingMeasuredNothingFaster(t *testing.T) {
	j := judge(t, "graph")
	j.Rows = nil
	for _, k := range []collective.Kind{collective.AllReduce, collective.AllGather, collective.Broadcast} {
		for size := units.KiB; size <= units.GiB; size *= 2 {
			c := Case{k, size}
			ways, _, err := j.Candidates(c)
			if err != nil {
				t.Fatal(err)
			}
			if v, ok := j.Best(c, ways); ok && (float64(v.Time)*nccl.Repeats >= float64(v.Own) || v.Setting == ways[0]) {
				t.Errorf("%v: %+v", c, v)
			}
		}
	}
}

// TestUnfittedProvesNoGain: sizes that no kernel was fitted on make no way faster; one is known to be slower only where bands lie
// apart, as those of Simple on small messages do.
func TestUnfittedProvesNoGain(t *testing.T) {
	topo, err := topology.Load(topologies.Source, "dgx1-v100", topology.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := study.NCCL(topo, nil, nccl.Options{})
	if err != nil {
		t.Fatal(err)
	}
	j, slower := Judge{Runtime: r}, 0
	for size := units.Bytes(units.KiB); size <= units.GiB; size *= 2 {
		for _, w := range []Setting{{"ring", "simple"}, {"ring", "ll"}, {"ring", "ll128"}, {"tree", "ll"}} {
			c := Case{collective.AllReduce, size}
			times, fitted := j.predicted(c, w)
			own, ownFitted := j.predicted(c, Own)
			if times == nil || own == nil || fitted && ownFitted {
				continue
			}
			v, known := j.Of(c, w)
			if v.Faster || known != v.Slower || v.Slower != own.Faster(times) {
				t.Errorf("%v %v: %+v, known %v", size, w, v, known)
			}
			if v.Slower {
				slower++
			}
		}
	}
	if slower == 0 {
		t.Error("nothing is slower: the case has nothing to show")
	}
}

// TestRange: the longest run of sizes at which a plan is no slower.
func TestRange(t *testing.T) {
	for slower, want := range map[string]string{"": "", "s": "", ".": "0", "..s...s": "3 4 5", "s....": "1 2 3 4", "..ss..": "0 1"} {
		var at []Sized
		for i, c := range slower {
			at = append(at, Sized{units.Bytes(i), Verdict{Slower: c == 's'}})
		}
		got := ""
		for _, x := range Range(at) {
			got += " " + string(rune('0'+x.Size))
		}
		if strings.TrimSpace(got) != want {
			t.Errorf("%s: %s", slower, got)
		}
	}
}
