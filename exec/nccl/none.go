//go:build !cgo

package nccl

import (
	"context"
	"errors"

	"railyard/exec/cuda"
	"railyard/model/collective"
	"railyard/model/units"
)

var errNoCgo = errors.New("this railyard was built without cgo and cannot load NCCL: build it with CGO_ENABLED=1")

// Open says that this build cannot load NCCL.
func Open() error { return errNoCgo }

// Version says that this build cannot load NCCL.
func Version() (string, error) { return "", errNoCgo }

// Baseline is NCCL on a node's GPUs; this build has none.
type Baseline struct{}

// NewBaseline says that this build cannot load NCCL.
func NewBaseline(*cuda.Node, Setting) (*Baseline, error) { return nil, errNoCgo }

// Time says that this build cannot load NCCL.
func (*Baseline) Time(context.Context, collective.Spec, cuda.Config) (*cuda.Result, error) {
	return nil, errNoCgo
}

// Estimate is none.
func (*Baseline) Estimate(collective.Spec, cuda.Config) (units.Time, error) { return 0, errNoCgo }

// Close does nothing.
func (*Baseline) Close() error { return nil }

// Mesh is connections between several processes; this build has none.
type Mesh struct{}

// Meet says that this build cannot load NCCL.
func Meet(context.Context, cuda.Processes, *cuda.Node, int, Setting) (*Mesh, error) {
	return nil, errNoCgo
}

// Over says that this build cannot load NCCL.
func Over(context.Context, cuda.Processes, *cuda.Node, Setting) (*Mesh, *Baseline, error) {
	return nil, nil, errNoCgo
}

// Baseline is nothing.
func (*Mesh) Baseline(*cuda.Node) *Baseline { return nil }

// Close does nothing.
func (*Mesh) Close() error { return nil }
