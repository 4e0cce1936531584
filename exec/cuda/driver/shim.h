// Entry points of libcuda and libnvrtc, found with dlsym. Types are those of the CUDA
// driver API, spelled out: handles are pointers, CUdevice an int, CUdeviceptr 64 bits.
#include <stddef.h>
#include <stdint.h>

typedef void *handle;
typedef uint64_t devptr;

// CUmemLocation, CUmemAllocationProp and CUmemAccessDesc as in cuda.h.
typedef struct { int type, id; } rl_location;
typedef struct {
	int type, handle_types;
	rl_location location;
	void *win32;
	unsigned char compression, gdr;
	unsigned short usage;
	unsigned char reserved[4];
} rl_alloc_prop;
typedef struct { rl_location location; int flags; } rl_access;

// CUlaunchConfig with its attributes: an id, padded to 8 bytes, and 64 bytes of value.
typedef struct { int id; char pad[4]; union { char bytes[64]; int number; } value; } rl_launch_attr;
typedef struct {
	unsigned gx, gy, gz, bx, by, bz, shared;
	handle stream;
	rl_launch_attr *attrs;
	unsigned nattrs;
} rl_launch_config;

// X(library, name, symbol, parameters, arguments)
#define RL_FUNCTIONS(X) \
	X(0, cuInit, "cuInit", (unsigned flags), (flags)) \
	X(0, cuDriverGetVersion, "cuDriverGetVersion", (int *v), (v)) \
	X(0, cuGetErrorName, "cuGetErrorName", (int e, const char **s), (e, s)) \
	X(0, cuGetErrorString, "cuGetErrorString", (int e, const char **s), (e, s)) \
	X(0, cuDeviceGetCount, "cuDeviceGetCount", (int *n), (n)) \
	X(0, cuDeviceGetName, "cuDeviceGetName", (char *s, int n, int d), (s, n, d)) \
	X(0, cuDeviceGetUuid, "cuDeviceGetUuid_v2", (void *id, int d), (id, d)) \
	X(0, cuDeviceGetAttribute, "cuDeviceGetAttribute", (int *v, int a, int d), (v, a, d)) \
	X(0, cuDeviceCanAccessPeer, "cuDeviceCanAccessPeer", (int *v, int d, int peer), (v, d, peer)) \
	X(0, cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain", (handle *c, int d), (c, d)) \
	X(0, cuDevicePrimaryCtxRelease, "cuDevicePrimaryCtxRelease_v2", (int d), (d)) \
	X(0, cuCtxSetCurrent, "cuCtxSetCurrent", (handle c), (c)) \
	X(0, cuCtxSynchronize, "cuCtxSynchronize", (void), ()) \
	X(0, cuMemGetAllocationGranularity, "cuMemGetAllocationGranularity", (size_t *g, const rl_alloc_prop *p, int option), (g, p, option)) \
	X(0, cuMemCreate, "cuMemCreate", (uint64_t *h, size_t n, const rl_alloc_prop *p, uint64_t flags), (h, n, p, flags)) \
	X(0, cuMemRelease, "cuMemRelease", (uint64_t h), (h)) \
	X(0, cuMemAddressReserve, "cuMemAddressReserve", (devptr *p, size_t n, size_t align, devptr at, uint64_t flags), (p, n, align, at, flags)) \
	X(0, cuMemAddressFree, "cuMemAddressFree", (devptr p, size_t n), (p, n)) \
	X(0, cuMemMap, "cuMemMap", (devptr p, size_t n, size_t off, uint64_t h, uint64_t flags), (p, n, off, h, flags)) \
	X(0, cuMemUnmap, "cuMemUnmap", (devptr p, size_t n), (p, n)) \
	X(0, cuMemSetAccess, "cuMemSetAccess", (devptr p, size_t n, const rl_access *a, size_t count), (p, n, a, count)) \
	X(0, cuMemExportToShareableHandle, "cuMemExportToShareableHandle", (void *to, uint64_t h, int type, uint64_t flags), (to, h, type, flags)) \
	X(0, cuMemImportFromShareableHandle, "cuMemImportFromShareableHandle", (uint64_t *h, void *from, int type), (h, from, type)) \
	X(0, cuMemAlloc, "cuMemAlloc_v2", (devptr *p, size_t n), (p, n)) \
	X(0, cuMemFree, "cuMemFree_v2", (devptr p), (p)) \
	X(0, cuMemAllocAsync, "cuMemAllocAsync", (devptr *p, size_t n, handle st), (p, n, st)) \
	X(0, cuMemFreeAsync, "cuMemFreeAsync", (devptr p, handle st), (p, st)) \
	X(0, cuMemHostAlloc, "cuMemHostAlloc", (void **p, size_t n, unsigned flags), (p, n, flags)) \
	X(0, cuMemHostRegister, "cuMemHostRegister_v2", (void *p, size_t n, unsigned flags), (p, n, flags)) \
	X(0, cuMemHostUnregister, "cuMemHostUnregister", (void *p), (p)) \
	X(0, cuMemFreeHost, "cuMemFreeHost", (void *p), (p)) \
	X(0, cuMemHostGetDevicePointer, "cuMemHostGetDevicePointer_v2", (devptr *d, void *p, unsigned flags), (d, p, flags)) \
	X(0, cuMemcpyHtoD, "cuMemcpyHtoD_v2", (devptr d, const void *s, size_t n), (d, s, n)) \
	X(0, cuMemcpyDtoH, "cuMemcpyDtoH_v2", (void *d, devptr s, size_t n), (d, s, n)) \
	X(0, cuMemcpyHtoDAsync, "cuMemcpyHtoDAsync_v2", (devptr d, const void *s, size_t n, handle st), (d, s, n, st)) \
	X(0, cuMemcpyDtoHAsync, "cuMemcpyDtoHAsync_v2", (void *d, devptr s, size_t n, handle st), (d, s, n, st)) \
	X(0, cuMemcpyDtoDAsync, "cuMemcpyDtoDAsync_v2", (devptr d, devptr s, size_t n, handle st), (d, s, n, st)) \
	X(0, cuMemsetD8Async, "cuMemsetD8Async", (devptr d, unsigned char v, size_t n, handle st), (d, v, n, st)) \
	X(0, cuStreamCreate, "cuStreamCreate", (handle *s, unsigned flags), (s, flags)) \
	X(0, cuStreamSynchronize, "cuStreamSynchronize", (handle s), (s)) \
	X(0, cuStreamQuery, "cuStreamQuery", (handle s), (s)) \
	X(0, cuStreamWaitEvent, "cuStreamWaitEvent", (handle s, handle e, unsigned flags), (s, e, flags)) \
	X(0, cuStreamBeginCapture, "cuStreamBeginCapture_v2", (handle s, int mode), (s, mode)) \
	X(0, cuStreamEndCapture, "cuStreamEndCapture", (handle s, handle *g), (s, g)) \
	X(0, cuGraphInstantiate, "cuGraphInstantiateWithFlags", (handle *x, handle g, uint64_t flags), (x, g, flags)) \
	X(0, cuGraphUpload, "cuGraphUpload", (handle x, handle s), (x, s)) \
	X(0, cuGraphLaunch, "cuGraphLaunch", (handle x, handle s), (x, s)) \
	X(0, cuGraphExecDestroy, "cuGraphExecDestroy", (handle x), (x)) \
	X(0, cuGraphDestroy, "cuGraphDestroy", (handle g), (g)) \
	X(0, cuEventCreate, "cuEventCreate", (handle *e, unsigned flags), (e, flags)) \
	X(0, cuEventDestroy, "cuEventDestroy_v2", (handle e), (e)) \
	X(0, cuEventRecord, "cuEventRecord", (handle e, handle s), (e, s)) \
	X(0, cuEventElapsedTime, "cuEventElapsedTime", (float *ms, handle a, handle b), (ms, a, b)) \
	X(0, cuModuleLoadData, "cuModuleLoadData", (handle *m, const void *image), (m, image)) \
	X(0, cuModuleUnload, "cuModuleUnload", (handle m), (m)) \
	X(0, cuModuleGetFunction, "cuModuleGetFunction", (handle *f, handle m, const char *name), (f, m, name)) \
	X(0, cuFuncSetAttribute, "cuFuncSetAttribute", (handle f, int a, int v), (f, a, v)) \
	X(0, cuOccupancy, "cuOccupancyMaxActiveBlocksPerMultiprocessor", (int *n, handle f, int threads, size_t shared), (n, f, threads, shared)) \
	X(0, cuLaunchKernelEx, "cuLaunchKernelEx", (const rl_launch_config *c, handle f, void **params, void **extra), (c, f, params, extra)) \
	X(1, nvrtcVersion, "nvrtcVersion", (int *major, int *minor), (major, minor)) \
	X(1, nvrtcCreateProgram, "nvrtcCreateProgram", (handle *p, const char *src, const char *name, int n, const char *const *headers, const char *const *names), (p, src, name, n, headers, names)) \
	X(1, nvrtcDestroyProgram, "nvrtcDestroyProgram", (handle *p), (p)) \
	X(1, nvrtcCompileProgram, "nvrtcCompileProgram", (handle p, int n, const char *const *options), (p, n, options)) \
	X(1, nvrtcGetCUBINSize, "nvrtcGetCUBINSize", (handle p, size_t *n), (p, n)) \
	X(1, nvrtcGetCUBIN, "nvrtcGetCUBIN", (handle p, char *s), (p, s)) \
	X(1, nvrtcGetProgramLogSize, "nvrtcGetProgramLogSize", (handle p, size_t *n), (p, n)) \
	X(1, nvrtcGetProgramLog, "nvrtcGetProgramLog", (handle p, char *s), (p, s))

// A function that the library lacks answers RL_MISSING instead of being called.
#define RL_MISSING (-1)

#define RL_DECLARE(lib, name, symbol, params, args) int rl_##name params;
RL_FUNCTIONS(RL_DECLARE)

// rl_open loads library lib (0: libcuda, 1: libnvrtc) from a file and looks all its
// functions up. It returns NULL, or what went wrong, in static memory.
const char *rl_open(int lib, const char *file);

// rl_launch starts a kernel with one parameter; overlap lets it start before the kernel
// ahead of it has ended (programmatic stream serialization).
int rl_launch(handle f, handle stream, unsigned blocks, unsigned threads, unsigned shared, int overlap, void *param);

// rl_import takes memory that a file descriptor stands for, which the driver wants as if it were a pointer.
int rl_import(uint64_t *h, int fd);
