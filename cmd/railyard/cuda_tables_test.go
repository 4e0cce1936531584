package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"railyard/exec/cuda"
	"railyard/internal/golden"
	"railyard/model/block"
	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/topologies"
)

// rowsOfSweep is a file of cuda-sweep: what ours took by size and mechanism, and NCCL.
func rowsOfSweep(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString(strings.Join(sweepHeader, ",") + "\n")
	stream := map[string]string{"4096packets": "5.100", "4096push": "6.200", "4096default": "21.000", "65536push": "23.500", "65536default": "22.000", "65536windows": "20.000"}
	row := func(gpus, size, algo, mechanism, blocks, us string) {
		b.WriteString("all_reduce," + gpus + ",float32,sum," + size + "," + algo + ",1," + mechanism + "," + blocks + ",512,0,true,true,false," + us + "," + us + "," + us + "," + us + "," + stream[size+mechanism] + ",0,20,20,,,noon,12:00,\n")
	}
	for bytes := 1 << 10; bytes <= 1<<30; bytes *= 2 {
		us := func(base, perMiB float64) string {
			return strconv.FormatFloat(base+perMiB*float64(bytes)/(1<<20), 'f', 3, 64)
		}
		row("2", strconv.Itoa(bytes), "direct", "packets", "2", us(2, 7))
		row("2", strconv.Itoa(bytes), "two_shot", "push", "64", us(5, 2.9))
		row("2", strconv.Itoa(bytes), "nccl", "default", "0", us(6, 2.5)) // ahead from 4 MiB on
		if bytes <= 1<<26 {
			row("2", strconv.Itoa(bytes), "nccl", "windows", "0", us(3.7, 4))
		}
	}
	name := filepath.Join(t.TempDir(), "sweep.csv")
	if err := os.WriteFile(name, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}

// rowsOfPeers is a file of other libraries: two that count, one of them of another run, and
// three that do not.
func rowsOfPeers(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "peers.csv")
	if err := os.WriteFile(name, []byte(`collective,gpus,algo,proto,dtype,size_bytes,time_us,wrong,run,at,error
all_reduce,2,one_shot,symmetric_memory,float32,1024,2.500,0,noon,12:01,
all_reduce,2,two_shot,symmetric_memory,float32,1024,2.600,0,noon,12:01,
all_reduce,2,native,mscclpp,float32,2016,1.500,0,midnight,00:00,
all_reduce,2,native,mscclpp,float32,4096,1.000,3,noon,12:02,
all_reduce,2,native,mscclpp,float32,8192,,,noon,12:02,not for two
all_reduce,2,plan,mscclpp_plan,float32,8192,,0,noon,12:02,
`), 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestCudaTables: tables, the fastest rows with predictions, and thresholds in a profile.
func TestCudaTables(t *testing.T) {
	dir := t.TempDir()
	profile := filepath.Join(dir, "mine.yaml")
	if err := saveProfile(profile, &cost.Profile{Name: "mine", Source: "a test", Date: "2026-11-22", Launch: units.Microsecond,
		Curves: []cost.Curve{{Medium: "nvlink", Protocol: "any", Segments: []cost.Segment{{Alpha: units.Microsecond, Efficiency: 0.8}}}}}); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	f := tablesFlags{topology: "hgx-h200-4", profile: profile, peers: []string{rowsOfPeers(t)}, date: "2026-11-22", choices: profile, gpu: "Some GPU", out: filepath.Join(dir, "best.csv"), figures: dir}
	if err := f.run(&out, []string{rowsOfSweep(t)}); err != nil {
		t.Fatal(err)
	}
	golden.Equal(t, "cuda-tables.md", []byte(out.String()))
	p, err := cost.Get(profile)
	if err != nil {
		t.Fatal(err)
	}
	want := []cost.Method{
		{Collective: "all_reduce", GPUs: 2, UpTo: 741455, Algorithm: "direct", Slices: 1, Mechanism: "packets"},
		{Collective: "all_reduce", GPUs: 2, Algorithm: "two_shot", Slices: 1, Mechanism: "push", Blocks: 64, Threads: 512},
	}
	if p.GPU != "Some GPU" || len(p.Methods) != len(want) || p.Methods[0] != want[0] || p.Methods[1] != want[1] {
		t.Errorf("methods of %q: %+v", p.GPU, p.Methods)
	}
	best, err := os.ReadFile(f.out)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(best), "\n"); n != 22 {
		t.Errorf("%d lines of the fastest rows", n)
	}
	if _, err := os.Stat(filepath.Join(dir, "h200-all_reduce-2.svg")); err != nil {
		t.Error(err)
	}
}

// TestChosenWay: with --chosen a size is run in the way that the topology's profile names,
// and on GPUs it does not know not at all.
func TestChosenWay(t *testing.T) {
	topo, err := topology.Load(topologies.Source, "hgx-h200-4", topology.Options{GPUs: 3})
	if err != nil {
		t.Fatal(err)
	}
	f := sweepFlags{chosen: true, nccl: true, specialise: true, multiprocessors: 132, gpu: "NVIDIA H200"}
	spec := collective.Spec{Kind: collective.AllReduce, Ranks: 3}
	for _, c := range []struct {
		size  units.Bytes
		dtype collective.DType
		want  string
	}{{1 << 10, collective.Float32, "direct, packets"}, {1 << 20, collective.BFloat16, "two_shot, words"}, {1 << 20, collective.Int32, "two_shot, lines"}, {1 << 30, collective.Float32, "two_shot, copies, 2 slices"}} {
		ways, err := f.ways(topo, spec, c.dtype, c.size)
		if err != nil {
			t.Fatal(err)
		}
		if v := ways[0]; v.String() != c.want || v.how.Blocks < 1 || v.how.Threads < 32 || v.how.Specialise == v.how.Copies {
			t.Errorf("%v of %v: %v (%+v), want %s", c.size, c.dtype, v, v.how, c.want)
		}
		if n := len(ways); n != 2 && n != 3 || ways[1].algo != ncclAlgo {
			t.Errorf("%v: %d ways", c.size, n)
		}
	}
	f.gpu = "Some GPU"
	if _, err := f.ways(topo, spec, collective.Float32, 1<<10); err == nil {
		t.Error("a way is chosen for GPUs that nothing is known of")
	}
}

// TestFastestWay: with --fastest a case is run in the one way of ours that was fastest in the file, of whatever
// type; wrong rows and the library's do not count, and cases that are not there have none.
func TestFastestWay(t *testing.T) {
	name := filepath.Join(t.TempDir(), "before.csv")
	text := strings.Join(sweepHeader, ",") + `
all_reduce,4,float32,sum,16777216,two_shot,1,words,128,512,0,true,true,false,75,75,75,75,,0,20,20,,,noon,12:00,
all_reduce,4,float32,sum,16777216,simple_ring,1,words,132,1024,0,true,true,false,73,73,73,73,,0,20,20,,,noon,12:00,
all_reduce,4,bfloat16,sum,16777216,direct,1,words,128,512,0,true,true,false,74,74,74,74,,0,20,20,,,noon,12:00,
all_reduce,4,float32,sum,16777216,direct,1,push,64,512,0,true,true,false,9,9,9,9,,7,20,20,,,noon,12:00,
all_reduce,4,float32,sum,16777216,nccl,0,default,0,0,0,false,false,false,1,1,1,1,,-1,20,20,,,noon,12:00,
all_reduce,4,float32,sum,268435456,two_shot,2,copies,64,512,1,false,false,false,1102,1,1,1,,0,20,20,,,noon,12:00,
all_reduce,4,float32,sum,134217728,two_shot,1,words,128,512,0,true,false,false,570,1,1,1,,0,20,20,,,noon,12:00,
`
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	f := sweepFlags{fastest: name, specialise: true}
	var err error
	if f.before, err = readFastest(name); err != nil {
		t.Fatal(err)
	}
	for size, want := range map[units.Bytes]string{
		16 * units.MiB:  "[simple_ring words 132 1024 specialised true]",
		128 * units.MiB: "[two_shot words 128 512 specialised false]", // four kernels take long to compile
		256 * units.MiB: "[two_shot copies 64 512 specialised false]",
		32 * units.MiB:  "",
	} {
		ways, err := f.ways(nil, collective.Spec{Kind: collective.AllReduce, Ranks: 4}, collective.BFloat16, size)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, v := range ways {
			got += fmt.Sprintf("[%s %s %d %d specialised %v]", v.algo, v.mechanism(), v.how.Blocks, v.how.Threads, v.how.Specialise)
		}
		if got != want {
			t.Errorf("%v: %s, want %s", size, got, want)
		}
	}
}

// TestMethodsSayThreads: of data that are their own flags a profile says blocks and threads only where cuda.Shape
// would not give them: with as many threads as a block can have.
func TestMethodsSayThreads(t *testing.T) {
	row := func(size units.Bytes, threads int) swept {
		return swept{key: sweptKey{"float32", collective.ReduceScatter, 2, size}, us: 1, v: variant{algo: "direct", slices: 1, how: cuda.Method{Mechanism: block.Words, Blocks: 132, Threads: threads}}}
	}
	got := fastestMethods([]swept{row(16*units.MiB, 512), row(32*units.MiB, cuda.MaxThreads), row(64*units.MiB, cuda.MaxThreads)})
	want := []cost.Method{
		{Collective: "reduce_scatter", GPUs: 2, UpTo: 23726566, Algorithm: "direct", Slices: 1, Mechanism: "words"},
		{Collective: "reduce_scatter", GPUs: 2, Algorithm: "direct", Slices: 1, Mechanism: "words", Blocks: 132, Threads: 1024},
	}
	if !slices.Equal(got, want) {
		t.Errorf("%+v", got)
	}
}

// TestDealt: sizes are fitted on their neighbours, also where only every other power of two was measured.
func TestDealt(t *testing.T) {
	var cases []*compared
	for _, size := range []units.Bytes{16 << 10, 1 << 10, 4 << 10, 1 << 10} {
		cases = append(cases, &compared{key: sweptKey{size: size}})
	}
	if half := dealt(cases); len(half) != 3 || half[1<<10] != 0 || half[4<<10] != 1 || half[16<<10] != 0 {
		t.Errorf("%v", half)
	}
}

func TestParseVariant(t *testing.T) {
	v, err := parseVariant("two_shot/push/2/64/512+int")
	if err != nil || v.algo != "two_shot" || v.slices != 2 || v.how.Blocks != 64 || v.how.Threads != 512 || v.how.Specialise || v.mechanism() != "push" {
		t.Errorf("%+v, %v", v, err)
	}
	for _, text := range []string{"two_shot/push/2/64", "two_shot/smoke/1/1/32", "two_shot/push/0/1/32", "two_shot/push/1/x/32"} {
		if _, err := parseVariant(text); err == nil {
			t.Errorf("%s is accepted", text)
		}
	}
}
