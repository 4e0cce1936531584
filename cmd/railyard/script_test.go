package main

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"railyard/cmd/internal/clitest"
	_ "railyard/internal/long" // accepts -long
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"railyard": main})
}

func TestScripts(t *testing.T) { clitest.Scripts(t) }
