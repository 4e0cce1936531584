// Package ipynb has the tests of notebooks: that they are fit to commit, that their cells compile and, of notebooks that have run
// (go test ./notebooks/ipynb -executed FOLDER), that no cell failed. nbconvert ends well although a cell panics, and a picture can get
// lost on its way; so the outputs of each cell are looked through.
package ipynb

import (
	"flag"
	"path/filepath"
	"testing"
)

var executed = flag.String("executed", "", "folder of notebooks that have run")

func TestExecuted(t *testing.T) {
	if *executed == "" {
		t.Skip("no notebooks that have run: .ci/notebooks runs them")
	}
	files, err := filepath.Glob(filepath.Join(*executed, "*.ipynb"))
	if err != nil || len(files) != len(tree(t)) {
		t.Fatalf("%s: %d notebooks have run, of %d (%v)", *executed, len(files), len(tree(t)), err)
	}
	for _, file := range files {
		n, err := Read(file)
		if err != nil {
			t.Error(err)
			continue
		}
		for _, f := range n.Failures() {
			t.Errorf("%s: %s", file, f)
		}
	}
}
