// Package clitest is what tests of the commands share.
package clitest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// fakes are the libraries that stand for GPUs, made once for all tests of a program; Main takes the folder away.
var fakes struct {
	once sync.Once
	dir  string
	err  error
}

// makeFakes compiles them (exec/cuda/driver/testdata/gpus).
func makeFakes(gcc string) (err error) {
	if fakes.dir, err = os.MkdirTemp("", "railyard-gpus"); err != nil {
		return err
	}
	code, library := filepath.Join("..", "..", "exec", "cuda", "driver", "testdata", "gpus"), filepath.Join(fakes.dir, "libcuda.so.1")
	if out, err := exec.Command(gcc, "-shared", "-fPIC", "-O1", "-w", "-o", library, filepath.Join(code, "all.c"),
		filepath.Join(code, "fake.c")).CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return errors.Join(os.Symlink(library, filepath.Join(fakes.dir, "libnvrtc.so")),
		os.Symlink(library, filepath.Join(fakes.dir, "libnccl.so.2")))
}

// FakeGPUs returns a program with four GPUs that compute nothing: all that the host does, without a GPU.
func FakeGPUs(t *testing.T, program string) func(args ...string) *exec.Cmd {
	t.Helper()
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("no gcc")
	}
	if fakes.once.Do(func() { fakes.err = makeFakes(gcc) }); fakes.err != nil {
		t.Fatal(fakes.err)
	}
	cache := t.TempDir()
	return func(args ...string) *exec.Cmd {
		cmd := exec.Command(program, args...) // in PATH, as Main has built it
		cmd.Env = append(os.Environ(), "LD_LIBRARY_PATH="+fakes.dir, "XDG_CACHE_HOME="+cache)
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
