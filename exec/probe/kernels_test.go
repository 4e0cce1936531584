package probe

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestKernelsCompile runs the kernels through clang's CUDA front end, where there is
// one; it does not know PTX inside asm.
func TestKernelsCompile(t *testing.T) {
	clang, err := exec.LookPath("clang-19")
	if err != nil {
		t.Skip("no clang-19")
	}
	cmd := exec.Command(clang, "-x", "cuda", "--cuda-device-only", "--cuda-gpu-arch=sm_90", "-nocudainc", "-nocudalib",
		"-Xclang", "-target-feature", "-Xclang", "+ptx78", "-std=c++17", "-O2", "-Wall", "-Wno-unknown-cuda-version", "-Werror", "-S", "-o", "-",
		"-include", filepath.Join("..", "cuda", "kernel", "testdata", "cuda.h"), "kernels.cu")
	var out, messages bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &messages
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, messages.String())
	}
	for _, name := range []string{"nothing", "ping_pong", "copy", "add", "simple_messages", "ll_messages", "pull_messages", "ll128_messages", "words_messages"} {
		if !strings.Contains(out.String(), ".entry "+name+"(") {
			t.Errorf("there is no kernel %s", name)
		}
	}
}
