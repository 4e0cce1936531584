package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"railyard/cmd/internal/cli"
	"railyard/model/cost"
)

var executions = []struct {
	machine, topology, gpus, source string
	measured                        string // folder of docs/measured with the links
}{
	{"h200", "hgx-h200-4", "4", "railyard probe: 4 × NVIDIA H200 of one host, driver 580.159.04 (docs/measured/h200-4/links.csv)",
		"h200-4"},
	{"h100", "dgx-h100", "2", "railyard probe: 2 × NVIDIA H100 of one host, driver 580.159.04 (docs/measured/h100-2/links.csv)", "h100-2"},
}

// TestProbedMachines: the shipped costs of railyard's own kernels are what `probe` makes of the
// links that were measured.
func TestProbedMachines(t *testing.T) {
	for _, x := range executions {
		t.Run(x.machine, func(t *testing.T) {
			measured := func(folder, file string) string { return filepath.Join("..", "..", "docs", "measured", folder, file) }
			made := filepath.Join(t.TempDir(), "made.yaml")
			var out, complaints strings.Builder
			if code := run([]string{"probe", "--from", measured(x.measured, "links.csv"), "-t", x.topology, "--gpus", x.gpus, "--about",
				"name=" + x.machine + ",source=" + x.source + ",date=2026-11-22", "-o", made}, &out, &complaints); code != 0 {
				t.Fatal(complaints.String())
			}
			shipped, err := cost.GetMachine(x.machine)
			if err != nil {
				t.Fatal(err)
			}
			probed, err := cost.GetMachine(made)
			if err != nil {
				t.Fatal(err)
			}
			links := *shipped // without what was measured on another day
			links.Access = nil
			if d := cmp.Diff(probed.Measured(), links.Measured()); d != "" {
				t.Errorf("%s is not what probe makes of its links: %s", x.machine, d)
			}
		})
	}
}

// TestProbedAccess: so are the shipped rates of accesses to memory, of which one GPU told those to its own and two those to a peer's;
// messages stay what they were.
func TestProbedAccess(t *testing.T) {
	shipped, err := cost.GetMachine("h200")
	if err != nil {
		t.Fatal(err)
	}
	made := filepath.Join(t.TempDir(), "made.yaml")
	if err := cli.WriteMachine(made, shipped.WithAccess(nil)); err != nil {
		t.Fatal(err)
	}
	docs := filepath.Join("..", "..", "docs", "measured")
	two := strings.SplitAfter(read(t, filepath.Join(docs, "h200-2", "access.csv")), "\n")
	head := two[0]
	peers := filepath.Join(t.TempDir(), "peers.csv")
	two = slices.DeleteFunc(two, func(line string) bool { return line != head && !strings.HasPrefix(line, "peer_") })
	if err := os.WriteFile(peers, []byte(strings.Join(two, "")), 0o644); err != nil {
		t.Fatal(err)
	}
	var out, complaints strings.Builder
	if code := run([]string{"probe", "--from", filepath.Join(docs, "h200-1", "access.csv") + "," + peers, "-t", "hgx-h200-4", "--gpus", "2", "--about", "name=h200,source=" + shipped.Access.Source + ",date=" + shipped.Access.Date, "--force", "-o", made},
		&out, &complaints); code != 0 {
		t.Fatal(complaints.String())
	}
	probed, err := cost.GetMachine(made)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(probed, shipped, cmp.AllowUnexported(cost.Machine{})); d != "" {
		t.Errorf("not what probe makes of its rows: %s", d)
	}
	for _, want := range []string{"no messages were measured", "misaligned stores in its own memory: 10 % of", "memory, pool: 256MiB"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not said: %s", want, out.String())
		}
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
