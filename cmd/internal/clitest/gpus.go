// Package clitest is what tests of the commands share.
package clitest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// FakeGPUs makes libraries of four GPUs that compute nothing (exec/cuda/driver/testdata/gpus) and
// returns a program with them: all that the host does, without a GPU.
func FakeGPUs(t *testing.T, program string) func(args ...string) *exec.Cmd {
	t.Helper()
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("no gcc")
	}
	dir, code := t.TempDir(), filepath.Join("..", "..", "exec", "cuda", "driver", "testdata", "gpus")
	library := filepath.Join(dir, "libcuda.so.1")
	if out, err := exec.Command(gcc, "-shared", "-fPIC", "-O1", "-w", "-o", library, filepath.Join(code, "all.c"),
		filepath.Join(code, "fake.c")).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, name := range []string{"libnvrtc.so", "libnccl.so.2"} {
		if err := os.Symlink(library, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return func(args ...string) *exec.Cmd {
		cmd := exec.Command(program, args...) // testscript's, which is this test binary
		cmd.Env = append(os.Environ(), "LD_LIBRARY_PATH="+dir, "XDG_CACHE_HOME="+dir)
		return cmd
	}
}

// Succeeds runs a command.
func Succeeds(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(cmd.Args, " "), err, out)
	}
}
