//go:build cgo

package driver

// #include "shim.h"
import "C"

import (
	"encoding/hex"
	"fmt"
	"unsafe"
)

// Device is a GPU by its number.
type Device int

// Devices counts the GPUs. It, and what follows here, may be called from any thread.
func Devices() (int, error) {
	var n C.int
	err := fail("cuDeviceGetCount", C.rl_cuDeviceGetCount(&n))
	return int(n), err
}

// Name is what the driver calls the GPU.
func (d Device) Name() (string, error) {
	var buf [128]C.char
	rc := C.rl_cuDeviceGetName(&buf[0], C.int(len(buf)), C.int(d))
	return C.GoString(&buf[0]), fail("cuDeviceGetName", rc)
}

// UUID tells GPUs apart, whichever process asks.
func (d Device) UUID() (string, error) {
	var id [16]byte
	err := fail("cuDeviceGetUuid", C.rl_cuDeviceGetUuid(unsafe.Pointer(&id), C.int(d)))
	return hex.EncodeToString(id[:]), err
}

// Attribute asks for a number.
func (d Device) Attribute(a Attribute) (int, error) {
	var v C.int
	err := fail("cuDeviceGetAttribute", C.rl_cuDeviceGetAttribute(&v, C.int(a), C.int(d)))
	return int(v), err
}

// Arch is the architecture as compilers name it: sm_90.
func (d Device) Arch() (string, error) {
	major, err := d.Attribute(ComputeCapabilityMajor)
	if err != nil {
		return "", err
	}
	minor, err := d.Attribute(ComputeCapabilityMinor)
	return fmt.Sprintf("sm_%d%d", major, minor), err
}

// CanAccess reports whether d can address peer's memory.
func (d Device) CanAccess(peer Device) (bool, error) {
	var v C.int
	err := fail("cuDeviceCanAccessPeer", C.rl_cuDeviceCanAccessPeer(&v, C.int(d), C.int(peer)))
	return v != 0, err
}

// Context is a GPU's primary context.
type Context struct {
	Device Device
	c      C.handle
}

// Retain takes the GPU's primary context; Release gives it back.
func (d Device) Retain() (*Context, error) {
	x := &Context{Device: d}
	return x, fail("cuDevicePrimaryCtxRetain", C.rl_cuDevicePrimaryCtxRetain(&x.c, C.int(d)))
}

// Use makes the context current on the calling thread.
func (x *Context) Use() error { return fail("cuCtxSetCurrent", C.rl_cuCtxSetCurrent(x.c)) }

// Release gives the context back; nothing made in it may be used any more.
func (x *Context) Release() error {
	return fail("cuDevicePrimaryCtxRelease", C.rl_cuDevicePrimaryCtxRelease(C.int(x.Device)))
}

// Synchronize waits for all work of the current context.
func Synchronize() error { return fail("cuCtxSynchronize", C.rl_cuCtxSynchronize()) }
