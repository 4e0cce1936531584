//go:build !race

package long

import "runtime"

// ballast makes the collector wait until tests have allocated as much again: most of them have small heaps, which it would collect
// many times a second, for a third of the processor time of all tests. Nobody writes to it, so that it takes no memory; the race
// detector would. It is no larger, for memory that is taken anew costs more than memory that the collector gives back.
var ballast = make([]byte, 32<<20)

func init() { runtime.KeepAlive(ballast) }
