//go:build cgo

package gpus

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"railyard/exec/cuda/driver"
	_ "railyard/internal/long" // accepts -long
)

// TestMain runs the tests on four GPUs that compute nothing (exec/cuda/driver/testdata/gpus):
// the loader looks for libraries where the environment said when the program began.
func TestMain(m *testing.M) {
	if os.Getenv("RAILYARD_FAKE_GPUS") != "" {
		os.Exit(m.Run())
	}
	code, err := onFakeGPUs()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func onFakeGPUs() (int, error) {
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		fmt.Println("no gcc: nothing is tested")
		return 0, nil
	}
	dir, err := os.MkdirTemp("", "gpus")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(dir)
	source := filepath.Join("..", "driver", "testdata", "gpus")
	build := exec.Command(gcc, "-shared", "-fPIC", "-O1", "-w", "-o", filepath.Join(dir, "libcuda.so.1"), filepath.Join(source, "all.c"),
		filepath.Join(source, "fake.c"))
	if out, err := build.CombinedOutput(); err != nil {
		return 1, fmt.Errorf("%w\n%s", err, out)
	}
	again := exec.Command(os.Args[0], os.Args[1:]...)
	again.Env = append(os.Environ(), "LD_LIBRARY_PATH="+dir, "RAILYARD_FAKE_GPUS=1")
	again.Stdout, again.Stderr = os.Stdout, os.Stderr
	err = again.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode(), nil
	}
	return 0, err
}

func opened(t *testing.T, o Options) *Set {
	t.Helper()
	s, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestRanksOnGPUs: one on each, the first ones, or several on each, neighbours apart.
func TestRanksOnGPUs(t *testing.T) {
	for _, c := range []struct {
		o       Options
		devices int
		on      []driver.Device
	}{
		{Options{}, 4, []driver.Device{0, 1, 2, 3}}, {Options{Ranks: 2}, 2, []driver.Device{0, 1}},
		{Options{Ranks: 1, Share: 1}, 1, []driver.Device{0}},
		{Options{Ranks: 3, Share: 2}, 2, []driver.Device{0, 1, 0}},
		{Options{Ranks: 8, Share: 4}, 2, []driver.Device{0, 1, 0, 1, 0, 1, 0, 1}},
		{Options{Ranks: 2, Share: 3}, 1, []driver.Device{0, 0}},
	} {
		s := opened(t, c.o)
		var on []driver.Device
		for r, g := range s.GPUs {
			if on = append(on, g.Device); g.Rank != r || !g.Overlap || g.Multiprocessors != 132 || g.Arch != "sm_90" {
				t.Errorf("%+v: rank %d is %+v", c.o, r, g)
			}
		}
		if len(s.Devices) != c.devices || !slices.Equal(on, c.on) {
			t.Errorf("%+v: %d GPUs, ranks on %v; want %d, %v", c.o, len(s.Devices), on, c.devices, c.on)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := Open(Options{Ranks: 5}); err == nil || !strings.Contains(err.Error(), "5 GPUs asked for, the driver shows 4") {
		t.Error(err)
	}
}

// TestErrorsNameTheGPU: of all that fail.
func TestErrorsNameTheGPU(t *testing.T) {
	s := opened(t, Options{})
	defer s.Close()
	err := Each(s.GPUs, func(g *GPU) error {
		if g.Rank%2 == 1 {
			return errors.New("odd")
		}
		return nil
	})
	if err == nil || err.Error() != "GPU 1: odd\nGPU 3: odd" {
		t.Error(err)
	}
}

// TestReserve: memory that is large enough stays where it is.
func TestReserve(t *testing.T) {
	s := opened(t, Options{Ranks: 2})
	defer s.Close()
	var m *driver.Mapping
	size := func(bytes int64) driver.Ptr {
		if err := s.GPUs[1].Do(func() error { return s.GPUs[1].Reserve(&m, bytes) }); err != nil || m.Size < bytes {
			t.Fatalf("%d bytes: %+v, %v", bytes, m, err)
		}
		return m.At
	}
	first := size(3 << 20)
	if size(1<<20) != first || size(4<<20) != first || size(5<<20) == first {
		t.Errorf("memory moved from %#x to %#x", first, m.At)
	}
}

// TestWait: when the context ends, what runs is aborted once, and waited for; where that fails
// nobody waits any longer.
func TestWait(t *testing.T) {
	s := opened(t, Options{})
	defer s.Close()
	ended, end := context.WithCancel(t.Context())
	end()
	if err := s.Wait(ended, func() error { return errors.New("nothing runs") }); err != nil {
		t.Errorf("streams that are done: %v", err)
	}
	t.Setenv("RAILYARD_FAKE_BUSY", "1")
	aborted := 0
	err := s.Wait(ended, func() error {
		s.Abort()
		aborted++
		time.AfterFunc(time.Millisecond, func() { os.Unsetenv("RAILYARD_FAKE_BUSY") })
		return nil
	})
	if err != nil || aborted != 1 || !s.Aborted() {
		t.Errorf("%v, aborted %d times", err, aborted)
	}
	if s.Resume(); s.Aborted() {
		t.Error("still aborted")
	}
	t.Setenv("RAILYARD_FAKE_BUSY", "1")
	want := errors.New("cannot abort")
	if err := s.Wait(ended, func() error { return want }); !errors.Is(err, want) {
		t.Error(err)
	}
}

// TestSlowest: of each round, whichever GPU that is.
func TestSlowest(t *testing.T) {
	if got := Slowest([][]time.Duration{{1, 5, 2}, {3, 4, 2}}); !slices.Equal(got, []time.Duration{3, 5, 2}) {
		t.Error(got)
	}
}
