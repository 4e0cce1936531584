package clitest

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"

	"railyard/cmd/internal/cli"
	"railyard/internal/long"
	"railyard/report/table"
)

// Main is TestMain of a program: its scripts run it in processes of its own, where no line of what commands print for people
// may be longer than table.Columns. Their processes, and the tests', end before memory is short, and so have less of it collected.
func Main(m *testing.M, newRoot func() *cobra.Command) {
	debug.SetGCPercent(200)
	testscript.Main(tidied{m}, map[string]func(){newRoot().Name(): func() {
		root := newRoot()
		each(root, holdWidth)
		os.Exit(cli.Run(root, os.Args[1:], os.Stdout, os.Stderr))
	}})
}

// tidied are a program's tests, behind which nothing stays.
type tidied struct{ *testing.M }

// Run implements testscript.TestingM.
func (t tidied) Run() int {
	code := t.M.Run()
	if err := os.RemoveAll(fakes.dir); err != nil { // of "" where no test needed it
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// holdWidth makes a command fail whose default text is too wide.
func holdWidth(cmd *cobra.Command) {
	run := cmd.RunE
	if run == nil {
		return
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		var out strings.Builder
		cmd.SetOut(io.MultiWriter(cmd.OutOrStdout(), &out))
		err := run(cmd, args)
		if err != nil || foreign.MatchString(out.String()) || !isDefaultText(cmd, args) {
			return err
		}
		for line := range strings.Lines(out.String()) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > table.Columns {
				return fmt.Errorf("a line of %d characters, at most %d fit: %s", n, table.Columns, line)
			}
		}
		return nil
	}
}

// foreign is how scripts and manifests for other programs begin.
var foreign = regexp.MustCompile(`^(#|apiVersion:)`)

// isDefaultText is false where flags ask for all columns or another format, of the command or of one behind it.
func isDefaultText(cmd *cobra.Command, args []string) bool {
	format, wide := cmd.Flags().Lookup("format"), cmd.Flags().Lookup("wide")
	return format != nil && format.Value.String() == table.Text && !slices.Contains(args, "--format") &&
		(wide == nil || wide.Value.String() == "false")
}

// Scripts runs the scenarios in testdata/script, one file each; UPDATE_SCRIPTS rewrites them. Lines behind [long] are
// the long tier's.
func Scripts(t *testing.T) {
	signal.Notify(make(chan os.Signal, 1), os.Interrupt) // else a shell that runs these in the background has programs ignore it
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/script",
		UpdateScripts: os.Getenv("UPDATE_SCRIPTS") != "",
		Condition: func(name string) (bool, error) {
			if name != "long" {
				return false, fmt.Errorf("no condition %q", name)
			}
			return long.Given(), nil
		},
	})
}
