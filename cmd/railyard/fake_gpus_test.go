//go:build cgo

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"railyard/model/measurement"
	"railyard/report"
)

// fakeGPUs makes libraries of four GPUs that compute nothing (exec/cuda/driver/testdata/gpus) and
// returns railyard with them: all that the host does, without a GPU.
func fakeGPUs(t *testing.T) func(args ...string) *exec.Cmd {
	t.Helper()
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("no gcc")
	}
	dir, code := t.TempDir(), filepath.Join("..", "..", "exec", "cuda", "driver", "testdata", "gpus")
	library := filepath.Join(dir, "libcuda.so.1")
	if out, err := exec.Command(gcc, "-shared", "-fPIC", "-O1", "-w", "-o", library, filepath.Join(code, "all.c"), filepath.Join(code, "fake.c")).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, name := range []string{"libnvrtc.so", "libnccl.so.2"} {
		if err := os.Symlink(library, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return func(args ...string) *exec.Cmd {
		cmd := exec.Command("railyard", args...) // testscript's, which is this test binary
		cmd.Env = append(os.Environ(), "LD_LIBRARY_PATH="+dir, "XDG_CACHE_HOME="+dir)
		return cmd
	}
}

// succeeds runs a command.
func succeeds(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(cmd.Args, " "), err, out)
	}
}

// TestSweepOnFakeGPUs: rows of ours and of NCCL have times in graphs, where a kernel takes 2 µs and a
// collective of NCCL 10, and launched one by one, where a launch takes 3 more.
func TestSweepOnFakeGPUs(t *testing.T) {
	railyard := fakeGPUs(t)
	file := filepath.Join(t.TempDir(), "stream.csv")
	succeeds(t, railyard("cuda-sweep", "--gpus", "4,2", "--stream", "--nccl", "--chosen", "--specialise", "--checks", "0", "-f", "4", "-e", "64K", "--run", "noon", "-o", file))
	rows, err := readSwept(file)
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 2*4*3 {
		t.Fatalf("%d rows", len(rows))
	}
	for _, r := range rows {
		want := [2]float64{2, 5}
		if r.v.algo == ncclAlgo {
			want = [2]float64{10, 13}
		}
		if math.Abs(r.us-want[0]) > 0.05 || math.Abs(r.stream-want[1]) > 0.05 || r.run != "noon" {
			t.Errorf("%v on %d GPUs, %v: %g µs, launched one by one %g, want %v; run %q", r.key.size, r.key.gpus, r.v, r.us, r.stream, want, r.run)
		}
	}
	cases := besides(rows)
	var out strings.Builder
	writeTables(&out, cases)
	if want := "all_reduce, float32, launched one by one on streams, µs, ours / NCCL / NCCL, windows:\n\n| size | 4 GPUs | 2 GPUs |\n| --- | --- | --- |\n| 1 KiB | 5.00 / 13.0 / 13.0 | 5.00 / 13.0 / 13.0 |\n"; !strings.Contains(out.String(), want) {
		t.Errorf("no table of launches:\n%s", out.String())
	}
}

// TestInterruptedSweep: Ctrl-C leaves what was measured, and says how much that is.
func TestInterruptedSweep(t *testing.T) {
	cmd := fakeGPUs(t)("cuda-sweep", "--gpus", "2", "-c", "all_reduce,all_gather,all_to_all", "--nccl", "--chosen", "--checks", "0", "--replays", "2000", "-e", "1M")
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
	if want := fmt.Sprintf("interrupted: %d of 99 cases on 2 GPUs are measured and written", lines-1); lines >= 100 || !strings.Contains(complaints.String(), want) {
		t.Errorf("%d lines: want %q\n%s", lines, want, complaints.String())
	}
}

// TestProbeOnFakeGPUs: all kinds of rows are there, those of messages one way in all sizes and to all
// numbers of GPUs; the fit takes them.
func TestProbeOnFakeGPUs(t *testing.T) {
	railyard := fakeGPUs(t)
	file := filepath.Join(t.TempDir(), "links.csv")
	succeeds(t, railyard("probe", "-t", "hgx-h200-4", "-o", strings.TrimSuffix(file, "csv")+"yaml"))
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	links, err := measurement.ReadLinks(bytes.NewReader(text), file)
	if err != nil {
		t.Fatal(err)
	}
	sizes := map[string][]string{}
	for _, l := range links {
		if b := l.Bytes.String(); !slices.Contains(sizes[l.Kind], b) {
			sizes[l.Kind] = append(sizes[l.Kind], b)
		}
	}
	for kind, want := range map[string]int{"ll_spread_overlap": 17, "relay_t256_overlap": 7, "relay_t128_overlap": 7} {
		if got := len(sizes[kind]); got != want {
			t.Errorf("%s: %d sizes, want %d", kind, got, want)
		}
	}
	for protocol, want := range map[string]int{"ll": 17, "ll128": 15, "simple": 9, "pull": 9} {
		for n := 1; n <= 3; n++ {
			kind := protocol + "_cast" + strconv.Itoa(n) + "_overlap"
			if got := len(sizes[kind]); got != want {
				t.Errorf("%s: %d sizes, want %d", kind, got, want)
			}
		}
	}
	profile, err := os.ReadFile(strings.TrimSuffix(file, "csv") + "yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"protocol: ll_oneway", "protocol: ll128_oneway", "protocol: simple_oneway", "protocol: pull_oneway", "window: "} {
		if !strings.Contains(string(profile), line) {
			t.Errorf("the profile has no %s", line)
		}
	}
}

// TestRunsAreForeseen: what GPUs run is predicted as railyard's own kernels run it, without a profile
// of the user's, whoever chose the schedule.
func TestRunsAreForeseen(t *testing.T) {
	railyard := fakeGPUs(t)
	for _, c := range []struct {
		args        string
		schedule    string
		least, most float64 // µs
	}{
		{"-c all_reduce -s 1K", "direct/ll", 1.6, 2.0}, // 1.7 to 1.8 on two H200
		{"-c all_reduce -s 256M", "two_shot/copy×2", 700, 760},
		{"-c all_reduce -s 1K --algo direct --mechanism pull", "direct/pull", 2.5, 6},
		{"-c all_reduce -s 64M --algo two_shot --mechanism words_push --in-place", "two_shot/words", 185, 200}, // 189
		{"-c reduce -s 64M", "direct/pull", 180, 195},                                                          // 185
		// Nothing says what is fastest: pushed where that is predicted to be, but not in place.
		{"-c send_recv -s 64M", "direct", 185, 195}, // 188
		{"-c send_recv -s 64M --mechanism pull", "direct/pull", 200, 215},
		{"-c all_gather -s 64M --profile h200-execution", "direct", 95, 102}, // 97
		{"-c all_gather -s 64M --profile h200-execution --in-place", "direct/pull", 102, 115},
	} {
		d := foreseen(t, railyard, c.args)
		if got := d.Rows[0]; d.Profile != "h200-execution" || got.Schedule != c.schedule || !(got.PredictedUS >= c.least && got.PredictedUS <= c.most) {
			t.Errorf("%s: %s in %g µs by profile %s", c.args, got.Schedule, got.PredictedUS, d.Profile)
		}
	}
}

// TestMethodsWithoutCurves: a profile may say what is fastest and know nothing of such messages. Then
// the prediction is that of the schedule that runs, as if the user had asked for it.
func TestMethodsWithoutCurves(t *testing.T) {
	railyard := fakeGPUs(t)
	profile := filepath.Join(t.TempDir(), "library.yaml")
	text := strings.Replace(read(t, filepath.Join("..", "..", "model", "cost", "profiles", "h200.yaml")), "execution: h200-execution\n", "", 1)
	if err := os.WriteFile(profile, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	known := foreseen(t, railyard, "-c all_reduce -s 256M --profile "+profile)
	asked := foreseen(t, railyard, "-c all_reduce -s 256M --algo two_shot --slices 2 --mechanism copies --profile "+profile)
	if a, b := known.Rows[0], asked.Rows[0]; a.Schedule != b.Schedule || a.PredictedUS != b.PredictedUS {
		t.Errorf("%s in %g µs, %s in %g µs when asked for", a.Schedule, a.PredictedUS, b.Schedule, b.PredictedUS)
	}
}

// foreseen runs a collective on two fake GPUs, whose results are wrong, since they compute nothing.
func foreseen(t *testing.T, railyard func(...string) *exec.Cmd, args string) (d report.RunDocument) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "result")
	_ = railyard(append([]string{"run", "--backend", "cuda", "-t", "hgx-h200-4", "--gpus", "2", "-o", dir}, strings.Fields(args)...)...).Run()
	if err := json.Unmarshal([]byte(read(t, filepath.Join(dir, "run.json"))), &d); err != nil || len(d.Rows) != 1 {
		t.Fatalf("%s: %d rows, %v", args, len(d.Rows), err)
	}
	return d
}
