// As much of CUDA as kernels.cu uses, on the CPU: a fiber for each GPU thread, blocks and
// warps with meetings.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "../../cuda/kernel/src/fibers.hpp"

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
	fibers::Meeting meet;
	std::atomic<int> any[2] = {};
	explicit Group(int n) : meet(n) {}
};
// Place is who a thread is.
struct Place {
	uint3 thread, block, threads, blocks;
	Group *block_group, *warp_group;
	unsigned block_turn = 0, warp_turn = 0;
};
inline Place &place() { return *(Place *)fibers::own(); }
#define threadIdx (place().thread)
#define blockIdx (place().block)
#define blockDim (place().threads)
#define gridDim (place().blocks)

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
inline void __syncthreads() { place().block_group->meet.arrive_and_wait(); }
inline bool __syncthreads_or(bool v) { return any_of(place().block_group, place().block_turn, v); }
inline void __syncwarp() { place().warp_group->meet.arrive_and_wait(); }
inline bool __any_sync(unsigned, bool v) { return any_of(place().warp_group, place().warp_turn, v); }

inline unsigned long long now()
{
	return fibers::pass(), 16 * fibers::clock(); // a turn counts as so long
}
inline void put(unsigned *p, unsigned v, bool) { std::atomic_ref(*p).store(v); }
inline unsigned get(const unsigned *p, bool)
{
	fibers::pass();
	return std::atomic_ref(*const_cast<unsigned *>(p)).load();
}
inline uint4 load16(const uint4 *p) { return fibers::pass(), *p; }
inline void store16(uint4 *p, uint4 v) { *p = v; }
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
