package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// written marks flags that name files to be written: without --force the command replaces none.
const written = "railyard_writes"

// guardFiles refuses to begin where files would be replaced.
func guardFiles(cmd *cobra.Command) {
	var names []*pflag.Flag
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if _, marked := f.Annotations[written]; marked {
			names = append(names, f)
		}
	})
	if len(names) == 0 {
		return
	}
	if cmd.Flags().Lookup("force") == nil { // some say what else they do then
		cmd.Flags().Bool("force", false, "replace files that exist")
	}
	run := cmd.RunE
	cmd.RunE = func(c *cobra.Command, args []string) error {
		for _, f := range names {
			if err := MayWrite(c, f.Value.String()); err != nil {
				return err
			}
		}
		return run(c, args)
	}
}

// MayWrite is the error of a file whose folder is not there, or that exists, where a command that writes files was not told to
// replace it: before anything is computed. What is no file but a pipe or a device is written to.
func MayWrite(cmd *cobra.Command, path string) error {
	if path == "" {
		return nil
	}
	var missing *fs.PathError
	if _, err := os.Stat(filepath.Dir(path)); errors.As(err, &missing) {
		return fmt.Errorf("%s: %w", path, missing.Err)
	}
	if force, err := cmd.Flags().GetBool("force"); force || err != nil {
		return err
	}
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
		return fmt.Errorf("%s exists: name another file, or replace it with --force", path)
	}
	return nil
}
