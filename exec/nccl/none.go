//go:build !cgo

package nccl

import (
	"context"
	"errors"

	"railyard/exec/cuda"
	"railyard/exec/cuda/driver"
	"railyard/model/collective"
	"railyard/model/units"
)

// Bench holds GPUs while NCCL is measured on them; this build has none.
type Bench struct{}

var errNoCgo = errors.New("this railyard was built without cgo and cannot load NCCL: build it with CGO_ENABLED=1")

// Open says that this build cannot load NCCL.
func Open() error { return errNoCgo }

// Version says that this build cannot load NCCL.
func Version() (string, error) { return "", errNoCgo }

// Run says that this build cannot use GPUs.
func Run(context.Context, int, units.Bytes, Setting, func(context.Context, *Bench) error) error {
	return driver.Load()
}

// GPUs is how many are used.
func (*Bench) GPUs() int { return 0 }

// Measure says that this build cannot load NCCL.
func (*Bench) Measure(context.Context, Case) (*Result, error) { return nil, errNoCgo }

// Baseline is NCCL on a node's GPUs; this build has none.
type Baseline struct{}

// NewBaseline says that this build cannot load NCCL.
func NewBaseline(*cuda.Node) (*Baseline, error) { return nil, errNoCgo }

// Time says that this build cannot load NCCL.
func (*Baseline) Time(context.Context, collective.Kind, cuda.Config, bool) (*cuda.Result, error) {
	return nil, errNoCgo
}

// Close does nothing.
func (*Baseline) Close() error { return nil }

// Mesh is connections between several processes; this build has none.
type Mesh struct{}

// Meet says that this build cannot load NCCL.
func Meet(context.Context, cuda.Processes, *cuda.Node) (*Mesh, error) { return nil, errNoCgo }

// Baseline is nothing.
func (*Mesh) Baseline(*cuda.Node) *Baseline { return nil }

// Close does nothing.
func (*Mesh) Close() error { return nil }
