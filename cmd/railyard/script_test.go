package main

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	_ "railyard/internal/long"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"railyard": main})
}

// TestScripts runs the scenarios in testdata/script, one file each.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/script",
		UpdateScripts: os.Getenv("UPDATE_SCRIPTS") != "",
	})
}
