package journal_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"railyard/capacity/journal"
)

// fill adds rows until it fails.
func fill(j *journal.File, from int) (added int, err error) {
	for n := from; n < from+100_000; n++ {
		if err := journal.Add(j, row{n, strings.Repeat("x", 900)}); err != nil {
			return n - from, err
		}
	}
	return 100_000, errors.New("the disk does not fill up")
}

// fullThenMore fills a journal until the disk is full, makes room, and goes on: all rows
// that were added are there, once and whole.
func fullThenMore(path string, room func() error) error {
	j, _, err := open(path)
	if err != nil {
		return err
	}
	added, err := fill(j, 0)
	if !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, syscall.EFBIG) {
		return fmt.Errorf("after %d rows: %w", added, err)
	}
	if err := errors.Join(j.Close(), whole(path, added), room()); err != nil {
		return err
	}
	if j, _, err = open(path); err != nil {
		return err
	}
	if err := journal.Add(j, row{added, "more"}); err != nil {
		return err
	}
	return errors.Join(j.Close(), whole(path, added+1))
}

// whole checks that a journal holds so many rows, and nothing behind them.
func whole(path string, rows int) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if !strings.HasSuffix(string(data), "}\n") {
		return fmt.Errorf("it ends in half a line: %q", data[max(0, len(data)-40):])
	}
	j, lines, err := open(path)
	if err != nil {
		return err
	}
	if rows == 0 || len(lines) != rows {
		return errors.Join(fmt.Errorf("%d rows, want %d", len(lines), rows), j.Close())
	}
	return j.Close()
}

// TestFullDisk fills a small file system.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"); err != nil {
		t.Skipf("no small file system can be mounted: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	room := func() error { return syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT, "size=1m") }
	if err := fullThenMore(filepath.Join(dir, "j"), room); err != nil {
		t.Error(err)
	}
}

// TestFileSizeLimit cuts a row in its middle: the limit of the process is no multiple of
// a row. It runs in a process of its own, whose limit it is.
func TestFileSizeLimit(t *testing.T) {
	path := os.Getenv("RAILYARD_JOURNAL")
	if path == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestFileSizeLimit$", "-test.v")
		cmd.Env = append(os.Environ(), "RAILYARD_JOURNAL="+filepath.Join(t.TempDir(), "j"))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	signal.Ignore(syscall.SIGXFSZ)
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 10_007, Max: before.Max}); err != nil {
		t.Fatal(err)
	}
	if err := fullThenMore(path, func() error { return syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before) }); err != nil {
		t.Error(err)
	}
}
