package clitest

import (
	"fmt"
	"os"
	"os/signal"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"railyard/internal/long"
)

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
