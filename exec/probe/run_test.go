package probe

import (
	"context"
	"os/exec"
	"strings"
	"testing"

	_ "railyard/internal/long" // accepts -long
)

// TestRunSaysWhatIsMissing: without a GPU the error is one line.
func TestRunSaysWhatIsMissing(t *testing.T) {
	if exec.Command("nvidia-smi", "-L").Run() == nil {
		t.Skip("this machine has GPUs")
	}
	rows, err := Run(context.Background(), Options{})
	if err == nil || strings.Contains(err.Error(), "\n") || rows != nil {
		t.Errorf("%d rows, error %v", len(rows), err)
	}
}
