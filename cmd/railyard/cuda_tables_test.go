package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"railyard/internal/golden"
	"railyard/model/cost"
	"railyard/model/units"
)

// rowsOfSweep is a file of cuda-sweep: what ours took by size and mechanism, and NCCL.
func rowsOfSweep(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString(strings.Join(sweepHeader, ",") + "\n")
	row := func(gpus, size, algo, mechanism, blocks, us string) {
		b.WriteString("all_reduce," + gpus + ",float32,sum," + size + "," + algo + ",1," + mechanism + "," + blocks + ",512,0,true,true,false," + us + "," + us + "," + us + "," + us + ",,0,20,20,,,\n")
	}
	for bytes := 1 << 10; bytes <= 1<<30; bytes *= 2 {
		us := func(base, perMiB float64) string {
			return strconv.FormatFloat(base+perMiB*float64(bytes)/(1<<20), 'f', 3, 64)
		}
		row("2", strconv.Itoa(bytes), "direct", "packets", "2", us(2, 7))
		row("2", strconv.Itoa(bytes), "two_shot", "push", "64", us(5, 2.9))
		row("2", strconv.Itoa(bytes), "nccl", "default", "0", us(6, 2.5)) // ahead from 4 MiB on
		if bytes <= 1<<26 {
			row("2", strconv.Itoa(bytes), "nccl", "windows", "0", us(3.7, 4))
		}
	}
	name := filepath.Join(t.TempDir(), "sweep.csv")
	if err := os.WriteFile(name, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestCudaTables: tables, the fastest rows with predictions, and thresholds in a profile.
func TestCudaTables(t *testing.T) {
	dir := t.TempDir()
	profile := filepath.Join(dir, "mine.yaml")
	if err := saveProfile(profile, &cost.Profile{Name: "mine", Source: "a test", Date: "2026-11-22", Launch: units.Microsecond,
		Curves: []cost.Curve{{Medium: "nvlink", Protocol: "any", Segments: []cost.Segment{{Alpha: units.Microsecond, Efficiency: 0.8}}}}}); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	f := tablesFlags{topology: "hgx-h200-4", profile: profile, date: "2026-11-22", choices: profile, gpu: "Some GPU", out: filepath.Join(dir, "best.csv"), figures: dir}
	if err := f.run(&out, []string{rowsOfSweep(t)}); err != nil {
		t.Fatal(err)
	}
	golden.Equal(t, "cuda-tables.md", []byte(out.String()))
	p, err := cost.Get(profile)
	if err != nil {
		t.Fatal(err)
	}
	want := []cost.Method{
		{Collective: "all_reduce", GPUs: 2, UpTo: 741455, Algorithm: "direct", Slices: 1, Mechanism: "packets"},
		{Collective: "all_reduce", GPUs: 2, Algorithm: "two_shot", Slices: 1, Mechanism: "push", Blocks: 64, Threads: 512},
	}
	if p.GPU != "Some GPU" || len(p.Methods) != len(want) || p.Methods[0] != want[0] || p.Methods[1] != want[1] {
		t.Errorf("methods of %q: %+v", p.GPU, p.Methods)
	}
	best, err := os.ReadFile(f.out)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(best), "\n"); n != 22 {
		t.Errorf("%d lines of the fastest rows", n)
	}
	if _, err := os.Stat(filepath.Join(dir, "h200-all_reduce-2.svg")); err != nil {
		t.Error(err)
	}
}

func TestParseVariant(t *testing.T) {
	v, err := parseVariant("two_shot/push/2/64/512+int")
	if err != nil || v.algo != "two_shot" || v.slices != 2 || v.how.Blocks != 64 || v.how.Threads != 512 || v.how.Specialise || v.mechanism() != "push" {
		t.Errorf("%+v, %v", v, err)
	}
	for _, text := range []string{"two_shot/push/2/64", "two_shot/smoke/1/1/32", "two_shot/push/0/1/32", "two_shot/push/1/x/32"} {
		if _, err := parseVariant(text); err == nil {
			t.Errorf("%s is accepted", text)
		}
	}
}
