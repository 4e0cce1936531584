//go:build !cgo || !linux

package discover

import "errors"

// Open says that this build cannot ask the driver.
func Open() (Library, error) {
	return nil, errors.New("this build has no NVML: build railyard on Linux with CGO_ENABLED=1")
}
