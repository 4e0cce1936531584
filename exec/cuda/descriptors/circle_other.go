//go:build !linux

package descriptors

import (
	"context"
	"errors"
)

var errLinux = errors.New("GPUs of several processes need Linux")

// Listener waits for other processes, on Linux.
type Listener struct{ Card Card }

// Listen says that this is not Linux.
func Listen() (*Listener, error) { return nil, errLinux }

// Close does nothing.
func (*Listener) Close() error { return nil }

// Meet says that this is not Linux.
func (*Listener) Meet(context.Context, int, []Card) (*Circle, error) { return nil, errLinux }

// Circle is processes that hand one another descriptors, on Linux.
type Circle struct{}

// Exchange says that this is not Linux.
func (*Circle) Exchange(context.Context, []byte, []int) ([][]byte, [][]int, error) {
	return nil, nil, errLinux
}

// Close does nothing.
func (*Circle) Close() error { return nil }

// NewMemory says that this is not Linux.
func NewMemory(int) (int, error) { return -1, errLinux }
