package main

import (
	"encoding/csv"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"railyard/model/collective"
	"railyard/model/units"
	"railyard/study/tuning"
)

// TestSymmetricMemory runs exec/peers' script on a PyTorch whose ranks are threads
// (exec/peers/testdata): what ranks put together is right or counted as wrong, what fails is a
// row that says why, and cuda-tables reads it all.
func TestSymmetricMemory(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3")
	}
	peers := filepath.Join("..", "..", "exec", "peers")
	cmd := exec.Command(python, "-B", filepath.Join(peers, "symmetric_memory.py"), "-g", "2,3", "-d", "float32,bfloat16", "-b", "1024",
		"-e", "2048", "--run", "noon")
	cmd.Env = append(os.Environ(), "PYTHONPATH="+filepath.Join(peers, "testdata"))
	var complaints strings.Builder
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, complaints.String())
	}
	rows, err := csv.NewReader(strings.NewReader(string(out))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if n := len(rows); n != 1+2*2*2*4 {
		t.Errorf("%d rows", n)
	}
	var got []string
	for _, r := range rows[1:] {
		cell := func(name string) string { return r[slices.Index(rows[0], name)] }
		if cell("run") != "noon" || !strings.HasSuffix(cell("at"), "Z") {
			t.Errorf("a row of another run: %v", r)
		}
		if cell("dtype") == "float32" {
			got = append(got, strings.Join([]string{cell("collective"), cell("gpus"), cell("algo"), cell("size_bytes"), cell("time_us"),
				cell("busbw_GBps"), cell("wrong"), cell("error")}, " "))
		}
	}
	want := []string{ // the slowest rank's time
		"all_reduce 2 one_shot 1024 20.000 0.051 0 ",
		"all_reduce 2 two_shot 1024 20.000 0.051 1 ",
		"reduce_scatter 2 two_shot 1024 20.000 0.026 0 ",
		"all_gather 2 multimem 1024    multimem_all_gather_out needs NVLink multicast, which is off",
		"all_reduce 2 one_shot 2048 20.000 0.102 0 ",
		"all_reduce 2 two_shot 2048    no 512",
		"reduce_scatter 2 two_shot 2048 20.000 0.051 0 ",
		"all_gather 2 multimem 2048    multimem_all_gather_out needs NVLink multicast, which is off",
		"all_reduce 3 one_shot 1008 30.000 0.045 0 ",
		"all_reduce 3 two_shot 1008 30.000 0.045 0 ",
		"reduce_scatter 3 two_shot 1008    reduce_scatter_out is compiled for 2, 4 and 8 GPUs, not 3",
	}
	if len(got) != 16 || !slices.Equal(got[:len(want)], want) {
		t.Errorf("rows\n%s", strings.Join(got, "\n"))
	}

	file := filepath.Join(t.TempDir(), "peers.csv")
	if err := os.WriteFile(file, out, 0o644); err != nil {
		t.Fatal(err)
	}
	c := &compared{key: tuning.Key{DType: "float32", Kind: collective.AllReduce, GPUs: 3, Size: units.KiB}}
	left := peersLeft{}
	if err := readPeers(file, []*compared{c}, left); err != nil {
		t.Fatal(err)
	}
	if c.peer != (peerTime{30, "symmetric_memory one_shot", "noon"}) {
		t.Errorf("a peer of %+v", c.peer)
	}
	wantLeft := peersLeft{
		"symmetric_memory all_reduce on 2 GPUs: wrong elements":                                                1,
		"symmetric_memory all_reduce on 2 GPUs: no 512":                                                        2,
		"symmetric_memory all_gather on 2 GPUs: multimem_all_gather_out needs NVLink multicast, which is off":  4,
		"symmetric_memory all_gather on 3 GPUs: multimem_all_gather_out needs NVLink multicast, which is off":  4,
		"symmetric_memory reduce_scatter on 3 GPUs: reduce_scatter_out is compiled for 2, 4 and 8 GPUs, not 3": 4,
	}
	if !maps.Equal(left, wantLeft) {
		t.Errorf("left out: %v", left)
	}
}
