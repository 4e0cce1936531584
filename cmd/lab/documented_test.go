package main

import (
	"testing"

	"github.com/spf13/cobra"

	"railyard/cmd/internal/clitest"
)

// TestDocumentedCommands: whoever types what a page shows is understood.
func TestDocumentedCommands(t *testing.T) {
	clitest.DocumentedCommands(t, newRoot, func(*cobra.Command) error { return nil }, "lab", "go run ./cmd/lab")
}
