package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"railyard/cmd/internal/clitest"
	"railyard/model/workload"
	"railyard/topologies"
)

// TestDocumentedCommands: whoever types what a page shows is understood: command, flags, values, and the topologies, workloads and
// files of this repository that it names.
func TestDocumentedCommands(t *testing.T) {
	wrong := func(cmd *cobra.Command) error {
		for _, name := range valuesOf(cmd, "topology") {
			name, _, _ = strings.Cut(name, ":")
			if cmd.Name() == "import" && !cmd.Flags().Changed("nodes") && strings.Contains(name, ".") { // the file of another tool
				continue
			}
			if err := isShipped(name, append(topologies.Names(), "live")); err != nil {
				return err
			}
		}
		for _, name := range valuesOf(cmd, "workload") {
			if err := isShipped(name, workload.Names()); err != nil {
				return err
			}
		}
		return nil
	}
	clitest.DocumentedCommands(t, newRoot, wrong, "railyard", "go run ./cmd/railyard")
}

func valuesOf(cmd *cobra.Command, flag string) []string {
	f := cmd.Flags().Lookup(flag)
	switch {
	case f == nil || !f.Changed:
		return nil
	case strings.HasSuffix(f.Value.Type(), "Array") || strings.HasSuffix(f.Value.Type(), "Slice"):
		return f.Value.(pflag.SliceValue).GetSlice()
	}
	return []string{f.Value.String()}
}

// isShipped says what is wrong with a name: it is that of no shipped file, nor of a file here, nor of one that a reader has.
func isShipped(name string, names []string) error {
	if slices.Contains(names, name) {
		return nil
	}
	if !strings.HasSuffix(name, ".yaml") {
		return fmt.Errorf("%s is not shipped", name)
	}
	if strings.Contains(name, "/") {
		_, err := os.Stat(name)
		return err
	}
	return nil
}
