package main

import (
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"railyard/internal/long"
)

// railyardIn is a command of railyard's in a directory.
func railyardIn(dir, args string) *exec.Cmd {
	cmd := exec.Command("railyard", strings.Fields(args)...)
	cmd.Dir = dir
	return cmd
}

// TestKilledShardsMergeToTheSame: whatever is killed at whatever moment, the watcher with the shards or without, and whatever
// journal is lost or cut, the merged file has the bytes of a sweep that nobody has divided.
func TestKilledShardsMergeToTheSame(t *testing.T) {
	const question = "--vary nodes=4,8,16 --vary months=12..23 --set node.nics=4,8 -- capacity size -t superpod-h100"
	dir := t.TempDir()
	if out, err := railyardIn(dir, "capacity sweep -o whole.jsonl "+question).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	random := rand.New(rand.NewPCG(1, 2))
	killed := 0
	for range long.Or(1, 5) {
		const command = "capacity sweep --engine local -n 5 --dir job -o merged.jsonl --force " + question
		for tries := 0; ; tries++ {
			cmd := railyardIn(dir, command)
			cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
			var said bytes.Buffer
			cmd.Stdout, cmd.Stderr = &said, &said
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			if tries < 8 {
				signal := []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM}[random.IntN(2)]
				timer := time.AfterFunc(time.Duration(random.IntN(1500))*time.Millisecond, func() {
					_ = syscall.Kill(cmd.Process.Pid*(1-2*random.IntN(2)), signal) // the watcher, or all
				})
				defer timer.Stop()
			}
			err := cmd.Wait()
			if err == nil {
				break
			}
			killed++
			if tries > 40 {
				t.Fatalf("%v\n%s", err, said.String())
			}
			harm(t, random, filepath.Join(dir, "job"))
		}
		sameFile(t, filepath.Join(dir, "whole.jsonl"), filepath.Join(dir, "merged.jsonl"))
		if err := os.RemoveAll(filepath.Join(dir, "job")); err != nil {
			t.Fatal(err)
		}
	}
	if killed == 0 {
		t.Error("nothing was killed: the sweep is too short for this test")
	}
}

// harm takes a journal away, or cuts one.
func harm(t *testing.T, random *rand.Rand, dir string) {
	t.Helper()
	journals, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil || len(journals) == 0 {
		return
	}
	path := journals[random.IntN(len(journals))]
	info, err := os.Stat(path)
	if err == nil && random.IntN(2) == 0 {
		err = os.Truncate(path, random.Int64N(info.Size()+1))
	} else if err == nil {
		err = os.Remove(path)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func sameFile(t *testing.T, a, b string) {
	t.Helper()
	if read(t, a) != read(t, b) {
		t.Errorf("%s and %s differ", a, b)
	}
}
