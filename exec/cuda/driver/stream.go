//go:build cgo

package driver

// #include "shim.h"
import "C"

import (
	"runtime"
	"time"
	"unsafe"
)

// Stream is a queue of work of the context that was current when it was made.
type Stream struct{ s C.handle }

// NewStream makes a stream that does not wait for the default one.
func NewStream() (Stream, error) {
	const nonBlocking = 1
	var s Stream
	return s, fail("cuStreamCreate", C.rl_cuStreamCreate(&s.s, nonBlocking))
}

// Handle is the CUstream, for libraries that take one.
func (s Stream) Handle() unsafe.Pointer { return unsafe.Pointer(s.s) }

// Synchronize waits for the stream's work.
func (s Stream) Synchronize() error {
	return fail("cuStreamSynchronize", C.rl_cuStreamSynchronize(s.s))
}

// notReady is CUDA_ERROR_NOT_READY.
const notReady = 600

// Done reports whether the stream's work has ended.
func (s Stream) Done() (bool, error) {
	rc := C.rl_cuStreamQuery(s.s)
	if rc == notReady {
		return false, nil
	}
	return rc == 0, fail("cuStreamQuery", rc)
}

// Copy copies GPU memory, between GPUs by a copy engine.
func (s Stream) Copy(to, from Ptr, bytes int64) error {
	return fail("cuMemcpyDtoDAsync", C.rl_cuMemcpyDtoDAsync(C.devptr(to), C.devptr(from), C.size_t(bytes), s.s))
}

// CopyFromHost copies pinned memory to the GPU.
func (s Stream) CopyFromHost(to Ptr, from []byte) error {
	return fail("cuMemcpyHtoDAsync", C.rl_cuMemcpyHtoDAsync(C.devptr(to), unsafe.Pointer(&from[0]), C.size_t(len(from)), s.s))
}

// CopyToHost copies GPU memory to pinned memory.
func (s Stream) CopyToHost(to []byte, from Ptr) error {
	return fail("cuMemcpyDtoHAsync", C.rl_cuMemcpyDtoHAsync(unsafe.Pointer(&to[0]), C.devptr(from), C.size_t(len(to)), s.s))
}

// Fill sets every byte.
func (s Stream) Fill(at Ptr, value byte, bytes int64) error {
	return fail("cuMemsetD8Async", C.rl_cuMemsetD8Async(C.devptr(at), C.uchar(value), C.size_t(bytes), s.s))
}

// Wait holds the stream until an event has happened.
func (s Stream) Wait(e Event) error {
	return fail("cuStreamWaitEvent", C.rl_cuStreamWaitEvent(s.s, e.e, 0))
}

// Graph is captured work that can be launched again and again.
type Graph struct{ x C.handle }

// Capture records what work puts on the stream (and on streams that wait for its
// events) without running it.
func (s Stream) Capture(work func() error) (Graph, error) {
	graphs, err := CaptureAll([]Stream{s}, work)
	if len(graphs) == 0 {
		return Graph{}, err
	}
	return graphs[0], err
}

// Launch runs the graph on a stream.
func (g Graph) Launch(s Stream) error { return fail("cuGraphLaunch", C.rl_cuGraphLaunch(g.x, s.s)) }

// Destroy gives the graph back; one that was never made is none.
func (g Graph) Destroy() error {
	if g.x == nil {
		return nil
	}
	return fail("cuGraphExecDestroy", C.rl_cuGraphExecDestroy(g.x))
}

// Event is a mark in a stream.
type Event struct{ e C.handle }

// NewEvent makes an event; one that is not timed costs less.
func NewEvent(timed bool) (Event, error) {
	var e Event
	flags := C.uint(2)
	if timed {
		flags = 0
	}
	return e, fail("cuEventCreate", C.rl_cuEventCreate(&e.e, flags))
}

// Record puts the event behind the stream's work so far.
func (e Event) Record(s Stream) error { return fail("cuEventRecord", C.rl_cuEventRecord(e.e, s.s)) }

// Destroy gives the event back.
func (e Event) Destroy() error { return fail("cuEventDestroy", C.rl_cuEventDestroy(e.e)) }

// Since is the time from an earlier event of the same GPU; both must have happened.
func (e Event) Since(began Event) (time.Duration, error) {
	var ms C.float
	err := fail("cuEventElapsedTime", C.rl_cuEventElapsedTime(&ms, began.e, e.e))
	return time.Duration(float64(ms) * 1e6), err
}

// Module is loaded machine code.
type Module struct{ m C.handle }

// LoadModule loads machine code into the current context.
func LoadModule(code []byte) (Module, error) {
	var m Module
	err := fail("cuModuleLoadData", C.rl_cuModuleLoadData(&m.m, unsafe.Pointer(&code[0])))
	runtime.KeepAlive(code)
	return m, err
}

// Unload gives the module back.
func (m Module) Unload() error { return fail("cuModuleUnload", C.rl_cuModuleUnload(m.m)) }

// Kernel is a function of a module.
type Kernel struct{ f C.handle }

// Kernel finds a function by its name (extern "C").
func (m Module) Kernel(name string) (Kernel, error) {
	var pool cStrings
	defer pool.free()
	var k Kernel
	return k, fail("cuModuleGetFunction("+name+")", C.rl_cuModuleGetFunction(&k.f, m.m, pool.one(name)))
}

// Resident is how many blocks of the shape fit on one multiprocessor at once.
func (k Kernel) Resident(d Dim) (int, error) {
	if d.Shared > 48<<10 {
		const maxDynamicShared = 8
		if err := fail("cuFuncSetAttribute", C.rl_cuFuncSetAttribute(k.f, maxDynamicShared, C.int(d.Shared))); err != nil {
			return 0, err
		}
	}
	var n C.int
	err := fail("cuOccupancyMaxActiveBlocksPerMultiprocessor", C.rl_cuOccupancy(&n, k.f, C.int(d.Threads), C.size_t(d.Shared)))
	return int(n), err
}

// Bytes are a kernel's parameter as it lies in memory: a structure of numbers, each aligned to its size, in the
// kernel's layout.
func Bytes[T any](parameter *T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(parameter)), unsafe.Sizeof(*parameter))
}

// Launch starts a kernel with one parameter, a structure of bytes in the kernel's layout.
func (k Kernel) Launch(s Stream, d Dim, parameter []byte) error {
	overlap := C.int(0)
	if d.Overlap {
		overlap = 1
	}
	return fail("cuLaunchKernelEx", C.rl_launch(k.f, s.s, C.uint(d.Blocks), C.uint(d.Threads), C.uint(d.Shared), overlap,
		unsafe.Pointer(&parameter[0])))
}
