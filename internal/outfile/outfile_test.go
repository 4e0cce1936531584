package outfile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	_ "railyard/internal/long"
)

// TestWrite: whole or not at all, through links, and never in place of a device.
func TestWrite(t *testing.T) {
	dir := t.TempDir()
	file, link, pipe := filepath.Join(dir, "file"), filepath.Join(dir, "link"), filepath.Join(dir, "pipe")
	text := func(s string) func(io.Writer) error {
		return func(w io.Writer) error { _, err := io.WriteString(w, s); return err }
	}
	if err := errors.Join(os.Symlink("file", link), Write(file, text("old")), Write(link, text("new")),
		syscall.Mkfifo(pipe, 0o644)); err != nil {
		t.Fatal(err)
	}
	failed := errors.New("failed")
	half := func(w io.Writer) error { return errors.Join(text("half")(w), failed) }
	if err := Write(file, half); !errors.Is(err, failed) {
		t.Errorf("%v", err)
	}
	if got, err := os.ReadFile(file); string(got) != "new" {
		t.Errorf("%q, %v", got, err)
	}
	if err := Write(dir, text("x")); err == nil {
		t.Error("wrote a directory")
	}
	came := make(chan string)
	go func() {
		got, _ := os.ReadFile(pipe)
		came <- string(got)
	}()
	if err := Write(pipe, text("flows")); err != nil || <-came != "flows" {
		t.Errorf("%v", err)
	}
	names, err := os.ReadDir(dir)
	if err != nil || len(names) != 3 {
		t.Errorf("%v, %v", names, err)
	}
	for _, n := range names {
		if want := map[string]os.FileMode{"link": os.ModeSymlink, "pipe": os.ModeNamedPipe}[n.Name()]; n.Type() != want {
			t.Errorf("%s is a %v", n.Name(), n.Type())
		}
	}
}
