package driver

import (
	"os/exec"
	"strings"
	"testing"

	_ "railyard/internal/long" // accepts -long
)

// TestLoadSaysWhatIsMissing: with a driver Load succeeds, without one its error is one
// line that names the library.
func TestLoadSaysWhatIsMissing(t *testing.T) {
	err := Load()
	if exec.Command("nvidia-smi", "-L").Run() == nil {
		if err != nil {
			t.Error(err)
		}
		return
	}
	if err == nil {
		t.Skip("a driver without nvidia-smi")
	}
	if text := err.Error(); strings.Contains(text, "\n") || !strings.Contains(text, "libcuda.so.1 not found") &&
		!strings.Contains(text, "cgo") && !strings.Contains(text, "driver") {
		t.Errorf("%q", text)
	}
}
