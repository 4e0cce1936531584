// Micro-benchmarks of links. Each kernel takes one argument block; every wait has a
// deadline and watches an abort word, so that no kernel spins for ever.

typedef unsigned long long u64;
typedef unsigned int u32;

const int maxPeers = 15;
const int flagLine = 32;  // words between flags: one 128-byte line each

struct Args {
	u64 src, dst;             // copies: from, to; messages: what is sent
	u64 inbox[maxPeers];      // messages: where they arrive, here
	u64 outbox[maxPeers];     // and there, at each peer
	u64 flags[maxPeers];      // flags that peers raise here, one line a block
	u64 theirs[maxPeers];     // flags that are raised there
	u64 result;               // ping_pong: u64 nanoseconds
	u64 counters;             // messages: u32 rounds so far, one line a block
	u64 abort;                // u32 in host memory: not 0 ends every wait
	u64 bytes;                // of a copy, or of a message to one peer
	u64 deadline;             // nanoseconds that a wait may take
	u32 peers, rounds, warmup, epoch, mode, first;
};
static_assert(sizeof(Args) == 560, "launch.go writes these bytes");

__device__ __forceinline__ u64 now() {
	u64 t;
	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
	return t;
}

__device__ __forceinline__ void put(u32 *p, u32 v, bool release) {
	if (release) asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(p), "r"(v) : "memory");
	else asm volatile("st.relaxed.sys.global.u32 [%0], %1;" ::"l"(p), "r"(v) : "memory");
}

__device__ __forceinline__ u32 get(const u32 *p, bool acquire) {
	u32 v;
	if (acquire) asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
	else asm volatile("ld.relaxed.sys.global.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
	return v;
}

// Patience ends waits: when time is over it raises the abort word for all. The clock is
// read only in long waits.
struct Patience {
	u64 allowed, end;
	u32 *abort;
	u32 polls;
	__device__ Patience(const Args &a) : allowed(a.deadline), end(0), abort((u32 *)a.abort), polls(0) {}
	__device__ bool over() {
		if (++polls & 255) return false;
		if (get(abort, false)) return true;
		u64 t = now();
		if (end == 0) end = t + allowed;
		if (t < end) return false;
		put(abort, 1, false);
		return true;
	}
};

__device__ __forceinline__ bool await(const u32 *p, u32 v, bool acquire, const Args &a) {
	Patience patience(a);
	while ((int)(get(p, acquire) - v) < 0)
		if (patience.over()) return false;
	return true;
}

// nothing is what a launch costs.
extern "C" __global__ void nothing(Args a) {}

// ping_pong bounces a flag between two GPUs; one block of one thread. mode 1:
// release and acquire.
extern "C" __global__ void ping_pong(Args a) {
	u32 *mine = (u32 *)a.flags[0], *theirs = (u32 *)a.theirs[0];
	bool ordered = a.mode == 1;
	u64 began = 0;
	for (u32 r = 1; r <= a.warmup + a.rounds; r++) {
		if (r == a.warmup + 1) began = now();
		if (a.first) put(theirs, a.epoch + r, ordered);
		if (!await(mine, a.epoch + r, ordered, a)) return;
		if (!a.first) put(theirs, a.epoch + r, ordered);
	}
	*(u64 *)a.result = now() - began;
}

__device__ __forceinline__ uint4 load16(const uint4 *p) {
	uint4 v;
	asm volatile("ld.relaxed.sys.global.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p) : "memory");
	return v;
}

__device__ __forceinline__ void store16(uint4 *p, uint4 v) {
	asm volatile("st.relaxed.sys.global.v4.u32 [%0], {%1,%2,%3,%4};" ::"l"(p), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w) : "memory");
}

// move copies n 16-byte words by the threads of all blocks, four in flight a thread.
__device__ __forceinline__ void move(uint4 *to, const uint4 *from, u64 n, u64 begin, u64 stride) {
	u64 i = begin;
	for (; i + 3 * stride < n; i += 4 * stride) {
		uint4 a = from[i], b = from[i + stride], c = from[i + 2 * stride], d = from[i + 3 * stride];
		to[i] = a, to[i + stride] = b, to[i + 2 * stride] = c, to[i + 3 * stride] = d;
	}
	for (; i < n; i += stride) to[i] = from[i];
}

// copy moves bytes from src to dst: push where dst is a peer's, pull where src is.
extern "C" __global__ void copy(Args a) {
	move((uint4 *)a.dst, (const uint4 *)a.src, a.bytes / 16, blockIdx.x * (u64)blockDim.x + threadIdx.x, gridDim.x * (u64)blockDim.x);
}

// add combines two local arrays of floats: dst += src.
extern "C" __global__ void add(Args a) {
	float4 *to = (float4 *)a.dst;
	const float4 *from = (const float4 *)a.src;
	u64 stride = gridDim.x * (u64)blockDim.x;
	for (u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x; i < a.bytes / 16; i += stride) {
		float4 x = to[i], y = from[i];
		to[i] = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
	}
}

// messages: in each round a block sends its part of a message to every peer and waits
// for theirs. Each block of a GPU talks to the same block of the others. Rounds are
// counted in memory, so that a graph can be replayed; the two halves of an inbox take
// turns, since a receiver may still read one while the next message comes.

__device__ __forceinline__ u32 *counter(const Args &a) { return (u32 *)a.counters + blockIdx.x * flagLine; }

// simple_messages stores the part in the peer's memory, then raises a flag there
// (release); the receiver waits for its flags (acquire).
extern "C" __global__ void simple_messages(Args a) {
	u64 words = a.bytes / 16, part = (words + gridDim.x - 1) / gridDim.x;
	u64 from = min(words, part * blockIdx.x), n = min(words, from + part) - from;
	const uint4 *src = (const uint4 *)a.src + from;
	__shared__ u32 epoch;
	__shared__ bool failed;
	if (threadIdx.x == 0) epoch = *counter(a), failed = false;
	__syncthreads();
	u32 last = epoch + a.rounds;
	for (u32 r = epoch + 1; r != last + 1; r++) {
		u64 half = (r & 1) * words + from;
		for (u32 p = 0; p < a.peers; p++) move((uint4 *)a.outbox[p] + half, src, n, threadIdx.x, blockDim.x);
		__syncthreads();
		if (threadIdx.x < a.peers) put((u32 *)a.theirs[threadIdx.x] + blockIdx.x * flagLine, r, true);
		if (threadIdx.x < a.peers && !await((u32 *)a.flags[threadIdx.x] + blockIdx.x * flagLine, r, true, a)) failed = true;
		__syncthreads();
		if (failed) return;
	}
	if (threadIdx.x == 0) *counter(a) = last;
}

// ll_messages stores packets of two words of data and two flags; the receiver polls the
// packets themselves and stores the data in its own memory.
extern "C" __global__ void ll_messages(Args a) {
	u64 packets = a.bytes / 8, part = (packets + gridDim.x - 1) / gridDim.x;
	u64 begin = min(packets, part * blockIdx.x), end = min(packets, begin + part);
	const uint2 *src = (const uint2 *)a.src;
	uint2 *dst = (uint2 *)a.dst;
	__shared__ u32 epoch;
	__shared__ bool failed;
	if (threadIdx.x == 0) epoch = *counter(a), failed = false;
	__syncthreads();
	u32 last = epoch + a.rounds;
	for (u32 r = epoch + 1; r != last + 1; r++) {
		u64 half = (r & 1) * packets;
		for (u64 i = begin + threadIdx.x; i < end; i += blockDim.x) {
			uint2 d = src[i];
			for (u32 p = 0; p < a.peers; p++) store16((uint4 *)a.outbox[p] + half + i, make_uint4(d.x, r, d.y, r));
		}
		for (u64 i = begin + threadIdx.x; i < end && !failed; i += blockDim.x) {
			for (u32 p = 0; p < a.peers; p++) {
				const uint4 *in = (const uint4 *)a.inbox[p] + half + i;
				uint4 v = load16(in);
				Patience patience(a);
				while ((int)(v.y - r) < 0 || (int)(v.w - r) < 0) {  // a ring may be rounds ahead
					if (patience.over()) { failed = true; break; }
					v = load16(in);
				}
				dst[i] = make_uint2(v.x, v.z);
			}
		}
		__syncthreads();
		if (failed) return;
	}
	if (threadIdx.x == 0) *counter(a) = last;
}
