//go:build !cgo || !linux

package discover

import "errors"

// asks: this build can ask the driver.
const asks = false

// Open says that this build cannot ask the driver.
func Open() (Library, error) {
	return nil, errors.New("this build has no NVML: install railyard-gpu, or build railyard on Linux with CGO_ENABLED=1")
}
