//go:build !cgo

package probe

import (
	"context"

	"railyard/exec/cuda/driver"
	"railyard/model/measurement"
)

// Run says that this build cannot use GPUs.
func Run(context.Context, Options) ([]measurement.Link, error) { return nil, driver.Load() }
