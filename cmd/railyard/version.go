package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is what plans and results carry as their tool version.
const version = "0.1.0"

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:  "version",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "railyard %s%s, %s, %s/%s\n", version, commit(), runtime.Version(), runtime.GOOS,
				runtime.GOARCH)
			return err
		},
	}
}

// commit is what it was built from, "" where the build does not say.
func commit() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	said := map[string]string{}
	for _, s := range info.Settings {
		said[s.Key] = s.Value
	}
	switch revision := said["vcs.revision"]; {
	case revision == "":
		return ""
	case said["vcs.modified"] == "true":
		return " (" + revision[:12] + ", changed)"
	default:
		return " (" + revision[:12] + ")"
	}
}
