package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"railyard/internal/long"
	"railyard/report"
)

// launched is processes of one run, as a launcher starts them.
type launched struct {
	t   *testing.T
	dir string // the result
	all []*exec.Cmd
	out []*bytes.Buffer // what each says, results and errors
}

// launch starts so many processes of a run, each a rank.
func launch(t *testing.T, size int, args string) *launched {
	t.Helper()
	return launchTo(t, size, "run "+args, filepath.Join(t.TempDir(), "result"))
}

// launchTo starts so many processes of a command that writes to a file or folder.
func launchTo(t *testing.T, size int, command, to string) *launched {
	t.Helper()
	return launchOf(t, size, command, to, func(args ...string) *exec.Cmd {
		cmd := exec.Command("railyard", args...)
		cmd.Env = os.Environ()
		return cmd
	})
}

// launchOf does so with a program, given its arguments.
func launchOf(t *testing.T, size int, command, to string, railyard func(args ...string) *exec.Cmd) *launched {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	root := listener.Addr().String()
	listener.Close()
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte(strings.Repeat("5a", 32)), 0o600); err != nil {
		t.Fatal(err)
	}
	r := &launched{t: t, dir: to}
	for rank := range size {
		cmd, out := railyard(append(strings.Fields(command), "-o", r.dir)...), new(bytes.Buffer)
		cmd.Env = append(cmd.Env, "RAILYARD_RANK="+strconv.Itoa(rank), "RAILYARD_SIZE="+strconv.Itoa(size), "RAILYARD_ROOT="+root,
			"RAILYARD_SECRET_FILE="+secret)
		cmd.Stdout, cmd.Stderr = out, out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = cmd.Process.Kill() })
		r.all, r.out = append(r.all, cmd), append(r.out, out)
	}
	return r
}

// ended waits for a process: its exit code, -1 where a signal has ended it.
func (r *launched) ended(rank int) int {
	r.t.Helper()
	err := r.all[rank].Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		r.t.Fatal(err)
	}
	return r.all[rank].ProcessState.ExitCode()
}

// TestRunInProcesses: four processes run one plan; rank 0 prints and keeps what all have measured, the others say nothing.
func TestRunInProcesses(t *testing.T) {
	for i, c := range []struct {
		args  string
		sizes int
	}{
		{"-c all_reduce -b 1K -e 4M -f 16 -n 3 -w 1 --sockets 3", 4},
		{"-c all_gather -b 999 -e 300K -f 7 -n 2 -w 0 -d float16", 3},
		{"-c reduce_scatter -b 1001 -e 100K -f 9 -n 2 -w 0 -d int32 --in-place", 3},
		{"-c all_to_all -s 77777 -n 2 -w 0", 1},
		{"-c broadcast --root 2 -s 12347 -n 2 -w 0 -d float64", 1},
		{"-c all_reduce -b 1002 -e 50K -f 7 -n 2 -w 0 --gpus 2 -d bfloat16 --op avg", 3}, // two ranks in each process
	} {
		if !long.Every(5, i) { // one rank a process, and two
			continue
		}
		args := "--backend host -t leaf-spine-roce --nodes 4 " + c.args
		if !strings.Contains(args, "--gpus") {
			args += " --gpus 1"
		}
		r := launch(t, 4, args)
		for rank := range r.all {
			if code := r.ended(rank); code != 0 || rank > 0 && r.out[rank].Len() > 0 {
				t.Fatalf("%s: rank %d: exit code %d, %s", c.args, rank, code, r.out[rank])
			}
		}
		for _, want := range []string{"# predicted: ", "backend host in 4 processes", "# Out of bounds values : 0 OK",
			"# Slowest rank         : rank "} {
			if !strings.Contains(r.out[0].String(), want) {
				t.Errorf("%s: no %q in\n%s", c.args, want, r.out[0])
			}
		}
		r.keptAll(c.sizes)
	}
}

// TestProbeInProcesses: the network between processes is measured, and a run is predicted by what came out.
func TestProbeInProcesses(t *testing.T) {
	const topology = "-t leaf-spine-roce --nodes 3 --gpus 1"
	file := filepath.Join(t.TempDir(), "network.yaml")
	r := launchTo(t, 3, "probe -e 1M --sockets 2 "+topology, file)
	for rank := range r.all {
		if code := r.ended(rank); code != 0 || rank > 0 && r.out[rank].Len() > 0 {
			t.Fatalf("rank %d: exit code %d, %s", rank, code, r.out[rank])
		}
	}
	for _, want := range []string{"network: MAPE ", "all at once, to the rank 2 on: "} {
		if !strings.Contains(r.out[0].String(), want) {
			t.Errorf("no %q in\n%s", want, r.out[0])
		}
	}
	if text := read(t, strings.TrimSuffix(file, "yaml")+"csv"); strings.Count(text, "net_pair,0,2,,1048576,") != 5 {
		t.Errorf("rows: %s", text)
	}
	again := filepath.Join(t.TempDir(), "network.yaml")
	out, err := exec.Command("railyard", "probe", "--from", strings.TrimSuffix(file, "yaml")+"csv", "-t", "leaf-spine-roce", "--nodes", "3",
		"--gpus", "1", "-o", again, "--about", "source=kept rows,date="+time.Now().UTC().Format(time.DateOnly)).CombinedOutput()
	if err != nil || string(out) != r.out[0].String() {
		t.Errorf("probe --from: %v, %s, want %s", err, out, r.out[0])
	}
	source := regexp.MustCompile("(?m)^.*source: .*$")
	if was, is := source.ReplaceAllString(read(t, file), ""), source.ReplaceAllString(read(t, again), ""); was != is {
		t.Errorf("rows that were kept make another profile:\n%s\nwant\n%s", is, was)
	}
	r = launch(t, 3, "--backend host -c all_gather -s 1M -n 2 --profile "+file+" "+topology)
	if code := r.ended(0); code != 0 || !strings.Contains(r.out[0].String(), "predicted with profile network") {
		t.Errorf("exit code %d, %s", code, r.out[0])
	}
	r = launchTo(t, 2, "probe -e 1M "+topology, filepath.Join(t.TempDir(), "network.yaml"))
	if code := r.ended(1); code != 1 || !strings.Contains(r.out[1].String(), "has 3 ranks, which cannot be divided equally among 2 processes") {
		t.Errorf("exit code %d, %s", code, r.out[1])
	}
}

// keptAll checks the result directory: a row for each size, the times of each rank for each.
func (r *launched) keptAll(sizes int) {
	r.t.Helper()
	var d report.RunDocument
	if err := json.Unmarshal([]byte(read(r.t, filepath.Join(r.dir, "run.json"))), &d); err != nil {
		r.t.Fatal(err)
	}
	if d.Processes != 4 || len(d.Rows) != sizes {
		r.t.Fatalf("%d processes, %d rows", d.Processes, len(d.Rows))
	}
	lines := strings.Split(strings.TrimSpace(read(r.t, filepath.Join(r.dir, "ranks.jsonl"))), "\n")
	ranks := len(lines) / sizes
	for i, line := range lines {
		var x report.RankTimes
		if err := json.Unmarshal([]byte(line), &x); err != nil || x.Rank != i%ranks || x.Node == "" ||
			x.SizeBytes != d.Rows[i/ranks].SizeBytes || len(x.TimesUS) < 2 {
			r.t.Errorf("line %d: %s, %v", i, line, err)
		}
	}
}

// TestLostProcess: a process that dies in the middle of a run ends it on all others, in one line, and nothing that was
// measured is lost.
func TestLostProcess(t *testing.T) {
	for _, lost := range []int{0, 2} {
		r := launch(t, 4, "--backend host -t leaf-spine-roce --nodes 4 --gpus 1 -c all_reduce -b 1K -e 1G -n 200")
		rows := filepath.Join(r.dir, "rows.jsonl")
		for text := ""; !strings.Contains(text, `"size_bytes":1024`); time.Sleep(20 * time.Millisecond) {
			data, _ := os.ReadFile(rows) // not there yet
			text = string(data)
		}
		if err := r.all[lost].Process.Signal(syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		for rank := range r.all {
			code := r.ended(rank)
			if rank == lost {
				continue
			}
			said := r.out[rank].String()
			if code != 1 || !strings.Contains(said, fmt.Sprintf("lost rank %d on ", lost)) || rank > 0 && strings.Count(said, "\n") != 1 {
				t.Errorf("rank %d lost; rank %d: exit code %d, %s", lost, rank, code, said)
			}
			if rank == 0 && !strings.Contains(said, "(what was measured before is in "+r.dir+"; go on from -b ") {
				t.Errorf("rank 0 does not say where what was measured is: %s", said)
			}
		}
	}
}

// TestDisagreeingProcesses: another plan, and a number of processes that does not fit, are said before anything runs.
func TestDisagreeingProcesses(t *testing.T) {
	r := launch(t, 3, "--backend host -t leaf-spine-roce --nodes 4 --gpus 1 -s 1K")
	for rank := range r.all {
		if code := r.ended(rank); code != 1 || !strings.Contains(r.out[rank].String(),
			"has 4 ranks, which cannot be divided equally among 3 processes") {
			t.Errorf("rank %d: exit code %d, %s", rank, code, r.out[rank])
		}
	}
	const args = "-t host -s 1K"
	r = launch(t, 2, args)
	for rank := range r.all {
		if code := r.ended(rank); code != 2 || !strings.Contains(r.out[rank].String(), "-t host is one machine") {
			t.Errorf("%s: rank %d: exit code %d, %s", args, rank, code, r.out[rank])
		}
	}
}

// TestDeclinedProcess: what one process fails at before it meets the others ends them with its reason, and what they were told
// differently is named.
func TestDeclinedProcess(t *testing.T) {
	const run = "run --backend host -t leaf-spine-roce --nodes 3 --gpus 1 -s 1K"
	for flag, want := range map[string]string{
		"--profile not-there.yaml": "rank 1 on ",
		"-c all_gather":            "does not agree with rank 0 on ",
		"-n 3":                     "iterations 3, not 20",
	} {
		started := 0
		r := launchOf(t, 3, run, filepath.Join(t.TempDir(), "result"), func(args ...string) *exec.Cmd {
			if started++; started == 2 { // rank 1
				args = append(args, strings.Fields(flag)...)
			}
			cmd := exec.Command("railyard", args...)
			cmd.Env = os.Environ()
			return cmd
		})
		for rank := range r.all {
			code, said := r.ended(rank), r.out[rank].String()
			if code != 1 || rank != 1 && !strings.Contains(said, want) || strings.Contains(said, "waited") {
				t.Errorf("%s: rank %d: exit code %d, %s", flag, rank, code, said)
			}
		}
	}
}
