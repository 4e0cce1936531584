package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"railyard/internal/golden"
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
