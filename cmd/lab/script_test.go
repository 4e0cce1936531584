package main

import (
	"testing"

	"railyard/cmd/internal/clitest"
	_ "railyard/internal/long" // accepts -long
)

func TestMain(m *testing.M) { clitest.Main(m) }

func TestScripts(t *testing.T) { clitest.Scripts(t) }
