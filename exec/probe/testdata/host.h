// As much of CUDA as kernels.cu uses, on the CPU: a thread for each GPU thread, blocks and
// warps with barriers.
#include <algorithm>
#include <atomic>
#include <barrier>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#define __device__
#define __global__
#define __forceinline__ inline
#define __grid_constant__
#define __launch_bounds__(a, b)
struct uint2 { unsigned x, y; };
struct uint3 { unsigned x, y, z; };
struct alignas(16) uint4 { unsigned x, y, z, w; };
struct alignas(16) float4 { float x, y, z, w; };
inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
inline float __uint_as_float(unsigned u) { float f; memcpy(&f, &u, 4); return f; }
inline unsigned __float_as_uint(float f) { unsigned u; memcpy(&u, &f, 4); return u; }
using std::min;

// Group is threads that wait for one another.
struct Group {
	std::barrier<> meet;
	std::atomic<int> any[2] = {};
	explicit Group(int n) : meet(n) {}
};
inline thread_local uint3 threadIdx, blockIdx, blockDim, gridDim;
inline thread_local Group *block_group, *warp_group;
inline thread_local unsigned block_turn, warp_turn;

inline bool any_of(Group *g, unsigned &turn, bool v)
{
	std::atomic<int> &word = g->any[turn++ & 1], &next = g->any[turn & 1];
	if (v) word = 1;
	g->meet.arrive_and_wait();
	const bool out = word;
	g->meet.arrive_and_wait();
	next = 0;
	g->meet.arrive_and_wait();
	return out;
}
inline void __syncthreads() { block_group->meet.arrive_and_wait(); }
inline bool __syncthreads_or(bool v) { return any_of(block_group, block_turn, v); }
inline void __syncwarp() { warp_group->meet.arrive_and_wait(); }
inline bool __any_sync(unsigned, bool v) { return any_of(warp_group, warp_turn, v); }

inline unsigned long long now()
{
	return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
inline void put(unsigned *p, unsigned v, bool) { std::atomic_ref(*p).store(v); }
inline unsigned get(const unsigned *p, bool)
{
	std::this_thread::yield();
	return std::atomic_ref(*const_cast<unsigned *>(p)).load();
}
// Words are stored and loaded one by one, in an order that shows who relies on 16 bytes at once
// only where the data are not their own flags.
inline std::atomic<int> lock16[64];
struct Hold {
	std::atomic<int> &l;
	explicit Hold(const void *p) : l(lock16[(uintptr_t)p / 16 % 64])
	{
		for (int free = 0; !l.compare_exchange_weak(free, 1); free = 0) std::this_thread::yield();
	}
	~Hold() { l = 0; }
};
inline uint4 load16(const uint4 *p) { std::this_thread::yield(); Hold h(p); return *p; }
inline void store16(uint4 *p, uint4 v) { Hold h(p); *p = v; }
// A line's flag is stored last and loaded first.
inline void line_store(uint4 *p, uint4 v, bool last, bool active)
{
	if (active && !last) store16(p, v);
	__syncwarp();
	if (active && last) store16(p, v);
}
inline uint4 line_load(const uint4 *p, bool last, bool active)
{
	uint4 v = {};
	if (active && last) v = load16(p);
	__syncwarp();
	if (active && !last) v = load16(p);
	return v;
}
inline uint4 load_quad(const uint4 *p) { return load16(p); }
inline void store_quad(uint4 *p, uint4 v) { store16(p, v); }
inline void keep(unsigned long long) {}
inline void take_turn() {}
