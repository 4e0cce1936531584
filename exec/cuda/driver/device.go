//go:build cgo

package driver

// #include "shim.h"
import "C"

import (
	"fmt"
	"strings"
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
func (d Device) Name() (string, error) { return d.text("cuDeviceGetName") }

// BusID is the PCI address, in small letters: 0000:18:00.0.
func (d Device) BusID() (string, error) { return d.text("cuDeviceGetPCIBusId") }

func (d Device) text(call string) (string, error) {
	var buf [128]C.char
	var rc C.int
	if call == "cuDeviceGetName" {
		rc = C.rl_cuDeviceGetName(&buf[0], C.int(len(buf)), C.int(d))
	} else {
		rc = C.rl_cuDeviceGetPCIBusId(&buf[0], C.int(len(buf)), C.int(d))
	}
	text := C.GoString(&buf[0])
	if call != "cuDeviceGetName" {
		text = strings.ToLower(text)
	}
	return text, fail(call, rc)
}

// Memory is the GPU's memory in bytes.
func (d Device) Memory() (int64, error) {
	var n C.size_t
	err := fail("cuDeviceTotalMem", C.rl_cuDeviceTotalMem(&n, C.int(d)))
	return int64(n), err
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

// P2P asks for a number about a pair.
func (d Device) P2P(a P2PAttribute, peer Device) (int, error) {
	var v C.int
	err := fail("cuDeviceGetP2PAttribute", C.rl_cuDeviceGetP2PAttribute(&v, C.int(a), C.int(d), C.int(peer)))
	return int(v), err
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

// EnablePeer lets the current context address memory that was allocated (not mapped) on
// another one.
func EnablePeer(peer *Context) error {
	const alreadyEnabled = 704
	if rc := C.rl_cuCtxEnablePeerAccess(peer.c, 0); rc != alreadyEnabled {
		return fail("cuCtxEnablePeerAccess", rc)
	}
	return nil
}

// Synchronize waits for all work of the current context.
func Synchronize() error { return fail("cuCtxSynchronize", C.rl_cuCtxSynchronize()) }

// FreeMemory is the current GPU's free and total memory in bytes.
func FreeMemory() (free, total int64, err error) {
	var f, t C.size_t
	err = fail("cuMemGetInfo", C.rl_cuMemGetInfo(&f, &t))
	return int64(f), int64(t), err
}
