package kernels

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"railyard/exec/cuda"
	"railyard/model/block"
	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/measurement"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/planner"
	"railyard/topologies"
)

// unaligned is a run whose blocks are not aligned to 16 bytes.
type unaligned struct {
	kind  collective.Kind
	dtype collective.DType
	size  units.Bytes
	way   string
	took  float64
}

func unalignedRuns(t *testing.T) (out []unaligned) {
	t.Helper()
	file, err := os.Open(filepath.Join("..", "..", "docs", "measured", "h200-2", "unaligned.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	err = measurement.Lines(file, "unaligned.csv", func(l *measurement.Line) {
		kind, err := collective.Parse(l.Cell("collective"))
		if err != nil {
			l.Fail("collective", "%v", err)
		}
		dtype, err := collective.ParseDType(l.Cell("datatype"))
		if err != nil {
			l.Fail("datatype", "%v", err)
		}
		out = append(out, unaligned{kind, dtype, l.Size("size_bytes"), l.Cell("way"), l.Number("time_us")})
	}, "collective", "datatype", "size_bytes", "way", "before_us", "time_us", "predicted_us", "driver", "date", "nccl_us")
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestMisaligned: what one GPU's accesses to its memory cost off 16 bytes says what two GPUs' runs lose that are, which
// nothing was fitted on: the mean error of all shrinks by a quarter, that of runs that lose a tenth or more to a third.
func TestMisaligned(t *testing.T) {
	topo, err := topology.Load(topologies.Source, "hgx-h200-4", topology.Options{GPUs: 2})
	if err != nil {
		t.Fatal(err)
	}
	machine, err := cost.GetMachine("h200")
	if err != nil {
		t.Fatal(err)
	}
	costs := machine.Own(topo)
	aligned := *costs
	aligned.Access = nil
	var sum, lose [2]float64 // of relative errors: of all runs, of those that lose a tenth or more
	runs := unalignedRuns(t)
	for _, x := range runs {
		algorithm, name, _ := strings.Cut(x.way, "/")
		mechanism := map[string]block.Mechanism{"": block.Push, "copy": block.Copies}[name]
		if m, ok := block.FlaggedFor(schedule.Protocol(name)); ok {
			mechanism = m
		}
		s, err := planner.Build(topo, collective.Spec{Kind: x.kind, Ranks: 2}, algorithm, planner.Options{Slices: 1,
			Protocol: mechanism.Protocol()})
		if err != nil {
			t.Fatal(err)
		}
		how := cuda.Method{Mechanism: mechanism, Blocks: 132, Threads: 512, Streams: 1}
		var off [2]float64
		var got, slower units.Time
		for i, p := range []*cost.Profile{&aligned, costs} {
			if got, slower, err = Predict(topo, s, how, Data{Size: x.size, Element: x.dtype.Size()}, p); err != nil {
				t.Fatal(err)
			}
			off[i] = math.Abs(got.Microseconds()/x.took - 1)
			sum[i] += off[i]
		}
		if slower > got/10 {
			lose[0], lose[1] = lose[0]+off[0], lose[1]+off[1]
			t.Logf("%v %v %v %s: %.2f µs, predicted %v (%v of it misaligned)", x.kind, x.dtype, x.size, x.way, x.took, got, slower)
		}
	}
	n := float64(len(runs)) / 100
	t.Logf("%d runs: %.1f %% off as if aligned, %.1f %% as they are", len(runs), sum[0]/n, sum[1]/n)
	if len(runs) < 50 || sum[1] > 0.75*sum[0] || lose[0] == 0 || lose[1] > lose[0]/3 {
		t.Errorf("%d runs: sums of errors as if aligned %.3f (%.3f of those that lose), as they are %.3f (%.3f)", len(runs), sum[0],
			lose[0], sum[1], lose[1])
	}
}

// TestMisalignedParts: parts of all_to_allv that begin off 16 bytes take as long as aligned ones where they are pushed, what accesses to a
// peer's memory lose where they are pulled, and what those to a GPU's own memory do in packets: two H200's runs, on which nothing was
// fitted, are 6 and 8 % off in the mean at most.
func TestMisalignedParts(t *testing.T) {
	topo, err := topology.Load(topologies.Source, "dgx-h200", topology.Options{GPUs: 2})
	if err != nil {
		t.Fatal(err)
	}
	machine, err := cost.GetMachine("h200")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		file   string
		runs   int
		more   int64 // own elements that the second rank sends besides
		within float64
	}{{"unaligned-v.csv", 16, 1, 0.06}, {"unaligned-pulled.csv", 12, 0, 0.08}} {
		off := partsOff(t, topo, machine.Own(topo), c.file, c.more)
		sum := 0.0
		for _, x := range off {
			sum += x
		}
		t.Logf("%s: %d runs: %.1f %% off", c.file, len(off), 100*sum/float64(c.runs))
		if len(off) != c.runs || sum > c.within*float64(c.runs) {
			t.Errorf("%s: %d runs: sum of errors %.3f", c.file, len(off), sum)
		}
	}
}

// partsOff is how far off each run of a file is, as a share.
func partsOff(t *testing.T, topo *topology.Topology, costs *cost.Profile, name string, more int64) (off []float64) {
	t.Helper()
	file, err := os.Open(filepath.Join("..", "..", "docs", "measured", "h200-2", name))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	err = measurement.Lines(file, name, func(l *measurement.Line) {
		dtype, err := collective.ParseDType(l.Cell("datatype"))
		if err != nil {
			l.Fail("datatype", "%v", err)
			return
		}
		one := int64(dtype.Size())
		n, own := int64(l.Number("elements"))*one, int64(l.Number("own_elements"))*one
		_, way, named := strings.Cut(l.Cell("way"), "/")
		mechanism := block.Push
		if m, ok := block.FlaggedFor(schedule.Protocol(way)); ok {
			mechanism = m
		} else if named {
			mechanism = block.Pull
		}
		spec := collective.Spec{Kind: collective.AllToAllV, Ranks: 2, Counts: [][]int64{{own, n}, {n + more*own, own}}}
		s, err := planner.Build(topo, spec, "direct", planner.Options{Slices: 1, Protocol: mechanism.Protocol()})
		if err != nil {
			t.Fatal(err)
		}
		how := cuda.Method{Mechanism: mechanism, Blocks: 132, Threads: 512, Streams: 1}
		got, lost, err := Predict(topo, s, how, Data{Size: l.Size("size_bytes"), Element: dtype.Size()}, costs)
		if err != nil {
			t.Fatal(err)
		}
		took := l.Number("time_us")
		t.Logf("%s %d + %d B by %v: %.2f µs, predicted %v (%v of it misaligned)", name, n, own, mechanism, took, got, lost)
		off = append(off, math.Abs(got.Microseconds()/took-1))
	}, "collective", "datatype", "elements", "own_elements", "size_bytes", "way", "min_us", "time_us", "predicted_us", "driver", "date")
	if err != nil {
		t.Fatal(err)
	}
	return off
}

// TestMisalignedWays: what is said of a plan that can be pulled or pushed is of the faster way, as it runs.
func TestMisalignedWays(t *testing.T) {
	topo, err := topology.Load(topologies.Source, "dgx-h100", topology.Options{GPUs: 2})
	if err != nil {
		t.Fatal(err)
	}
	machine, err := cost.GetMachine("h100")
	if err != nil {
		t.Fatal(err)
	}
	costs, size := machine.Own(topo), units.Bytes(8_000_004)
	spec := collective.Spec{Kind: collective.AllToAllV, Ranks: 2, Counts: [][]int64{{2, 8_000_000}, {8_000_002, 2}}}
	s, err := planner.Build(topo, spec, "direct", planner.Options{Slices: 1, Protocol: schedule.Simple})
	if err != nil {
		t.Fatal(err)
	}
	pull := cuda.MethodFor(s)
	as := *s
	as.Protocol = pull.Mechanism.Protocol()
	pulled, lost, err := Predict(topo, &as, pull, Data{Size: size, Element: 2}, costs)
	if err != nil || pull.Mechanism != block.Pull || lost < pulled/4 {
		t.Fatalf("%v by %v loses %v (%v): want a quarter at least", pulled, pull.Mechanism, lost, err)
	}
	slower, err := Misaligned(topo, s, Data{Size: size, Element: 2}, costs)
	if err != nil || slower > pulled/20 {
		t.Errorf("%v is lost (%v), pulled %v of %v", slower, err, lost, pulled)
	}
}
