// Package driver calls the CUDA driver API and NVRTC. Both libraries are found with
// dlopen when they are first needed, so that one binary runs on machines with and
// without them; no CUDA header or library takes part in the build. Without cgo, or
// where a library is missing, Load returns an error of one line that says so.
//
// Everything here must be called from a goroutine locked to its thread on which
// Context.Use was called, unless a function says otherwise: the driver keeps the
// current context by thread.
package driver

import "fmt"

// Error is a failed call.
type Error struct {
	Call   string // the driver's name of the function
	Code   int    // CUresult or nvrtcResult
	Name   string // CUDA_ERROR_…
	Detail string
}

func (e *Error) Error() string {
	if e.Detail == "" {
		return fmt.Sprintf("%s: %s (%d)", e.Call, e.Name, e.Code)
	}
	return fmt.Sprintf("%s: %s (%d): %s", e.Call, e.Name, e.Code, e.Detail)
}

// Dim is the shape of a launch.
type Dim struct {
	Blocks, Threads int
	Shared          int // bytes of dynamic shared memory
	// Overlap: it may start before the kernel ahead of it in the stream has ended (programmatic
	// dependent launch); the kernel waits itself.
	Overlap bool
}

// Attribute is a device attribute's number in the driver API.
type Attribute int

// The attributes that are used (cuda.h, CUdevice_attribute).
const (
	MultiprocessorCount    Attribute = 16
	ComputeCapabilityMajor Attribute = 75
	ComputeCapabilityMinor Attribute = 76
	VirtualMemorySupported Attribute = 102
)

// MinVersion is the oldest driver API that works: 12.0 brought programmatic dependent
// launch (CUDA 12.0 release notes, 2022-12).
const MinVersion = 12000

func versionText(v int) string { return fmt.Sprintf("%d.%d", v/1000, v%1000/10) }
