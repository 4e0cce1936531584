//go:build cgo

package probe

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"railyard/internal/long"
)

// TestKernelsCompile runs the kernels through clang's CUDA front end, where there is
// one, for 2, 4 and 8 GPUs; it does not know PTX inside asm.
func TestKernelsCompile(t *testing.T) {
	clang, err := exec.LookPath("clang-19")
	if err != nil {
		t.Skip("no clang-19")
	}
	for _, peers := range []string{"1", "3", "7"} {
		cmd := exec.Command(clang, "-x", "cuda", "--cuda-device-only", "--cuda-gpu-arch=sm_90", "-nocudainc", "-nocudalib",
			"-Xclang", "-target-feature", "-Xclang", "+ptx78", "-std=c++17", "-O2", "-Wall", "-Wno-unknown-cuda-version", "-Werror", "-S",
			"-o", "-",
			"-DPEERS="+peers, "-include", filepath.Join("..", "cuda", "kernel", "testdata", "cuda.h"), "kernels.cu")
		var out, messages bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &messages
		if err := cmd.Run(); err != nil {
			t.Fatalf("%s peers: %v\n%s", peers, err, messages.String())
		}
		for _, name := range kernelNames {
			if !strings.Contains(out.String(), ".entry "+name+"(") {
				t.Errorf("there is no kernel %s", name)
			}
		}
	}
}

// TestMessagesArrive runs the kernels of messages on the CPU, a fiber for each GPU thread, for
// three GPUs: what they send arrives, launch after launch, in both halves of the inboxes.
func TestMessagesArrive(t *testing.T) {
	gxx, err := exec.LookPath("g++")
	if err != nil {
		t.Skip("no g++")
	}
	program := filepath.Join(t.TempDir(), "messages")
	for _, cmd := range []*exec.Cmd{
		exec.CommandContext(t.Context(), gxx, "-std=c++20", "-O1", "-Wall", "-Werror", "-Wno-unknown-pragmas", "-Wno-maybe-uninitialized",
			"-DPEERS=2", "-o", program, filepath.Join("testdata", "messages.cc")),
		exec.CommandContext(t.Context(), program, strconv.Itoa(long.Or(6, 1))),
	} {
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
}
