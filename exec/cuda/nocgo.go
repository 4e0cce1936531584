//go:build !cgo

package cuda

import (
	"context"
	"time"

	"railyard/exec/cuda/driver"
	"railyard/model/schedule"
)

// Node is this machine's GPUs; a build without cgo cannot use them.
type Node struct {
	Deadline time.Duration
}

// Open says why there are none.
func Open(int) (*Node, error) { return nil, driver.Load() }

// OpenShared says why there are none.
func OpenShared(int, int) (*Node, error) { return nil, driver.Load() }

// OpenFrom says why there are none.
func OpenFrom(int, int) (*Node, error) { return nil, driver.Load() }

// Close does nothing.
func (*Node) Close() {}

// Ranks is 0.
func (*Node) Ranks() int { return 0 }

// GPUs is 0.
func (*Node) GPUs() int { return 0 }

// GPU is empty: a build without cgo sees none.
func GPU() string { return "" }

// Multiprocessors is 0.
func (*Node) Multiprocessors() int { return 0 }

// Driver is empty.
func (*Node) Driver() string { return "" }

// Run says why it cannot.
func (*Node) Run(context.Context, *schedule.Schedule, Config, Method) (*Result, error) {
	return nil, driver.Load()
}

// Prepare says why it cannot.
func (*Node) Prepare(*schedule.Schedule, Config, Method) error { return driver.Load() }

// Reserve says why it cannot.
func (*Node) Reserve(context.Context, int64) error { return driver.Load() }

// Meet says why it cannot.
func (*Node) Meet(context.Context, Processes, [][]int) error { return driver.Load() }

// Within runs work.
func (*Node) Within(_ context.Context, work func() error) error { return work() }

// Connect does nothing.
func (*Node) Connect(any) {}

// ConnectProxy does nothing.
func (*Node) ConnectProxy(any) {}

// Abandon does nothing.
func (*Node) Abandon() {}

// Abandoned is false.
func (*Node) Abandoned() bool { return false }

// Share is 0.
func (*Node) Share() int { return 0 }
