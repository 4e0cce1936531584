// Package long is the one tier of tests above `go test ./...`: `go test ./... -long` holds on
// larger machines, more seeds and longer series what the default holds on few. Every package with
// tests imports it, for a test binary refuses a flag that it does not know.
package long

import (
	"flag"
	"testing"

	_ "pgregory.net/rapid" // has its flags before they are set
)

var given = flag.Bool("long", false, "run the long tier of tests: more seeds, larger machines, longer series")

// The same tests see the same inputs each time; go test ./... -rapid.seed=N draws others.
func init() {
	if err := flag.Set("rapid.seed", "1"); err != nil {
		panic(err)
	}
}

// Given reports whether the long tier was asked for.
func Given() bool { return *given }

// Only skips a test that belongs to the long tier alone.
func Only(t testing.TB) {
	t.Helper()
	if !*given {
		t.Skip("long tier: go test -long")
	}
}

// Or is the first of two sizes of a test, or the second in the long tier.
func Or[T any](usual, long T) T {
	if *given {
		return long
	}
	return usual
}
