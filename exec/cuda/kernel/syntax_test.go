package kernel

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"railyard/model/block"
	"railyard/model/collective"
)

// TestCUDASyntax compiles the kernels to PTX: all types and reductions, and in all mechanisms an
// interpreter of a rank's forms and a specialised one, as runs have them. Inline PTX is not looked into: no free assembler is.
func TestCUDASyntax(t *testing.T) {
	var clang string
	for _, name := range []string{"clang-19", "clang-20", "clang-18", "clang-17"} {
		if path, err := exec.LookPath(name); err == nil {
			clang = path
			break
		}
	}
	if clang == "" {
		t.Skip("no clang 17 or newer: CUDA syntax is not checked here")
	}
	dir := t.TempDir()
	header := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	compile := func(file string, flags ...string) {
		args := append([]string{"-x", "cuda", "--cuda-device-only", "--cuda-gpu-arch=sm_90", "-nocudainc", "-nocudalib",
			"--cuda-feature=+ptx78", "-std=c++20", "-O1", "-S",
			"-o", filepath.Join(dir, "out.ptx"), "-include", "testdata/cuda.h", "-I", dir, "src/" + file}, flags...)
		if out, err := exec.Command(clang, args...).CombinedOutput(); err != nil {
			t.Errorf("%s %v: %v\n%s", file, flags, err, out)
		}
	}
	compile("gate.cu")
	for i, typ := range []string{"FLOAT32", "INT32", "BFLOAT16", "FLOAT16", "E4M3", "E5M2"} {
		op := []string{"SUM", "MAX", "MIN", "PROD"}[i%4]
		compile("check.cu", "-DT_"+typ, "-DR_"+op)
	}
	for m := block.Pull; m <= block.WordsPush; m++ {
		p := program(t, "two_shot", m)
		forms := block.FormsOf(1024, p.Lanes[1]...)
		header("forms.cuh", forms.Source())
		compile("run.cu", "-DT_E4M3", "-DR_MAX", "-DTHREADS=1024", fmt.Sprintf("-DPEERS=%d", forms.Width),
			fmt.Sprintf("-DREFS=%d", forms.Refs))
		compile("run.cu", "-DT_BFLOAT16", "-DR_SUM", "-DTHREADS=512", "-DUNALIGNED", fmt.Sprintf("-DPEERS=%d", forms.Width),
			fmt.Sprintf("-DREFS=%d", forms.Refs))
		header("constants.cuh", p.Constants(1))
		compile("run.cu", "-DT_BFLOAT16", "-DR_SUM", "-DSPECIALISED", "-DTHREADS=64", "-DJITTER", fmt.Sprintf("-DPEERS=%d", p.Peers()))
	}
	compile("run.cu", "-DT_FLOAT16", "-DR_MIN", "-DJITTER")
}

func program(t *testing.T, algo string, m block.Mechanism) *block.Program {
	t.Helper()
	p, err := block.Compile(plan(t, 4, collective.AllReduce, algo, 1), block.Options{Count: 1 << 16, Size: 4, Instances: 4, Mechanism: m})
	if err != nil {
		t.Fatal(err)
	}
	return p
}
