//go:build cgo

package main

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"railyard/cmd/internal/clitest"
	"railyard/study/tuning"
)

// TestSweepOnFakeGPUs: rows of ours and of NCCL have times in graphs, where a kernel takes 2 µs and a
// collective of NCCL 10, and launched one by one, where a launch takes 3 more.
func TestSweepOnFakeGPUs(t *testing.T) {
	lab := clitest.FakeGPUs(t, "lab")
	file := filepath.Join(t.TempDir(), "stream.csv")
	clitest.Succeeds(t, lab("cuda-sweep", "--gpus", "4,2", "--stream", "--nccl", "--chosen", "--specialise", "--checks", "0", "-f", "4",
		"-e", "64K", "--run", "noon", "-o", file))
	rows, err := tuning.ReadRows(file)
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 2*4*3 {
		t.Fatalf("%d rows", len(rows))
	}
	for _, r := range rows {
		want := [2]float64{2, 5}
		if r.Variant.Algorithm == tuning.NCCL {
			want = [2]float64{10, 13}
		}
		if math.Abs(r.US-want[0]) > 0.05 || math.Abs(r.StreamUS-want[1]) > 0.05 || r.Run != "noon" {
			t.Errorf("%v on %d GPUs, %v: %g µs, launched one by one %g, want %v; run %q", r.Key.Size, r.Key.GPUs, r.Variant, r.US, r.StreamUS,
				want, r.Run)
		}
	}
	cases := compareFastest(rows)
	var out strings.Builder
	writeTables(&out, cases)
	if want := "all_reduce, float32, launched one by one on streams, µs, ours / NCCL / NCCL, windows:\n\n| size | 4 GPUs | 2 GPUs |\n| " +
		"--- | --- | --- |\n| 1 KiB | 5.00 / 13.0 / 13.0 | 5.00 / 13.0 / 13.0 |\n"; !strings.Contains(out.String(), want) {
		t.Errorf("no table of launches:\n%s", out.String())
	}
}

// TestInterruptedSweep: Ctrl-C leaves what was measured, and says how much that is.
func TestInterruptedSweep(t *testing.T) {
	cmd := clitest.FakeGPUs(t, "lab")("cuda-sweep", "--gpus", "2", "-c", "all_reduce,all_gather,all_to_all", "--nccl", "--chosen",
		"--checks", "0", "--replays", "2000", "-e", "1M")
	rows, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var complaints strings.Builder
	cmd.Stderr = &complaints
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := 0
	for in := bufio.NewScanner(rows); in.Scan(); lines++ {
		if lines == 2 { // the header and two cases
			if err := cmd.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := cmd.Wait(); err == nil || cmd.ProcessState.ExitCode() != 1 {
		t.Errorf("%v", err)
	}
	if want := fmt.Sprintf("interrupted: %d of 99 cases on 2 GPUs are measured and written", lines-1); lines >= 100 ||
		!strings.Contains(complaints.String(), want) {
		t.Errorf("%d lines: want %q\n%s", lines, want, complaints.String())
	}
}
