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
	const pinned = 1
	prop := C.rl_alloc_prop{}
	prop._type, prop.location._type, prop.location.id = pinned, deviceLocation, C.int(on)
	prop.handle_types = fileDescriptor // NCCL's windows ask for an exportable handle, too
	var grain C.size_t
	if err := fail("cuMemGetAllocationGranularity", C.rl_cuMemGetAllocationGranularity(&grain, &prop, 1)); err != nil {
		return nil, err
	}
	size := (C.size_t(max(bytes, 1)) + grain - 1) / grain * grain
	m := &Mapping{Size: int64(size)}
	if err := fail("cuMemCreate", C.rl_cuMemCreate(&m.mem, size, &prop, 0)); err != nil {
		return nil, fmt.Errorf("%d bytes on GPU %d: %w", size, on, err)
	}
	return m, m.place(users)
}

// Handles of memory, and where it lies, as cuda.h numbers them.
const (
	fileDescriptor = 1
	deviceLocation = 1
)

// Export is the memory as a file descriptor, by which other processes of this machine Import it; whoever gets it closes it.
func (m *Mapping) Export() (fd int, err error) {
	var n C.int
	err = fail("cuMemExportToShareableHandle", C.rl_cuMemExportToShareableHandle(unsafe.Pointer(&n), m.mem, fileDescriptor, 0))
	return int(n), err
}

// Import maps another process's memory for all the GPUs of users. The memory stays as long as anybody has it mapped. The
// descriptor may be closed afterwards.
func Import(fd int, bytes int64, users []Device) (*Mapping, error) {
	m := &Mapping{Size: bytes}
	if err := fail("cuMemImportFromShareableHandle", C.rl_import(&m.mem, C.int(fd))); err != nil {
		return nil, err
	}
	return m, m.place(users)
}

// place maps the memory into addresses of its own. After an error nothing is left of it.
func (m *Mapping) place(users []Device) error {
	const readWrite = 3
	size := C.size_t(m.Size)
	var at C.devptr
	if err := fail("cuMemAddressReserve", C.rl_cuMemAddressReserve(&at, size, 0, 0, 0)); err != nil {
		C.rl_cuMemRelease(m.mem)
		return err
	}
	m.At = Ptr(at)
	if err := fail("cuMemMap", C.rl_cuMemMap(at, size, 0, m.mem, 0)); err != nil {
		C.rl_cuMemAddressFree(at, size)
		C.rl_cuMemRelease(m.mem)
		return err
	}
	access := make([]C.rl_access, len(users))
	for i, d := range users {
		access[i].location._type, access[i].location.id, access[i].flags = deviceLocation, C.int(d), readWrite
	}
	if err := fail("cuMemSetAccess", C.rl_cuMemSetAccess(at, size, &access[0], C.size_t(len(access)))); err != nil {
		m.Free()
		return err
	}
	return nil
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

// Free gives memory of Alloc back, when what uses it has ended.
func (p Ptr) Free() error { return fail("cuMemFree", C.rl_cuMemFree(C.devptr(p))) }

// Alloc takes memory of the device's pool in the stream's order.
func (s Stream) Alloc(bytes int64) (Ptr, error) {
	var p C.devptr
	err := fail("cuMemAllocAsync", C.rl_cuMemAllocAsync(&p, C.size_t(max(bytes, 1)), s.s))
	return Ptr(p), err
}

// Free gives memory of Alloc back to the pool, in the stream's order.
func (s Stream) Free(p Ptr) error {
	return fail("cuMemFreeAsync", C.rl_cuMemFreeAsync(C.devptr(p), s.s))
}

// HostMemory is pinned memory of this machine that all GPUs can address.
type HostMemory struct {
	Bytes []byte
	At    Ptr  // as GPUs address it
	lent  bool // pinned by Pin, else of AllocHost
}

const portable, mapped = 1, 2

// AllocHost takes pinned memory, zeroed.
func AllocHost(bytes int) (*HostMemory, error) {
	var p unsafe.Pointer
	if err := fail("cuMemHostAlloc", C.rl_cuMemHostAlloc(&p, C.size_t(bytes), portable|mapped)); err != nil {
		return nil, err
	}
	m := &HostMemory{Bytes: unsafe.Slice((*byte)(p), bytes)}
	clear(m.Bytes)
	return m, m.resolve()
}

// Pin lets GPUs address memory that stays where it is, such as a file's. Free only ends that.
func Pin(memory []byte) (*HostMemory, error) {
	m := &HostMemory{Bytes: memory, lent: true}
	if err := fail("cuMemHostRegister", C.rl_cuMemHostRegister(m.first(), C.size_t(len(memory)), portable|mapped)); err != nil {
		return nil, err
	}
	return m, m.resolve()
}

func (m *HostMemory) first() unsafe.Pointer { return unsafe.Pointer(&m.Bytes[0]) }

func (m *HostMemory) resolve() error {
	var at C.devptr
	err := fail("cuMemHostGetDevicePointer", C.rl_cuMemHostGetDevicePointer(&at, m.first(), 0))
	m.At = Ptr(at)
	return err
}

// Free gives the memory back.
func (m *HostMemory) Free() error {
	if m.lent {
		return fail("cuMemHostUnregister", C.rl_cuMemHostUnregister(m.first()))
	}
	return fail("cuMemFreeHost", C.rl_cuMemFreeHost(m.first()))
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
