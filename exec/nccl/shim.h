// Entry points of libnccl, found with dlsym. Handles are pointers; results, types and
// operations are ints (nccl.h).
#include <stddef.h>

typedef void *handle;

// ncclSimInfo_t.
typedef struct {
	size_t size;
	unsigned magic, version;
	float estimated_us;
} ry_sim_info;

// ncclUniqueId, which is passed by value.
typedef struct { char bytes[128]; } ry_unique_id;

// X(name, parameters, arguments)
#define RY_NCCL(X) \
	X(ncclGetVersion, (int *v), (v)) \
	X(ncclCommInitAll, (handle *comms, int n, const int *devices), (comms, n, devices)) \
	X(ncclGetUniqueId, (ry_unique_id *id), (id)) \
	X(ncclCommInitRank, (handle *comm, int n, ry_unique_id id, int rank), (comm, n, id, rank)) \
	X(ncclCommDestroy, (handle comm), (comm)) \
	X(ncclCommAbort, (handle comm), (comm)) \
	X(ncclCommGetAsyncError, (handle comm, int *e), (comm, e)) \
	X(ncclGroupStart, (void), ()) \
	X(ncclGroupEnd, (void), ()) \
	X(ncclGroupSimulateEnd, (ry_sim_info *info), (info)) \
	X(ncclAllReduce, (const void *s, void *r, size_t n, int type, int op, handle comm, handle st), (s, r, n, type, op, comm, st)) \
	X(ncclAllGather, (const void *s, void *r, size_t n, int type, handle comm, handle st), (s, r, n, type, comm, st)) \
	X(ncclReduceScatter, (const void *s, void *r, size_t n, int type, int op, handle comm, handle st), (s, r, n, type, op, comm, st)) \
	X(ncclBroadcast, (const void *s, void *r, size_t n, int type, int root, handle comm, handle st), (s, r, n, type, root, comm, st)) \
	X(ncclReduce, (const void *s, void *r, size_t n, int type, int op, int root, handle comm, handle st), (s, r, n, type, op, root, comm, st)) \
	X(ncclSend, (const void *s, size_t n, int type, int peer, handle comm, handle st), (s, n, type, peer, comm, st)) \
	X(ncclRecv, (void *r, size_t n, int type, int peer, handle comm, handle st), (r, n, type, peer, comm, st)) \
	X(ncclCommWindowRegister, (handle comm, void *p, size_t n, handle *win, int flags), (comm, p, n, win, flags)) \
	X(ncclCommWindowDeregister, (handle comm, handle win), (comm, win))

// A function that the library lacks answers RY_MISSING instead of being called.
#define RY_MISSING (-1)

#define RY_DECLARE(name, params, args) int ry_##name params;
RY_NCCL(RY_DECLARE)
const char *ry_nccl_open(const char *file);
const char *ry_nccl_error(int result);
const char *ry_nccl_last_error(void);
