// Micro-benchmarks of links. Each kernel takes one argument block; every wait has a
// deadline and watches an abort word, so that no kernel spins for ever.

typedef unsigned long long u64;
typedef unsigned int u32;

const int maxPeers = 15;

// PEERS is the most that a GPU of this machine sends to; the host says how many.
#if !defined(PEERS)
#define PEERS 3
#endif
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
	u64 counters;             // messages: u32 rounds before this launch, one line a block, two launches by turns
	u32 peers, rounds;
	u64 abort;                // u32 in host memory: not 0 ends every wait
	u64 deadline;             // nanoseconds that a wait may take
	u64 result;               // ping_pong: u64 nanoseconds
	Peer peer[maxPeers];
	u32 warmup, epoch, mode, first;  // access: pattern, -, 1: where it is stored, bytes of a piece
	u32 turn, pad;
};
static_assert(sizeof(Args) == 568, "launch.go writes these bytes");

#if !defined(ON_HOST)  // testdata/host.h has them for the CPU
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

__device__ __forceinline__ uint4 load16(const uint4 *p) {
	uint4 v;
	asm volatile("ld.relaxed.sys.global.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p) : "memory");
	return v;
}

__device__ __forceinline__ void store16(uint4 *p, uint4 v) {
	asm volatile("st.relaxed.sys.global.v4.u32 [%0], {%1,%2,%3,%4};" ::"l"(p), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w) : "memory");
}

// Eight lanes access a line of 128 bytes with one instruction; the last lane's second half is
// the line's flag, twice. All lanes of a warp call these together.
__device__ __forceinline__ void line_store(uint4 *p, uint4 v, bool, bool active) {
	__syncwarp();
	if (active) store16(p, v);
}

__device__ __forceinline__ uint4 line_load(const uint4 *p, bool, bool active) {
	uint4 v = make_uint4(0, 0, 0, 0);
	__syncwarp();
	if (active) v = load16(p);
	return v;
}

// Accesses that need no order.
__device__ __forceinline__ uint4 load_quad(const uint4 *p) {
	uint4 v;
	asm volatile("ld.relaxed.sys.global.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p));
	return v;
}

__device__ __forceinline__ void store_quad(uint4 *p, uint4 v) {
	asm volatile("st.global.v4.u32 [%0], {%1,%2,%3,%4};" ::"l"(p), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w) : "memory");
}

// keep makes a value needed: one that is never 0.
__device__ __forceinline__ void keep(u64 x) { asm volatile("{.reg .pred p; setp.eq.u64 p, %0, 0; @p trap;}" ::"l"(x)); }

// take_turn waits for the kernel ahead and lets the next one of the stream be launched.
__device__ __forceinline__ void take_turn() {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
	asm volatile("griddepcontrol.wait;" ::: "memory");
	asm volatile("griddepcontrol.launch_dependents;");
#endif
}
#endif

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

// What follows copies as threads of plans do whose places lie apart: on one side (mode 1: where they are stored, else where
// they are loaded) as `pattern` says, on the other one behind another.
enum Pattern : u32 { oneAfterAnother, strided, scattered, misaligned };
const u32 apart = 8;  // places for each piece

// Pieces are places of `piece` bytes, in quads; of all of them one in `apart` is used.
struct Pieces {
	u64 each, places;  // a power of two
	u32 pattern;
	__device__ __forceinline__ Pieces(const Args &a) : each(a.first / 16), places(a.bytes / a.first * apart), pattern(a.warmup) {}
	// at is where the payload's quad i lies.
	__device__ __forceinline__ u64 at(u64 i) const {
		if (pattern == oneAfterAnother) return i;
		u64 place = i / each;
		if (pattern == strided) place *= apart;
		else  // steps that can be undone, so that no two pieces have the same place
			place = place * 0x9e3779b97f4a7c15ull & (places - 1), place ^= place >> 7, place = place * 0xbf58476d1ce4e5b9ull & (places - 1);
		return place * each + i % each;
	}
};

extern "C" __global__ void __launch_bounds__(512, 1) placed(const __grid_constant__ Args a) {
	constexpr u32 ahead = 8;
	const u64 quads = a.bytes / 16, step = gridDim.x * (u64)blockDim.x;
	if (!quads) return;
	const Pieces x(a);
	for (u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x; i < quads; i += ahead * step) {
		uint4 v[ahead];
#pragma unroll
		for (u32 k = 0; k < ahead; k++)
			if (i + k * step < quads) v[k] = load_quad((const uint4 *)a.src + (a.mode ? i + k * step : x.at(i + k * step)));
#pragma unroll
		for (u32 k = 0; k < ahead; k++)
			if (i + k * step < quads) store_quad((uint4 *)a.dst + (a.mode ? x.at(i + k * step) : i + k * step), v[k]);
	}
}

// shifted are the 16 bytes that begin `by` bytes into two quads, as plans' kernels read what is not aligned.
__device__ __forceinline__ uint4 shifted(uint4 low, uint4 high, u32 by) {
	if (by & 8) low = make_uint4(low.z, low.w, high.x, high.y), high.x = high.z, high.y = high.w;
	if (by & 4) low = make_uint4(low.y, low.z, low.w, high.x), high.x = high.y;
	const u32 bits = by % 4 * 8;
	const auto cut = [bits](u32 a, u32 b) { return (u32)(((u64)b << 32 | a) >> bits); };
	return make_uint4(cut(low.x, low.y), cut(low.y, low.z), cut(low.z, low.w), cut(low.w, high.x));
}

// store_parts stores 16 bytes as so many elements, as plans' kernels store what is not aligned.
template <class T> __device__ __forceinline__ void store_parts(u64 at, uint4 v) {
	const u64 low = (u64)v.y << 32 | v.x, high = (u64)v.w << 32 | v.z;
#pragma unroll 1
	for (u32 i = 0; i < 8; i += sizeof(T)) *(volatile T *)(at + i) = (T)(low >> 8 * i);
#pragma unroll 1
	for (u32 i = 0; i < 8; i += sizeof(T)) *(volatile T *)(at + 8 + i) = (T)(high >> 8 * i);
}

// placed_misaligned is `first` bytes off 16: what it loads it reads by the quads that it lies across, what it stores goes in elements
// of so many bytes.
extern "C" __global__ void __launch_bounds__(512, 1) placed_misaligned(const __grid_constant__ Args a) {
	constexpr u32 ahead = 4;
	const u64 quads = a.bytes / 16, step = gridDim.x * (u64)blockDim.x;
	for (u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x; i < quads; i += ahead * step) {
		uint4 v[ahead], w[ahead];
#pragma unroll
		for (u32 k = 0; k < ahead; k++) {
			if (i + k * step >= quads) break;
			v[k] = load_quad((const uint4 *)a.src + i + k * step);
			if (!a.mode) w[k] = load_quad((const uint4 *)a.src + i + k * step + 1);
		}
#pragma unroll
		for (u32 k = 0; k < ahead; k++) {
			if (i + k * step >= quads) break;
			const u64 at = a.dst + 16 * (i + k * step) + a.first;
			if (!a.mode) store_quad((uint4 *)a.dst + i + k * step, shifted(v[k], w[k], a.first));
			else if (a.first == 8) store_parts<u64>(at, v[k]);
			else if (a.first == 4) store_parts<u32>(at, v[k]);
			else if (a.first == 2) store_parts<unsigned short>(at, v[k]);
			else store_parts<unsigned char>(at, v[k]);
		}
	}
}

// messages: in each round a block sends its part of a message to every peer and waits
// for theirs, as the kernels that run schedules do (exec/cuda/kernel/src): with as many
// accesses under way, several peers side by side, and what no message brings read while the
// kernel ahead still runs. Each block of a GPU talks to the same block of the others. Rounds
// are counted in memory, so that a graph can be replayed; the two halves of an inbox take
// turns, since a receiver may still read one while the next message comes.
//
// OWN: every peer is sent a source of its own; else all the same one. SUM: what all peers send
// is added to what lies here; else it is stored.

__device__ __forceinline__ u32 *counter(const Args &a) { return (u32 *)a.counters + blockIdx.x * flagLine + a.turn; }

// start reads the rounds so far, which the launch before the last has left, and the parameters, then
// waits for the kernel ahead and lets the next one of the stream be launched.
__device__ __forceinline__ u32 start(const Args &a) {
	u32 epoch = get(counter(a), false);
	u64 some = 0;
#pragma unroll
	for (u32 i = 0; i < sizeof(Args) / 8; i += 8) some |= ((const u64 *)&a)[i];
	keep(some);
	take_turn();
	return epoch;
}

// end leaves the rounds before the launch after the next. All threads have waited for one
// another since they read theirs.
__device__ __forceinline__ void end(const Args &a, u32 epoch, u32 counts) {
	if (threadIdx.x == 0) put(counter(a), epoch + 2 * counts, false);
}

__device__ __forceinline__ u32 plus(u32 x, u32 y) { return __float_as_uint(__uint_as_float(x) + __uint_as_float(y)); }
__device__ __forceinline__ uint4 plus(uint4 x, uint4 y) { return make_uint4(plus(x.x, y.x), plus(x.y, y.y), plus(x.z, y.z), plus(x.w, y.w)); }

// Range is a block's part of so many things, of which a line of memory holds some: whole lines
// where it has many, since a warp's stores that end within lines take more packets.
struct Range {
	u64 begin, end;
	__device__ __forceinline__ Range(u64 n, u32 line) {
		u64 part = (n + gridDim.x - 1) / gridDim.x;
		if (part >= 16 * line) part = (part + line - 1) / line * line;
		begin = min(n, part * blockIdx.x), end = min(n, begin + part);
	}
};

// flags raises the peers' flags and waits for theirs; false where one does not come.
__device__ __forceinline__ bool flags(const Args &a, u32 r, bool ordered) {
	bool failed = false;
	if (threadIdx.x < a.peers) {
		put((u32 *)a.peer[threadIdx.x].theirs + blockIdx.x * flagLine, r, ordered);
		failed = !await((u32 *)a.peer[threadIdx.x].flags + blockIdx.x * flagLine, r, ordered, a);
	}
	return !__syncthreads_or(failed);
}

// simple_messages stores the part in all peers' memory, then raises a flag there (release);
// the receiver waits for its flags (acquire).
extern "C" __global__ void __launch_bounds__(512, 1) simple_messages(const __grid_constant__ Args a) {
	constexpr u32 ahead = 8;
	const u64 quads = a.bytes / 16, step = blockDim.x;
	const Range part(quads, 8);
	const uint4 *src = (const uint4 *)a.src;
	const u32 epoch = start(a);
	for (u32 r = epoch + 1; r != epoch + a.rounds + 1; r++) {
		const u64 half = (r & 1) * quads;
		for (u64 i = part.begin + threadIdx.x; i < part.end; i += ahead * step) {
			uint4 v[ahead];
#pragma unroll
			for (u32 k = 0; k < ahead; k++)
				if (i + k * step < part.end) v[k] = load_quad(src + i + k * step);
#pragma unroll
			for (u32 p = 0; p < PEERS; p++) {
				if (p >= a.peers) break;
#pragma unroll
				for (u32 k = 0; k < ahead; k++)
					if (i + k * step < part.end) store_quad((uint4 *)a.peer[p].outbox + half + i + k * step, v[k]);
			}
		}
		__syncthreads();
		if (!flags(a, r, true)) return;
	}
	end(a, epoch, a.rounds);
}

// add_peers loads a part of PULLED peers' memory, AHEAD accesses to each under way at once,
// and stores its sum with one's own.
template <u32 PULLED, u32 AHEAD> __device__ __forceinline__ void add_peers(const Args &a, const Range &part) {
	const u64 step = blockDim.x;
	for (u64 i = part.begin + threadIdx.x; i < part.end; i += AHEAD * step) {
		uint4 v[PULLED + 1][AHEAD];
#pragma unroll
		for (u32 p = 0; p <= PULLED; p++)
#pragma unroll
			for (u32 k = 0; k < AHEAD; k++)
				if (i + k * step < part.end) v[p][k] = load_quad((p < PULLED ? (const uint4 *)a.peer[p].outbox : (const uint4 *)a.src) + i + k * step);
#pragma unroll
		for (u32 k = 0; k < AHEAD; k++) {
			uint4 sum = v[PULLED][k];
#pragma unroll
			for (u32 p = 0; p < PULLED; p++) sum = plus(sum, v[p][k]);
			if (i + k * step < part.end) store_quad((uint4 *)a.dst + i + k * step, sum);
		}
	}
}

// pull_messages says that it has begun, loads the peers' parts and adds its own, then says
// that it has read, and waits for the same: a round takes two counts of a flag.
extern "C" __global__ void __launch_bounds__(512, 1) pull_messages(const __grid_constant__ Args a) {
	const Range part(a.bytes / 16, 8);
	const u32 epoch = start(a);
	for (u32 r = epoch + 1; r != epoch + 2 * a.rounds + 1; r += 2) {
		if (!flags(a, r, false)) return;
		if (a.peers == 1) add_peers<1, 8>(a, part);
		else add_peers<PEERS, PEERS < 4 ? 4 : 1>(a, part);
		__syncthreads();
		if (!flags(a, r + 1, true)) return;
	}
	end(a, epoch, 2 * a.rounds);
}

// ll stores packets of two words of data and two flags; the receiver polls the packets
// themselves.
template <bool OWN, bool SUM> __device__ __forceinline__ void ll(const Args &a) {
	constexpr u32 sources = OWN ? PEERS : 1;
	const u64 packets = a.bytes / 8;
	const Range part(packets, 16);
	const uint2 *src = (const uint2 *)a.src;
	uint2 *dst = (uint2 *)a.dst;
	const u32 epoch = start(a);
	for (u32 r = epoch + 1; r != epoch + a.rounds + 1; r++) {
		const u64 half = (r & 1) * packets;
		for (u64 i = part.begin + threadIdx.x; i < part.end; i += blockDim.x) {
			uint2 d[sources];
#pragma unroll
			for (u32 p = 0; p < sources; p++)
				if (p < a.peers) d[p] = src[p * packets + i];
#pragma unroll
			for (u32 p = 0; p < PEERS; p++)
				if (p < a.peers) store16((uint4 *)a.peer[p].outbox + half + i, make_uint4(d[OWN ? p : 0].x, r, d[OWN ? p : 0].y, r));
		}
		bool failed = false;
		for (u64 i = part.begin + threadIdx.x; i < part.end && !failed; i += blockDim.x) {
			uint4 v[PEERS];
			const auto look = [&](u32 p) { v[p] = load16((const uint4 *)a.peer[p].inbox + half + i); };
#pragma unroll
			for (u32 p = 0; p < PEERS; p++)
				if (p < a.peers) look(p);
			uint2 sum = make_uint2(0, 0);
			if (SUM) sum = src[i];
			Patience patience(a);
			for (bool missing = true; missing && !failed;) {
				missing = false;
#pragma unroll
				for (u32 p = 0; p < PEERS; p++)  // a ring may be rounds ahead
					if (p < a.peers && ((int)(v[p].y - r) < 0 || (int)(v[p].w - r) < 0)) missing = true, look(p);
				failed = missing && patience.over();
			}
#pragma unroll
			for (u32 p = 0; p < PEERS; p++) {
				if (p >= a.peers) continue;
				if (SUM) sum = make_uint2(plus(sum.x, v[p].x), plus(sum.y, v[p].z));
				else dst[p * packets + i] = make_uint2(v[p].x, v[p].z);
			}
			if (SUM) dst[i] = sum;
		}
		if (__syncthreads_or(failed)) return;
	}
	end(a, epoch, a.rounds);
}

extern "C" __global__ void __launch_bounds__(512, 1) ll_messages(const __grid_constant__ Args a) { ll<false, false>(a); }
extern "C" __global__ void __launch_bounds__(512, 1) ll_sums(const __grid_constant__ Args a) { ll<false, true>(a); }
extern "C" __global__ void __launch_bounds__(512, 1) ll_deals(const __grid_constant__ Args a) { ll<true, false>(a); }
extern "C" __global__ void __launch_bounds__(512, 1) ll_dealsums(const __grid_constant__ Args a) { ll<true, true>(a); }

// Seat is a lane's place in two lines of 120 bytes of data and a flag: eight lanes a line
// (exec/cuda/kernel/src/lines.cuh).
struct Seat {
	u32 q, team, offset;
	bool last;
	__device__ __forceinline__ Seat() : q(threadIdx.x % 16), team(threadIdx.x % 32 / 16), last(q % 8 == 7) { offset = last ? 224 + 8 * (q / 8) : 16 * (7 * (q / 8) + q % 8); }
	__device__ __forceinline__ uint4 load(const char *at) const {
		if (!last) return *(const uint4 *)(at + offset);
		const u32 *p = (const u32 *)(at + offset);
		return make_uint4(p[0], p[1], 0, 0);
	}
	__device__ __forceinline__ void store(char *at, uint4 v) const {
		if (!last) *(uint4 *)(at + offset) = v;
		else *(uint2 *)(at + offset) = make_uint2(v.x, v.y);
	}
};

// ll128 stores pairs of lines, which the receiver polls. All lanes of a warp go on together.
// From three rounds a block on, half of the warps puts while the others take. Bytes are
// rounded up to pairs of lines.
template <bool OWN, bool SUM> __device__ __forceinline__ void ll128(const Args &a) {
	constexpr u32 sources = OWN ? PEERS : 1;
	const u64 pairs = (a.bytes + 239) / 240;
	const Range part(pairs, 1);
	const Seat seat;
	const u32 warp = threadIdx.x / 32, warps = blockDim.x / 32;
	const bool halves = warps > 1 && (part.end - part.begin) * 16 > 3 * blockDim.x;
	const u32 puts = halves ? warps / 2 : warps, takes = halves ? warps - puts : warps;
	const char *src = (const char *)a.src;
	char *dst = (char *)a.dst;
	const u32 epoch = start(a);
	for (u32 r = epoch + 1; r != epoch + a.rounds + 1; r++) {
		const u64 half = (r & 1) * pairs;
		for (u64 i = part.begin + warp * 2; i < part.end && warp < puts; i += puts * 2) {
			const u64 at = i + seat.team;
			uint4 v[sources];
#pragma unroll
			for (u32 p = 0; p < sources; p++) {
				if (p < a.peers && at < part.end) v[p] = seat.load(src + (p * pairs + at) * 240);
				if (seat.last) v[p].z = r, v[p].w = r;
			}
#pragma unroll
			for (u32 p = 0; p < PEERS; p++)
				if (p < a.peers) line_store((uint4 *)a.peer[p].outbox + (half + at) * 16 + seat.q, v[OWN ? p : 0], seat.last, at < part.end);
		}
		for (u64 i = part.begin + (halves ? warp - puts : warp) * 2; i < part.end && (!halves || warp >= puts); i += takes * 2) {
			const u64 at = i + seat.team;
			uint4 v[PEERS], sum = make_uint4(0, 0, 0, 0);
			if (SUM && at < part.end) sum = seat.load(src + at * 240);
			Patience patience(a);
			for (;;) {
				bool missing = false;
#pragma unroll
				for (u32 p = 0; p < PEERS; p++) {
					if (p >= a.peers) continue;
					v[p] = line_load((const uint4 *)a.peer[p].inbox + (half + at) * 16 + seat.q, seat.last, at < part.end);
					missing |= at < part.end && seat.last && ((int)(v[p].z - r) < 0 || (int)(v[p].w - r) < 0);
				}
				if (!__any_sync(~0u, missing)) break;
				if (__any_sync(~0u, patience.over())) return;
			}
			if (at >= part.end) continue;
#pragma unroll
			for (u32 p = 0; p < PEERS; p++) {
				if (p >= a.peers) continue;
				if (SUM) sum = plus(sum, v[p]);
				else seat.store(dst + (p * pairs + at) * 240, v[p]);
			}
			if (SUM) seat.store(dst + at * 240, sum);
		}
		__syncthreads();
	}
	end(a, epoch, a.rounds);
}

extern "C" __global__ void __launch_bounds__(512, 1) ll128_messages(const __grid_constant__ Args a) { ll128<false, false>(a); }
extern "C" __global__ void __launch_bounds__(512, 1) ll128_sums(const __grid_constant__ Args a) { ll128<false, true>(a); }
extern "C" __global__ void __launch_bounds__(512, 1) ll128_deals(const __grid_constant__ Args a) { ll128<true, false>(a); }
extern "C" __global__ void __launch_bounds__(512, 1) ll128_dealsums(const __grid_constant__ Args a) { ll128<true, true>(a); }

__device__ __forceinline__ bool arrived(uint4 v) { return v.x != ~0u && v.y != ~0u && v.z != ~0u && v.w != ~0u; }

// words stores words that are their own flags (exec/cuda/kernel/src/words.cuh): what has not
// arrived is all ones, which the receiver leaves there again. Two accesses to each place are
// under way at once, of several peers one. Words are added to what lies here, since only
// reductions have them.
template <bool OWN, u32 FROM> __device__ __forceinline__ void words(const Args &a) {
	constexpr u32 ahead = 2, looks = FROM > 1 ? 1 : 2, sources = OWN ? FROM : 1;
	const u64 quads = a.bytes / 16, step = blockDim.x;
	const Range part(quads, 8);
	const uint4 *src = (const uint4 *)a.src;
	uint4 *dst = (uint4 *)a.dst;
	const u32 epoch = start(a);
	for (u32 r = epoch + 1; r != epoch + a.rounds + 1; r++) {
		const u64 half = (r & 1) * quads;
		for (u64 i = part.begin + threadIdx.x; i < part.end; i += ahead * step) {
			uint4 v[sources][ahead];
#pragma unroll
			for (u32 p = 0; p < sources; p++)
#pragma unroll
				for (u32 k = 0; k < ahead; k++)
					if (i + k * step < part.end) v[p][k] = load_quad(src + p * quads + i + k * step);
#pragma unroll
			for (u32 k = 0; k < ahead; k++)
#pragma unroll
				for (u32 p = 0; p < FROM; p++)
					if (i + k * step < part.end) store16((uint4 *)a.peer[p].outbox + half + i + k * step, v[OWN ? p : 0][k]);
		}
		bool failed = false;
		for (u64 i = part.begin + threadIdx.x; i < part.end && !failed; i += looks * step) {
			uint4 v[FROM][looks], sum[looks];
			const auto box = [&](u32 p, u32 k) { return (uint4 *)a.peer[p].inbox + half + i + k * step; };
#pragma unroll
			for (u32 p = 0; p < FROM; p++)
#pragma unroll
				for (u32 k = 0; k < looks; k++)
					if (i + k * step < part.end) v[p][k] = load16(box(p, k));
#pragma unroll
			for (u32 k = 0; k < looks; k++)
				if (i + k * step < part.end) sum[k] = load_quad(src + i + k * step);
			Patience patience(a);
			for (bool missing = true; missing && !failed;) {
				missing = false;
#pragma unroll
				for (u32 p = 0; p < FROM; p++)
#pragma unroll
					for (u32 k = 0; k < looks; k++)
						if (i + k * step < part.end && !arrived(v[p][k])) missing = true, v[p][k] = load16(box(p, k));
				failed = missing && patience.over();
			}
#pragma unroll
			for (u32 k = 0; k < looks; k++) {
				if (i + k * step >= part.end) continue;
#pragma unroll
				for (u32 p = 0; p < FROM; p++) {
					sum[k] = plus(sum[k], v[p][k]);
					store16(box(p, k), make_uint4(~0u, ~0u, ~0u, ~0u));
				}
				store_quad(dst + i + k * step, sum[k]);
			}
		}
		if (__syncthreads_or(failed)) return;
	}
	end(a, epoch, a.rounds);
}

extern "C" __global__ void __launch_bounds__(512, 1) words_messages(const __grid_constant__ Args a) { words<false, 1>(a); }
extern "C" __global__ void __launch_bounds__(512, 1) words_sums(const __grid_constant__ Args a) { words<false, PEERS>(a); }
extern "C" __global__ void __launch_bounds__(512, 1) words_dealsums(const __grid_constant__ Args a) { words<true, PEERS>(a); }

// casts: one root sends to every peer and hears nothing of them but that they have begun (stored and
// loaded) or taken what came two rounds ago (packets and lines: a credit, of which the host gives the
// first two). mode says who one is; to all but the root, peer 0 is the root.
const u32 rootMode = 1;

// all_above waits until every peer's flag has come to a number; false where one does not.
__device__ __forceinline__ bool all_above(const Args &a, u32 r, bool ordered) {
	const bool failed = threadIdx.x < a.peers && !await((const u32 *)a.peer[threadIdx.x].flags + blockIdx.x * flagLine, r, ordered, a);
	return !__syncthreads_or(failed);
}

// raise raises every peer's flag when all threads are here.
__device__ __forceinline__ void raise(const Args &a, u32 r, bool ordered) {
	__syncthreads();
	if (threadIdx.x < a.peers) put((u32 *)a.peer[threadIdx.x].theirs + blockIdx.x * flagLine, r, ordered);
}

extern "C" __global__ void __launch_bounds__(512, 1) simple_casts(const __grid_constant__ Args a) {
	constexpr u32 ahead = 8;
	const u64 quads = a.bytes / 16, step = blockDim.x;
	const Range part(quads, 8);
	const uint4 *src = (const uint4 *)a.src;
	const u32 epoch = start(a);
	for (u32 r = epoch + 1; r != epoch + a.rounds + 1; r++) {
		if (a.mode != rootMode) {
			raise(a, r, false);  // may be written
			if (!all_above(a, r, true)) return;
			continue;
		}
		if (!all_above(a, r, false)) return;
		for (u64 i = part.begin + threadIdx.x; i < part.end; i += ahead * step) {
			uint4 v[ahead];
#pragma unroll
			for (u32 k = 0; k < ahead; k++)
				if (i + k * step < part.end) v[k] = load_quad(src + i + k * step);
#pragma unroll
			for (u32 p = 0; p < PEERS; p++) {
				if (p >= a.peers) break;
#pragma unroll
				for (u32 k = 0; k < ahead; k++)
					if (i + k * step < part.end) store_quad((uint4 *)a.peer[p].outbox + i + k * step, v[k]);
			}
		}
		raise(a, r, true);
	}
	end(a, epoch, a.rounds);
}

extern "C" __global__ void __launch_bounds__(512, 1) pull_casts(const __grid_constant__ Args a) {
	constexpr u32 ahead = 8;
	const u64 step = blockDim.x;
	const Range part(a.bytes / 16, 8);
	const u32 epoch = start(a);
	for (u32 r = epoch + 1; r != epoch + a.rounds + 1; r++) {
		if (a.mode == rootMode) {
			raise(a, r, false);  // may be read
			if (!all_above(a, r, true)) return;
			continue;
		}
		if (!all_above(a, r, false)) return;
		for (u64 i = part.begin + threadIdx.x; i < part.end; i += ahead * step) {
			uint4 v[ahead];
#pragma unroll
			for (u32 k = 0; k < ahead; k++)
				if (i + k * step < part.end) v[k] = load_quad((const uint4 *)a.peer[0].outbox + i + k * step);
#pragma unroll
			for (u32 k = 0; k < ahead; k++)
				if (i + k * step < part.end) store_quad((uint4 *)a.dst + i + k * step, v[k]);
		}
		raise(a, r, true);
	}
	end(a, epoch, a.rounds);
}

extern "C" __global__ void __launch_bounds__(512, 1) ll_casts(const __grid_constant__ Args a) {
	const u64 packets = a.bytes / 8;
	const Range part(packets, 16);
	const u32 epoch = start(a);
	for (u32 r = epoch + 1; r != epoch + a.rounds + 1; r++) {
		const u64 half = (r & 1) * packets;
		if (a.mode == rootMode) {
			if (!all_above(a, r - 2, false)) return;
			for (u64 i = part.begin + threadIdx.x; i < part.end; i += blockDim.x) {
				const uint2 d = ((const uint2 *)a.src)[i];
#pragma unroll
				for (u32 p = 0; p < PEERS; p++)
					if (p < a.peers) store16((uint4 *)a.peer[p].outbox + half + i, make_uint4(d.x, r, d.y, r));
			}
			continue;
		}
		bool failed = false;
		for (u64 i = part.begin + threadIdx.x; i < part.end && !failed; i += blockDim.x) {
			const uint4 *at = (const uint4 *)a.peer[0].inbox + half + i;
			Patience patience(a);
			uint4 v = load16(at);
			for (; (v.y != r || v.w != r) && !failed; failed = patience.over()) v = load16(at);
			((uint2 *)a.dst)[i] = make_uint2(v.x, v.z);
		}
		if (__syncthreads_or(failed)) return;
		raise(a, r, false);
	}
	end(a, epoch, a.rounds);
}

extern "C" __global__ void __launch_bounds__(512, 1) ll128_casts(const __grid_constant__ Args a) {
	const u64 pairs = (a.bytes + 239) / 240;
	const Range part(pairs, 1);
	const Seat seat;
	const u32 warp = threadIdx.x / 32, warps = blockDim.x / 32;
	const u32 epoch = start(a);
	for (u32 r = epoch + 1; r != epoch + a.rounds + 1; r++) {
		const u64 half = (r & 1) * pairs;
		const bool root = a.mode == rootMode;
		if (root && !all_above(a, r - 2, false)) return;
		for (u64 i = part.begin + warp * 2; i < part.end; i += warps * 2) {
			const u64 at = i + seat.team;
			uint4 v = make_uint4(0, 0, 0, 0);
			if (root) {
				if (at < part.end) v = seat.load((const char *)a.src + at * 240);
				if (seat.last) v.z = r, v.w = r;
#pragma unroll
				for (u32 p = 0; p < PEERS; p++)
					if (p < a.peers) line_store((uint4 *)a.peer[p].outbox + (half + at) * 16 + seat.q, v, seat.last, at < part.end);
				continue;
			}
			Patience patience(a);
			for (;;) {
				v = line_load((const uint4 *)a.peer[0].inbox + (half + at) * 16 + seat.q, seat.last, at < part.end);
				if (!__any_sync(~0u, at < part.end && seat.last && (v.z != r || v.w != r))) break;
				if (__any_sync(~0u, patience.over())) return;
			}
			if (at < part.end) seat.store((char *)a.dst + at * 240, v);
		}
		if (!root) raise(a, r, false);
	}
	end(a, epoch, a.rounds);
}

// relays: every peer of a root reads a part of its memory and stores it at all other peers, and here: what
// comes is passed on while more comes. To a root all others are peers; to these peer 0 is the root. A
// round takes two counts of a flag.
extern "C" __global__ void __launch_bounds__(512, 1) relays(const __grid_constant__ Args a) {
	constexpr u32 ahead = 8;
	const u64 step = blockDim.x;
	const Range part(a.bytes / 16, 8);
	const u32 epoch = start(a);
	for (u32 r = epoch + 1; r != epoch + 2 * a.rounds + 1; r += 2) {
		raise(a, r, false);  // may be read, may be written
		if (a.mode == rootMode) {
			if (!all_above(a, r + 1, true)) return;
			continue;
		}
		if (!all_above(a, r, false)) return;
		for (u64 i = part.begin + threadIdx.x; i < part.end; i += ahead * step) {
			uint4 v[ahead];
#pragma unroll
			for (u32 k = 0; k < ahead; k++)
				if (i + k * step < part.end) v[k] = load_quad((const uint4 *)a.peer[0].outbox + i + k * step);
#pragma unroll
			for (u32 k = 0; k < ahead; k++)
				if (i + k * step < part.end) store_quad((uint4 *)a.dst + i + k * step, v[k]);
#pragma unroll
			for (u32 p = 1; p < PEERS; p++) {
				if (p >= a.peers) break;
#pragma unroll
				for (u32 k = 0; k < ahead; k++)
					if (i + k * step < part.end) store_quad((uint4 *)a.peer[p].outbox + i + k * step, v[k]);
			}
		}
		raise(a, r + 1, true);
		const bool failed = 0 < threadIdx.x && threadIdx.x < a.peers && !await((const u32 *)a.peer[threadIdx.x].flags + blockIdx.x * flagLine, r + 1, true, a);
		if (__syncthreads_or(failed)) return;
	}
	end(a, epoch, 2 * a.rounds);
}
