package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"railyard/model/cost"
)

var executions = []struct {
	profile, of, topology, gpus, source string
	measured                            string // folder of docs/measured with the links
}{
	{"h200-execution", "h200", "hgx-h200-4", "4", "railyard probe: 4 × NVIDIA H200 of one host, driver 580.159.04 (docs/measured/h200-4/links.csv)", "h200-4"},
	{"h100-execution", "h100", "dgx-h100", "2", "railyard probe: 2 × NVIDIA H100 of one host, driver 580.159.04 (docs/measured/h100-2/links.csv)", "h100-2"},
}

// TestExecutionProfiles: the shipped profiles of railyard's own kernels are what `probe` makes of the
// links that were measured.
func TestExecutionProfiles(t *testing.T) {
	for _, x := range executions {
		t.Run(x.profile, func(t *testing.T) {
			parent, err := cost.Get(x.of)
			if err != nil || parent.Execution != x.profile {
				t.Errorf("%s runs as %q, %v", x.of, parent.Execution, err)
			}
			measured := func(folder, file string) string { return filepath.Join("..", "..", "docs", "measured", folder, file) }
			made := filepath.Join(t.TempDir(), "made.yaml")
			var out, complaints strings.Builder
			if code := run([]string{"probe", "--from", measured(x.measured, "links.csv"), "-t", x.topology, "--gpus", x.gpus, "--name", x.profile, "--source", x.source, "--date", "2026-11-22", "-o", made}, &out, &complaints); code != 0 {
				t.Fatal(complaints.String())
			}
			shipped := filepath.Join("..", "..", "model", "cost", "profiles", x.profile+".yaml")
			if want, got := read(t, made), read(t, shipped); want != got {
				t.Errorf("%s is not what probe makes of its links", shipped)
			}
		})
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestExecutionsExist: every profile that names another one for railyard's own kernels names a probed one.
func TestExecutionsExist(t *testing.T) {
	named := 0
	for _, name := range cost.Names() {
		p, err := cost.Get(name)
		if err != nil {
			t.Fatal(err)
		}
		if p.Execution == "" {
			continue
		}
		named++
		if own, err := p.Running(); err != nil || !own.Curved("pull") || !own.Curved("words") || own.Execution != "" {
			t.Errorf("%s runs as %s: %v", name, p.Execution, err)
		}
	}
	if named < 2 {
		t.Errorf("%d profiles name one", named)
	}
}
