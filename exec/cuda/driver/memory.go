//go:build cgo

package driver

// #include "shim.h"
import "C"

import (
	"fmt"
	"unsafe"
)

// Ptr is an address of GPU memory, or of host memory as GPUs see it.
type Ptr uint64

// Mapping is memory of one GPU that several can address (cuMemCreate, cuMemMap): what
// NCCL's windows need.
type Mapping struct {
	At   Ptr
	Size int64
	mem  C.uint64_t
}

// Map allocates bytes on a GPU, rounded up to the driver's granularity, and maps them
// for all the GPUs of users.
func Map(on Device, bytes int64, users []Device) (*Mapping, error) {
	const pinned, deviceLocation, readWrite = 1, 1, 3
	prop := C.rl_alloc_prop{}
	prop._type, prop.location._type, prop.location.id = pinned, deviceLocation, C.int(on)
	prop.handle_types = 1 // a file descriptor: NCCL's windows ask for an exportable handle
	var grain C.size_t
	if err := fail("cuMemGetAllocationGranularity", C.rl_cuMemGetAllocationGranularity(&grain, &prop, 1)); err != nil {
		return nil, err
	}
	size := (C.size_t(max(bytes, 1)) + grain - 1) / grain * grain
	m := &Mapping{Size: int64(size)}
	if err := fail("cuMemCreate", C.rl_cuMemCreate(&m.mem, size, &prop, 0)); err != nil {
		return nil, fmt.Errorf("%d bytes on GPU %d: %w", size, on, err)
	}
	var at C.devptr
	if err := fail("cuMemAddressReserve", C.rl_cuMemAddressReserve(&at, size, 0, 0, 0)); err != nil {
		C.rl_cuMemRelease(m.mem)
		return nil, err
	}
	m.At = Ptr(at)
	if err := fail("cuMemMap", C.rl_cuMemMap(at, size, 0, m.mem, 0)); err != nil {
		C.rl_cuMemAddressFree(at, size)
		C.rl_cuMemRelease(m.mem)
		return nil, err
	}
	access := make([]C.rl_access, len(users))
	for i, d := range users {
		access[i].location._type, access[i].location.id, access[i].flags = deviceLocation, C.int(d), readWrite
	}
	if err := fail("cuMemSetAccess", C.rl_cuMemSetAccess(at, size, &access[0], C.size_t(len(access)))); err != nil {
		m.Free()
		return nil, err
	}
	return m, nil
}

// Free unmaps and releases; all GPUs must be done with it.
func (m *Mapping) Free() error {
	if err := fail("cuMemUnmap", C.rl_cuMemUnmap(C.devptr(m.At), C.size_t(m.Size))); err != nil {
		return err
	}
	C.rl_cuMemAddressFree(C.devptr(m.At), C.size_t(m.Size))
	return fail("cuMemRelease", C.rl_cuMemRelease(m.mem))
}

// Alloc takes memory on the current GPU.
func Alloc(bytes int64) (Ptr, error) {
	var p C.devptr
	err := fail("cuMemAlloc", C.rl_cuMemAlloc(&p, C.size_t(max(bytes, 1))))
	return Ptr(p), err
}

// HostMemory is pinned memory of this machine that all GPUs can address.
type HostMemory struct {
	Bytes []byte
	At    Ptr // as GPUs address it
}

// AllocHost takes pinned memory, zeroed.
func AllocHost(bytes int) (*HostMemory, error) {
	const portable, mapped = 1, 2
	var p unsafe.Pointer
	if err := fail("cuMemHostAlloc", C.rl_cuMemHostAlloc(&p, C.size_t(bytes), portable|mapped)); err != nil {
		return nil, err
	}
	m := &HostMemory{Bytes: unsafe.Slice((*byte)(p), bytes)}
	clear(m.Bytes)
	var at C.devptr
	err := fail("cuMemHostGetDevicePointer", C.rl_cuMemHostGetDevicePointer(&at, p, 0))
	m.At = Ptr(at)
	return m, err
}

// Free gives the memory back.
func (m *HostMemory) Free() error {
	return fail("cuMemFreeHost", C.rl_cuMemFreeHost(unsafe.Pointer(&m.Bytes[0])))
}

// Upload copies host memory to the GPU and waits.
func Upload(to Ptr, from []byte) error {
	if len(from) == 0 {
		return nil
	}
	return fail("cuMemcpyHtoD", C.rl_cuMemcpyHtoD(C.devptr(to), unsafe.Pointer(&from[0]), C.size_t(len(from))))
}

// Download copies GPU memory to the host and waits.
func Download(to []byte, from Ptr) error {
	if len(to) == 0 {
		return nil
	}
	return fail("cuMemcpyDtoH", C.rl_cuMemcpyDtoH(unsafe.Pointer(&to[0]), C.devptr(from), C.size_t(len(to))))
}
