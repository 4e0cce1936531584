// Micro-benchmarks of links. Each kernel takes one argument block; every wait has a
// deadline and watches an abort word, so that no kernel spins for ever.

typedef unsigned long long u64;
typedef unsigned int u32;

const int maxPeers = 15;
const int flagLine = 32;  // words between flags: one 128-byte line each

// Peer is another GPU: where its messages arrive here and ours there, flags likewise,
// one line a block.
struct Peer {
	u64 inbox, outbox, flags, theirs;
};

// Args begins with what every kernel reads, since each line of parameters is a miss of
// its own when a kernel starts.
struct Args {
	u64 src, dst;             // copies: from, to; messages: what is sent, what is received
	u64 bytes;                // of a copy, or of a message to one peer
	u64 counters;             // messages: u32 rounds so far, one line a block
	u32 peers, rounds;
	u64 abort;                // u32 in host memory: not 0 ends every wait
	u64 deadline;             // nanoseconds that a wait may take
	u64 result;               // ping_pong: u64 nanoseconds
	Peer peer[maxPeers];
	u32 warmup, epoch, mode, first;
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

// Patience ends waits: when time is over it raises the abort word for all. Clock and
// word are read only in waits of milliseconds: the word lies in host memory, and the
// reads of thousands of threads would slow down what they wait for.
struct Patience {
	static const u32 often = 1 << 14;
	u64 allowed, end;
	u32 *abort;
	u32 polls;
	__device__ Patience(const Args &a) : allowed(a.deadline), end(0), abort((u32 *)a.abort), polls(0) {}
	__device__ bool over() {
		if (++polls & (often - 1)) return false;
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
	u32 *mine = (u32 *)a.peer[0].flags, *theirs = (u32 *)a.peer[0].theirs;
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

__device__ __forceinline__ float4 sum(float4 x, float4 y) {
	return make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
}

// add combines floats: dst += src, which may be a peer's.
extern "C" __global__ void add(Args a) {
	float4 *to = (float4 *)a.dst;
	const float4 *from = (const float4 *)a.src;
	u64 stride = gridDim.x * (u64)blockDim.x, n = a.bytes / 16, i = blockIdx.x * (u64)blockDim.x + threadIdx.x;
	for (; i + 3 * stride < n; i += 4 * stride) {
		float4 v[4];
		for (int k = 0; k < 4; k++) v[k] = from[i + k * stride];
		for (int k = 0; k < 4; k++) to[i + k * stride] = sum(to[i + k * stride], v[k]);
	}
	for (; i < n; i += stride) to[i] = sum(to[i], from[i]);
}

// messages: in each round a block sends its part of a message to every peer and waits
// for theirs. Each block of a GPU talks to the same block of the others. Rounds are
// counted in memory, so that a graph can be replayed; the two halves of an inbox take
// turns, since a receiver may still read one while the next message comes.

__device__ __forceinline__ u32 *counter(const Args &a) { return (u32 *)a.counters + blockIdx.x * flagLine; }

// start waits for the kernel ahead and lets the next one of the stream be launched, as the
// kernels that run schedules do.
__device__ __forceinline__ void start() {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
	asm volatile("griddepcontrol.wait;" ::: "memory");
	asm volatile("griddepcontrol.launch_dependents;");
#endif
}

// simple_messages stores the part in the peer's memory, then raises a flag there
// (release); the receiver waits for its flags (acquire).
extern "C" __global__ void simple_messages(Args a) {
	u64 words = a.bytes / 16, part = (words + gridDim.x - 1) / gridDim.x;
	u64 from = min(words, part * blockIdx.x), n = min(words, from + part) - from;
	const uint4 *src = (const uint4 *)a.src + from;
	start();
	u32 epoch = *counter(a);
	for (u32 r = epoch + 1; r != epoch + a.rounds + 1; r++) {
		u64 half = (r & 1) * words + from;
		for (u32 p = 0; p < a.peers; p++) move((uint4 *)a.peer[p].outbox + half, src, n, threadIdx.x, blockDim.x);
		__syncthreads();
		bool failed = false;
		if (threadIdx.x < a.peers) {
			put((u32 *)a.peer[threadIdx.x].theirs + blockIdx.x * flagLine, r, true);
			failed = !await((u32 *)a.peer[threadIdx.x].flags + blockIdx.x * flagLine, r, true, a);
		}
		if (__syncthreads_or(failed)) return;
	}
	if (threadIdx.x == 0) *counter(a) = epoch + a.rounds;
}

// ll_messages stores packets of two words of data and two flags; the receiver polls the
// packets themselves and stores the data in its own memory.
extern "C" __global__ void ll_messages(Args a) {
	u64 packets = a.bytes / 8, part = (packets + gridDim.x - 1) / gridDim.x;
	u64 begin = min(packets, part * blockIdx.x), end = min(packets, begin + part);
	const uint2 *src = (const uint2 *)a.src;
	uint2 *dst = (uint2 *)a.dst;
	start();
	u32 epoch = *counter(a);
	for (u32 r = epoch + 1; r != epoch + a.rounds + 1; r++) {
		u64 half = (r & 1) * packets;
		for (u64 i = begin + threadIdx.x; i < end; i += blockDim.x) {
			uint2 d = src[i];
			for (u32 p = 0; p < a.peers; p++) store16((uint4 *)a.peer[p].outbox + half + i, make_uint4(d.x, r, d.y, r));
		}
		bool failed = false;
		for (u64 i = begin + threadIdx.x; i < end && !failed; i += blockDim.x) {
			for (u32 p = 0; p < a.peers; p++) {
				const uint4 *in = (const uint4 *)a.peer[p].inbox + half + i;
				uint4 v = load16(in);
				Patience patience(a);
				while ((int)(v.y - r) < 0 || (int)(v.w - r) < 0) {  // a ring may be rounds ahead
					if (patience.over()) { failed = true; break; }
					v = load16(in);
				}
				dst[i] = make_uint2(v.x, v.z);
			}
		}
		if (__syncthreads_or(failed)) return;
	}
	if (threadIdx.x == 0) *counter(a) = epoch + a.rounds;
}

// pull_messages says that it has begun, loads the peers' part and adds its own, then says
// that it has read, and waits for the same: a round takes two counts of a flag.
extern "C" __global__ void pull_messages(Args a) {
	u64 words = a.bytes / 16, part = (words + gridDim.x - 1) / gridDim.x;
	u64 from = min(words, part * blockIdx.x), end = min(words, from + part);
	const u32 me = threadIdx.x;
	start();
	u32 epoch = *counter(a);
	for (u32 r = epoch + 1; r != epoch + 2 * a.rounds + 1; r += 2) {
		bool failed = false;
		if (me < a.peers) {
			put((u32 *)a.peer[me].theirs + blockIdx.x * flagLine, r, false);
			failed = !await((u32 *)a.peer[me].flags + blockIdx.x * flagLine, r, false, a);
		}
		if (__syncthreads_or(failed)) return;
		for (u64 i = from + me; i < end; i += 4 * blockDim.x) {
			float4 v[4];
			for (int k = 0; k < 4; k++)
				if (i + k * blockDim.x < end) v[k] = ((const float4 *)a.src)[i + k * blockDim.x];
			for (u32 p = 0; p < a.peers; p++) {
				uint4 w[4];
				for (int k = 0; k < 4; k++)
					if (i + k * blockDim.x < end) w[k] = load16((const uint4 *)a.peer[p].outbox + i + k * blockDim.x);
				for (int k = 0; k < 4; k++) v[k] = sum(v[k], make_float4(__uint_as_float(w[k].x), __uint_as_float(w[k].y), __uint_as_float(w[k].z), __uint_as_float(w[k].w)));
			}
			for (int k = 0; k < 4; k++)
				if (i + k * blockDim.x < end) ((float4 *)a.dst)[i + k * blockDim.x] = v[k];
		}
		__syncthreads();
		if (me < a.peers) {
			put((u32 *)a.peer[me].theirs + blockIdx.x * flagLine, r + 1, true);
			failed = !await((u32 *)a.peer[me].flags + blockIdx.x * flagLine, r + 1, true, a);
		}
		if (__syncthreads_or(failed)) return;
	}
	if (me == 0) *counter(a) = epoch + 2 * a.rounds;
}

// ll128_messages stores lines of 120 bytes of data and a flag, eight lanes a line, two
// lines for sixteen lanes (exec/cuda/kernel/src/lines.cuh); the receiver polls them. All
// lanes of a warp go on together. Bytes are rounded up to pairs of lines.
extern "C" __global__ void ll128_messages(Args a) {
	u64 pairs = (a.bytes + 239) / 240, part = (pairs + gridDim.x - 1) / gridDim.x;
	u64 begins = min(pairs, part * blockIdx.x), end = min(pairs, begins + part);
	u32 lane = threadIdx.x % 32, q = lane % 16, team = lane / 16, step = blockDim.x / 16;
	bool last = q % 8 == 7;
	u32 offset = last ? 224 + 8 * (q / 8) : 16 * (7 * (q / 8) + q % 8);
	const char *src = (const char *)a.src + offset;
	char *dst = (char *)a.dst + offset;
	start();
	u32 epoch = *counter(a);
	for (u32 r = epoch + 1; r != epoch + a.rounds + 1; r++) {
		u64 half = (r & 1) * pairs;
		for (u64 i = begins + threadIdx.x / 32 * 2; i < end; i += step) {
			bool mine = i + team < end;
			uint4 v = make_uint4(0, 0, r, r);
			if (mine && !last) v = *(const uint4 *)(src + (i + team) * 240);
			else if (mine) v.x = *(const u32 *)(src + (i + team) * 240), v.y = *(const u32 *)(src + (i + team) * 240 + 4);
			for (u32 p = 0; p < a.peers; p++) {
				__syncwarp();
				if (mine) store16((uint4 *)a.peer[p].outbox + (half + i + team) * 16 + q, v);
			}
		}
		for (u64 i = begins + threadIdx.x / 32 * 2; i < end; i += step) {
			bool mine = i + team < end;
			for (u32 p = 0; p < a.peers; p++) {
				const uint4 *in = (const uint4 *)a.peer[p].inbox + (half + i + team) * 16 + q;
				uint4 v = make_uint4(0, 0, r, r);
				Patience patience(a);
				for (;;) {
					__syncwarp();
					if (mine) v = load16(in);
					if (!__any_sync(~0u, mine && last && ((int)(v.z - r) < 0 || (int)(v.w - r) < 0))) break;
					if (__any_sync(~0u, patience.over())) return;
				}
				if (mine && !last) *(uint4 *)(dst + (i + team) * 240) = v;
				else if (mine) *(uint2 *)(dst + (i + team) * 240) = make_uint2(v.x, v.y);
			}
		}
	}
	__syncthreads();
	if (threadIdx.x == 0) *counter(a) = epoch + a.rounds;
}

__device__ __forceinline__ bool arrived(uint4 v) { return v.x != ~0u && v.y != ~0u && v.z != ~0u && v.w != ~0u; }

// words_messages stores words that are their own flags (exec/cuda/kernel/src/words.cuh): what
// has not arrived is all ones, which the receiver leaves there again. A quarter of the warps
// stores while the others poll, where there is enough for all.
extern "C" __global__ void words_messages(Args a) {
	constexpr u32 ahead = 4;
	const u32 warps = blockDim.x / 32, putting = warps < 4 ? 1 : warps / 4;
	u64 quads = a.bytes / 16, part = (quads + gridDim.x - 1) / gridDim.x;
	u64 begins = min(quads, part * blockIdx.x), end = min(quads, begins + part);
	const bool halves = warps > 1 && part > 3 * blockDim.x, putter = threadIdx.x < 32 * putting;
	const u32 puts = halves ? 32 * putting : blockDim.x, takes = halves ? blockDim.x - puts : blockDim.x;
	const uint4 *src = (const uint4 *)a.src;
	uint4 *dst = (uint4 *)a.dst;
	start();
	u32 epoch = *counter(a);
	for (u32 r = epoch + 1; r != epoch + a.rounds + 1; r++) {
		u64 half = (r & 1) * quads;
		if (!halves || putter)
			for (u64 i = begins + threadIdx.x; i < end; i += ahead * puts) {
				uint4 v[ahead];
#pragma unroll
				for (u32 k = 0; k < ahead; k++)
					if (i + k * puts < end) v[k] = src[i + k * puts];
#pragma unroll
				for (u32 k = 0; k < ahead; k++)
					for (u32 p = 0; p < a.peers; p++)
						if (i + k * puts < end) store16((uint4 *)a.peer[p].outbox + half + i + k * puts, v[k]);
			}
		bool failed = false;
		if (!halves || !putter)
			for (u64 i = begins + (halves ? threadIdx.x - puts : threadIdx.x); i < end && !failed; i += takes)
				for (u32 p = 0; p < a.peers; p++) {
					uint4 *in = (uint4 *)a.peer[p].inbox + half + i;
					uint4 v = load16(in);
					Patience patience(a);
					while (!arrived(v)) {
						if (patience.over()) { failed = true; break; }
						v = load16(in);
					}
					dst[i] = v;
					store16(in, make_uint4(~0u, ~0u, ~0u, ~0u));
				}
		if (__syncthreads_or(failed)) return;
	}
	if (threadIdx.x == 0) *counter(a) = epoch + a.rounds;
}
