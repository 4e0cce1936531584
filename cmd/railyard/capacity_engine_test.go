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

// TestKilledShardsMergeToTheSame: whatever is killed after however many rows, the watcher with the shards or without, and whatever
// journal is lost or cut, the merged file has the bytes of a sweep that nobody has divided.
func TestKilledShardsMergeToTheSame(t *testing.T) {
	const question = "--vary nodes=4,8,16 --vary months=12..23 --set node.nics=4,8 -- capacity size -t superpod-h100"
	dir := t.TempDir()
	if out, err := railyardIn(dir, "capacity sweep -o whole.jsonl "+question).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	size := int64(len(read(t, filepath.Join(dir, "whole.jsonl"))))
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
			ended := make(chan struct{})
			if tries < 8 {
				signal := []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM}[random.IntN(2)]
				who := cmd.Process.Pid * (1 - 2*random.IntN(2)) // the watcher, or all
				go killAt(filepath.Join(dir, "job"), int64(tries)*random.Int64N(size)/8, who, signal, ended)
			}
			err := cmd.Wait()
			close(ended)
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
		t.Error("nothing was killed")
	}
}

// killAt sends a signal once the journals of a directory have so many bytes: at once where they need none.
func killAt(dir string, bytes int64, who int, signal syscall.Signal, ended <-chan struct{}) {
	for journaled(dir) < bytes {
		select {
		case <-ended:
			return
		case <-time.After(time.Millisecond):
		}
	}
	select {
	case <-ended:
	default:
		_ = syscall.Kill(who, signal) // it may end just now
	}
}

func journaled(dir string) (bytes int64) {
	journals, _ := filepath.Glob(filepath.Join(dir, "*.jsonl")) // the pattern is well formed
	for _, path := range journals {
		if info, err := os.Stat(path); err == nil { // it may be gone
			bytes += info.Size()
		}
	}
	return bytes
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
