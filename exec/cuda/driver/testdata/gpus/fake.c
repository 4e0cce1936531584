// Four GPUs that compute nothing: memory is addresses, kernels take a time and change nothing,
// a library's collective takes another. It runs what launches and times, without GPUs. One
// file stands for libcuda, libnvrtc and libnccl; they share the structures that handles point to.
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Milliseconds that things take.
static const float kernelTakes = 0.002f, launchTakes = 0.003f, collectiveTakes = 0.010f;

typedef struct { float now; float graph; int captures; } Stream;
typedef struct { float at, graph; int captures; } Event;
typedef struct { float takes; } Graph;

// launched puts work on a stream: in a graph what it takes alone, else its launch as well.
static int launched(Stream *s, float takes)
{
	if (s->captures) s->graph += takes;
	else s->now += takes + launchTakes;
	return 0;
}

int cuGetErrorName(int e, const char **s) { return *s = "FAKE", 0; }
int cuGetErrorString(int e, const char **s) { return *s = "a fake error", 0; }
int cuDriverGetVersion(int *v) { return *v = 13000, 0; }
int cuDeviceGetCount(int *n) { return *n = 4, 0; }
int cuDeviceGetName(char *s, int n, int d) { return snprintf(s, n, "NVIDIA H200"), 0; }
int cuDeviceGetAttribute(int *v, int a, int d) { return *v = a == 16 ? 132 : a == 75 ? 9 : a == 76 ? 0 : a == 39 ? 2048 : 1, 0; }
int cuDeviceGetUuid_v2(char *id, int d) { return memset(id, d + 1, 16), 0; }
int cuDeviceCanAccessPeer(int *v, int d, int peer) { return *v = 1, 0; }
int cuDevicePrimaryCtxRetain(void **c, int d) { return *c = malloc(1), 0; }
int cuMemGetAllocationGranularity(size_t *g, const void *p, int option) { return *g = 2 << 20, 0; }

static uint64_t taken = (uint64_t)1 << 40;
int cuMemAddressReserve(uint64_t *p, size_t n, size_t align, uint64_t at, uint64_t flags) { return *p = __atomic_fetch_add(&taken, n, __ATOMIC_RELAXED), 0; }
int cuMemAlloc_v2(uint64_t *p, size_t n) { return cuMemAddressReserve(p, n, 0, 0, 0); }
int cuMemAllocAsync(uint64_t *p, size_t n, void *st) { return cuMemAddressReserve(p, n, 0, 0, 0); }
int cuMemExportToShareableHandle(int *fd, uint64_t h, int type, uint64_t flags) { return *fd = open("/dev/null", O_RDONLY), 0; }
int cuMemHostAlloc(void **p, size_t n, unsigned flags) { return *p = calloc(1, n), 0; }
int cuMemHostGetDevicePointer_v2(uint64_t *d, void *p, unsigned flags) { return *d = (uint64_t)p, 0; }

// What is read is 0, but for numbers of nanoseconds: 2,000 flags there and back, 700 ns each.
int cuMemcpyDtoH_v2(void *d, uint64_t s, size_t n)
{
	memset(d, 0, n);
	if (n == 8) *(uint64_t *)d = 2000 * 2 * 700;
	return 0;
}

static int copied(Stream *s, size_t n) { return launched(s, n / 4e8f); }  // 400 GB/s
int cuMemcpyDtoHAsync_v2(void *d, uint64_t s, size_t n, void *st) { return memset(d, 0, n), copied(st, n); }
int cuMemcpyHtoDAsync_v2(uint64_t d, const void *s, size_t n, void *st) { return copied(st, n); }
int cuMemcpyDtoDAsync_v2(uint64_t d, uint64_t s, size_t n, void *st) { return copied(st, n); }

int cuStreamCreate(Stream **s, unsigned flags) { return *s = calloc(1, sizeof **s), 0; }
int cuStreamQuery(Stream *s) { return getenv("RAILYARD_FAKE_BUSY") ? 600 : 0; }  // not ready
int cuStreamBeginCapture_v2(Stream *s, int mode) { return s->captures = 1, s->graph = 0, 0; }
int cuStreamEndCapture(Stream *s, Graph **g) { return *g = malloc(sizeof **g), (*g)->takes = s->graph, s->captures = 0, 0; }
int cuGraphInstantiateWithFlags(Graph **x, Graph *g, uint64_t flags) { return *x = malloc(sizeof **x), **x = *g, 0; }
int cuGraphLaunch(Graph *x, Stream *s) { return s->now += x->takes, 0; }
int cuEventCreate(Event **e, unsigned flags) { return *e = calloc(1, sizeof **e), 0; }
int cuEventRecord(Event *e, Stream *s) { return *e = (Event){s->now, s->graph, s->captures}, 0; }
int cuStreamWaitEvent(Stream *s, const Event *e, unsigned flags)  // a stream that waits for one that is captured is so too
{
	if (e->captures && !s->captures) s->graph = 0;
	s->captures = e->captures;
	if (s->captures && s->graph < e->graph) s->graph = e->graph;
	if (!s->captures && s->now < e->at) s->now = e->at;
	return 0;
}
int cuEventElapsedTime(float *ms, Event *a, Event *b) { return *ms = b->at - a->at, 0; }

int cuModuleLoadData(void **m, const void *image)
{
	const char *stuck = getenv("RAILYARD_FAKE_STUCK");  // a driver that waits for what does not come, and leaves a file of that name
	char file[4096];
	if (stuck && snprintf(file, sizeof file, "%s-%d", stuck, getpid()) > 0) close(creat(file, 0600));
	while (stuck) pause();
	return *m = malloc(1), 0;
}
int cuModuleGetFunction(void **f, void *m, const char *name) { return *f = malloc(1), 0; }
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *n, void *f, int threads, size_t shared) { return *n = 4, 0; }
typedef struct { unsigned grid[3], block[3], shared; Stream *stream; void *attrs; unsigned nattrs; } Launch;
int cuLaunchKernelEx(const Launch *c, void *f, void **params, void **extra) { return launched(c->stream, kernelTakes); }

int nvrtcVersion(int *major, int *minor) { return *major = 13, *minor = 0, 0; }
int nvrtcCreateProgram(void **p, const char *src, const char *name, int n, const char *const *headers, const char *const *names) { return *p = malloc(1), 0; }
int nvrtcGetCUBINSize(void *p, size_t *n) { return *n = 4, 0; }
int nvrtcGetCUBIN(void *p, char *s) { return memcpy(s, "code", 4), 0; }
int nvrtcGetProgramLogSize(void *p, size_t *n) { return *n = 1, 0; }
int nvrtcGetProgramLog(void *p, char *s) { return *s = 0, 0; }

int ncclGetVersion(int *v) { return *v = 22809, 0; }
const char *ncclGetErrorString(int e) { return "a fake error"; }

// A communicator is what its sums take: trees are faster than what the library chooses by itself, rings slower where they are asked for.
int ncclCommInitAll(void **comms, int n, const int *devices)
{
	const char *algo = getenv("NCCL_ALGO"), *proto = getenv("NCCL_PROTO");
	for (int i = 0; i < n; i++) {
		float *takes = comms[i] = malloc(sizeof *takes);
		*takes = collectiveTakes;
		if (algo && !strcmp(algo, "tree")) *takes *= 0.8f;
		else if (algo && proto && *algo && strcmp(proto, "ll128")) *takes *= 1.2f;
	}
	return 0;
}
int ncclAllReduce(const void *s, void *r, size_t n, int type, int op, void *comm, Stream *st)
{
	return launched(st, comm ? *(float *)comm : collectiveTakes);
}
int ncclBroadcast(const void *s, void *r, size_t n, int type, int root, void *comm, Stream *st) { return launched(st, collectiveTakes); }
int ncclCommWindowRegister(void *comm, void *p, size_t n, void **win, int flags) { return *win = malloc(1), 0; }
