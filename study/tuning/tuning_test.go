package tuning

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"railyard/exec/cuda"
	_ "railyard/internal/long"
	"railyard/model/block"
	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/report/table"
	"railyard/topologies"
)

// TestChosenWay: with --chosen a size is run in the way that the topology's profile names,
// and on GPUs it does not know not at all.
func TestChosenWay(t *testing.T) {
	topo, err := topology.Load(topologies.Source, "hgx-h200-4", topology.Options{GPUs: 3})
	if err != nil {
		t.Fatal(err)
	}
	f := Sweep{Chosen: true, NCCL: true, Specialise: true, multiprocessors: 132, gpu: "NVIDIA H200"}
	spec := collective.Spec{Kind: collective.AllReduce, Ranks: 3}
	for _, c := range []struct {
		size  units.Bytes
		dtype collective.DType
		want  string
	}{{1 << 10, collective.Float32, "direct, packets"}, {1 << 20, collective.BFloat16, "two_shot, words"},
		{1 << 20, collective.Int32, "two_shot, lines"}, {1 << 30, collective.Float32, "two_shot, copies, 2 slices"}} {
		ways, err := f.timedVariants(topo, spec, c.dtype, c.size)
		if err != nil {
			t.Fatal(err)
		}
		if v := ways[0]; v.String() != c.want || v.How.Blocks < 1 || v.How.Threads < 32 ||
			v.How.Specialise == (v.How.Mechanism == block.Copies) {
			t.Errorf("%v of %v: %v (%+v), want %s", c.size, c.dtype, v, v.How, c.want)
		}
		if n := len(ways); n != 2 && n != 3 || ways[1].Algorithm != NCCL {
			t.Errorf("%v: %d ways", c.size, n)
		}
	}
	f.gpu = "Some GPU"
	if _, err := f.timedVariants(topo, spec, collective.Float32, 1<<10); err == nil {
		t.Error("a way is chosen for GPUs that nothing is known of")
	}
}

// TestFastestWay: with --fastest a case is run in the one way of ours that was fastest in the file, of whatever
// type; wrong rows and the library's do not count, and cases that are not there have none.
func TestFastestWay(t *testing.T) {
	name := filepath.Join(t.TempDir(), "before.csv")
	text := strings.Join(table.Keys(sweepRow{}), ",") + `
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
	f := Sweep{Specialise: true}
	var err error
	if f.Before, err = ReadFastest(name); err != nil {
		t.Fatal(err)
	}
	for size, want := range map[units.Bytes]string{
		16 * units.MiB:  "[simple_ring words 132 1024 specialised true]",
		128 * units.MiB: "[two_shot words 128 512 specialised false]", // four kernels take long to compile
		256 * units.MiB: "[two_shot copies 64 512 specialised false]",
		32 * units.MiB:  "",
	} {
		ways, err := f.timedVariants(nil, collective.Spec{Kind: collective.AllReduce, Ranks: 4}, collective.BFloat16, size)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, v := range ways {
			got += fmt.Sprintf("[%s %s %d %d specialised %v]", v.Algorithm, v.Mechanism(), v.How.Blocks, v.How.Threads, v.How.Specialise)
		}
		if got != want {
			t.Errorf("%v: %s, want %s", size, got, want)
		}
	}
}

// TestMethodsSayThreads: of data that are their own flags a profile says blocks and threads only where Mechanism.Shape
// would not give them: with as many threads as a block can have.
func TestMethodsSayThreads(t *testing.T) {
	row := func(size units.Bytes, threads int) Row {
		return Row{Key: Key{"float32", collective.ReduceScatter, 2, size}, US: 1, Variant: Variant{Algorithm: "direct", Slices: 1,
			How: cuda.Method{Mechanism: block.Words, Blocks: 132, Threads: threads}}}
	}
	got := FastestMethods([]Row{row(16*units.MiB, 512), row(32*units.MiB, cuda.MaxThreads), row(64*units.MiB, cuda.MaxThreads)})
	want := []cost.Method{
		{Collective: "reduce_scatter", GPUs: 2, UpTo: 23726566, Algorithm: "direct", Slices: 1, Mechanism: "words"},
		{Collective: "reduce_scatter", GPUs: 2, Algorithm: "direct", Slices: 1, Mechanism: "words", Blocks: 132, Threads: 1024},
	}
	if !slices.Equal(got, want) {
		t.Errorf("%+v", got)
	}
}

func TestParseWay(t *testing.T) {
	v, err := ParseVariant("two_shot/push/2/64/512+int")
	if err != nil || v.Algorithm != "two_shot" || v.Slices != 2 || v.How.Blocks != 64 || v.How.Threads != 512 || v.How.Specialise ||
		v.Mechanism() != "push" {
		t.Errorf("%+v, %v", v, err)
	}
	for _, text := range []string{"two_shot/push/2/64", "two_shot/smoke/1/1/32", "two_shot/push/0/1/32", "two_shot/push/1/x/32"} {
		if _, err := ParseVariant(text); err == nil {
			t.Errorf("%s is accepted", text)
		}
	}
}
