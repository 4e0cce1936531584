package main

import (
	"fmt"
	"os"
	"os/signal"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"railyard/internal/long"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"railyard": main})
}

// TestScripts runs the scenarios in testdata/script, one file each; lines behind [long] are the long tier's.
func TestScripts(t *testing.T) {
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
