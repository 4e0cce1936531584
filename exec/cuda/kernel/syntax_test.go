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

// TestCUDASyntax looks through the kernels as CUDA: all types and reductions, and in all mechanisms interpreters of a rank's
// forms and specialised ones, as runs have them. What the checks and, in each mechanism, specialised kernels have is compiled to
// PTX too, and one interpreter: interpreters are the same operations again. Inline PTX is not looked into: no free assembler is.
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
	compile := func(name string, headers map[string]string, file string, flags ...string) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for name, text := range headers {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			args := append([]string{"-x", "cuda", "--cuda-device-only", "--cuda-gpu-arch=sm_90", "-nocudainc", "-nocudalib",
				"--cuda-feature=+ptx78", "-std=c++20", "-O1", "-o", filepath.Join(dir, "out.ptx"), "-include", "testdata/cuda.h", "-I", dir,
				"src/" + file}, flags...)
			if out, err := exec.Command(clang, args...).CombinedOutput(); err != nil {
				t.Errorf("%s %v: %v\n%s", file, flags, err, out)
			}
		})
	}
	compile("gate", nil, "gate.cu", "-S")
	for i, typ := range []string{"FLOAT32", "INT32", "BFLOAT16", "FLOAT16", "E4M3", "E5M2"} {
		op := []string{"SUM", "MAX", "MIN", "PROD"}[i%4]
		compile("check "+typ, nil, "check.cu", "-S", "-DT_"+typ, "-DR_"+op)
	}
	for m := block.Pull; m <= block.WordsPush; m++ {
		p := program(t, "two_shot", m)
		forms := block.FormsOf(1024, p.Lanes[1]...)
		constants, interpreted := map[string]string{"constants.cuh": p.Constants(1)}, map[string]string{"forms.cuh": forms.Source()}
		sizes := []string{fmt.Sprintf("-DPEERS=%d", forms.Width), fmt.Sprintf("-DREFS=%d", forms.Refs)}
		how := "-fsyntax-only"
		if m == block.Packets {
			how = "-S"
		}
		compile(fmt.Sprint(m, " interpreted"), interpreted, "run.cu", append(sizes, how, "-DT_E4M3", "-DR_MAX", "-DTHREADS=1024")...)
		compile(fmt.Sprint(m, " unaligned"), interpreted, "run.cu", append(sizes, "-fsyntax-only", "-DT_BFLOAT16", "-DR_SUM",
			"-DTHREADS=512",
			"-DUNALIGNED")...)
		compile(fmt.Sprint(m, " delayed"), interpreted, "run.cu", append(sizes, "-fsyntax-only", "-DT_FLOAT16", "-DR_MIN", "-DJITTER")...)
		compile(fmt.Sprint(m, " specialised"), constants, "run.cu", "-S", "-DT_BFLOAT16", "-DR_SUM", "-DSPECIALISED", "-DTHREADS=64",
			"-DJITTER", fmt.Sprintf("-DPEERS=%d", p.Peers()))
	}
}

func program(t *testing.T, algo string, m block.Mechanism) *block.Program {
	t.Helper()
	p, err := block.Compile(plan(t, 4, collective.AllReduce, algo, 1), block.Options{Count: 1 << 16, Size: 4, Instances: 4, Mechanism: m})
	if err != nil {
		t.Fatal(err)
	}
	return p
}
