// Package long is the one tier of tests above `go test ./...`: `go test ./... -long` holds on
// larger machines, more seeds and longer series what the default holds on few. Every package with
// tests imports it, for a test binary refuses a flag that it does not know.
package long

import (
	"flag"
	"hash/fnv"
	"testing"

	_ "pgregory.net/rapid" // has its flags before they are set
)

var (
	given = flag.Bool("long", false, "run the long tier of tests: more seeds, larger machines, longer series")
	whole = flag.Bool("whole", false, "with -long: all cases of the tests that take a sample of them otherwise")
)

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

// Every reports whether a case, by its number, is among those of the default tier: the first and each nth behind it. The long tier takes
// all.
func Every(n, number int) bool { return *given || number%n == 0 }

// Sample reports whether a case, by its name, is among the one of n that a test of the long tier takes; with -whole all are. Which ones
// -rapid.seed says and t tells, so that other seeds come round to them all and a failure can be had again.
func Sample(t testing.TB, n uint64) func(name string) bool {
	seed := flag.Lookup("rapid.seed").Value.String()
	if !*given || *whole {
		return func(string) bool { return true }
	}
	t.Logf("one case of %d, by seed %s: go test -long -rapid.seed=%s; all of them: -long -whole", n, seed, seed)
	return func(name string) bool {
		h := fnv.New64a()
		_, _ = h.Write([]byte(seed + " " + name)) // hashes take all that is written
		return h.Sum64()>>7%n == 0
	}
}
