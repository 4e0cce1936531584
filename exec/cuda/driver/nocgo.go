//go:build !cgo

package driver

import "errors"

// Load says that this build cannot use GPUs.
func Load() error {
	return errors.New("this railyard was built without cgo and cannot use GPUs: build it with CGO_ENABLED=1")
}
