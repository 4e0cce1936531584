package clitest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"railyard/internal/long"
)

// Main is TestMain of a program: it builds the program for its scripts and tests, which find it in PATH. There no line of what commands
// print for people may be longer than table.Columns. It is not the test binary by another name, as that takes twice as long to begin.
// Both end before memory is short, and so have less of it collected.
func Main(m *testing.M) {
	debug.SetGCPercent(200)
	os.Exit(in(m))
}

// in runs a program's tests, behind which nothing stays.
func in(m *testing.M) int {
	dir, err := os.MkdirTemp("", "program")
	if err == nil {
		defer os.RemoveAll(dir)
		err = errors.Join(os.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH")), os.Setenv("GOGC", "200"))
	}
	if err == nil {
		var said []byte
		if said, err = exec.Command("go", "build", "-tags=scripts", "-ldflags=-s -w", "-o", dir, ".").CombinedOutput(); err != nil {
			err = fmt.Errorf("%w\n%s", err, said)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code := m.Run()
	if err := os.RemoveAll(fakes.dir); err != nil { // of "" where no test needed it
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// Scripts runs the scenarios in testdata/script, one file each; UPDATE_SCRIPTS rewrites them. Lines behind [long] are
// the long tier's.
func Scripts(t *testing.T) {
	signal.Notify(make(chan os.Signal, 1), os.Interrupt) // else a shell that runs these in the background has programs ignore it
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/script",
		UpdateScripts: os.Getenv("UPDATE_SCRIPTS") != "",
		Condition: func(name string) (bool, error) {
			if name != "long" {
				return false, fmt.Errorf("no condition %q", name)
			}
			return long.Given(), nil
		},
	})
}
