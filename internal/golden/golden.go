// Package golden compares output with files under testdata. `go test ./... -update`
// rewrites them; it is the one flag for all goldens of the project.
package golden

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden files with what the code prints now")

// Equal fails t unless got equals testdata/name; with -update it writes the file.
// Name goldens after the flags that made them.
func Equal(t testing.TB, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", filepath.FromSlash(name))
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (run with -update to create it)", err)
	}
	if !bytes.Equal(want, got) {
		t.Errorf("%s differs (-want +got; -update rewrites it):\n%s", path, cmp.Diff(string(want), string(got)))
	}
}

// Updating reports whether -update was given, for tests that write their own files.
func Updating() bool { return *update }
