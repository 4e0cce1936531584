//go:build !race

package long

import (
	"os"
	"runtime"
	"strings"
)

// ballast makes the collector wait until tests have allocated as much again: most of them have small heaps, which it would collect
// many times a second, for a third of the processor time of all tests. Nobody writes to it, so that it takes no memory; the race
// detector would. It is no larger, for memory that is taken anew costs more than memory that the collector gives back. Programs that
// scripts start, which are copies of a test binary by another name, go without: most of them end before.
var ballast []byte

func init() {
	if strings.HasSuffix(os.Args[0], ".test") {
		ballast = make([]byte, 32<<20)
		runtime.KeepAlive(ballast)
	}
}
