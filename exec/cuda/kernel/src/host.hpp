// The primitives on the CPU: a fiber for each GPU thread, so that ThreadSanitizer sees
// every race that the operations' protocol leaves. Data accesses are plain, flags and
// packets atomic; release and acquire are operations, since fences are not modelled.
#pragma once

#include <atomic>

#include "fibers.hpp"

#define DEV inline
#define APART inline
#define JITTER

struct alignas(16) Vec { u32 x, y, z, w; };

typedef const u64 *Words, *Refs; // a plan, and an operation's references

// Warp is sixteen threads that go on together; votes of three rounds take turns.
constexpr u32 LANES = 16;
struct Warp {
    fibers::Meeting barrier{LANES};
    std::atomic<u32> votes[3] = {};
};

struct Place {
    u32 thread, threads, block;
    fibers::Meeting *barrier;
    Warp *warp;
    u32 round;
};
#define here (*(Place *)fibers::own())

DEV u32 thread() { return here.thread; }
DEV u32 threads() { return here.threads; }
DEV u32 block() { return here.block; }
DEV void sync() { here.barrier->arrive_and_wait(); }

DEV u32 lane() { return here.thread % LANES; }
DEV u32 warp() { return here.thread / LANES; }
DEV void together() { here.warp->barrier.arrive_and_wait(); }
DEV bool any(bool x)
{
    const u32 round = here.round++;
    auto *votes = here.warp->votes;
    if (x) votes[round % 3].store(1);
    together();
    votes[(round + 2) % 3].store(0);
    return votes[round % 3].load();
}

DEV u32 count_bits(u32 x) { return __builtin_popcount(x); }

DEV Vec ld16(const void *p) { return *(const Vec *)p; }
DEV void st16(void *p, Vec v) { *(Vec *)p = v; }
// What lies around data is not read here: ThreadSanitizer would call that a race.
DEV void ld_around(u64 at, u64 left, Vec &low, Vec &high)
{
    Vec both[2] = {};
    __builtin_memcpy((char *)both + (at & 15), (const void *)at, left < 16 ? left : 16);
    low = both[0], high = both[1];
}
template <class T> DEV T ld1(const void *p) { return *(const T *)p; }
template <class T> DEV void st1(void *p, T v) { *(T *)p = v; }

DEV std::atomic<u64> &word(const void *p) { return *(std::atomic<u64> *)p; }
DEV u64 flag_acquire(const u64 *p) { return fibers::pass(), word(p).load(std::memory_order_acquire); }
// Relaxed flags carry what was there before the kernel began, which on the GPU the
// kernel's start makes visible; here the flag has to.
DEV u64 flag_relaxed(const u64 *p) { return flag_acquire(p); }
DEV void raise_relaxed(u64 *p, u64 v) { word(p).store(v, std::memory_order_release); }
DEV void raise_release(u64 *p, u64 v) { word(p).store(v, std::memory_order_release); }

DEV void packet_store(void *p, u32 a, u32 b, u32 flag)
{
    word(p).store((u64)flag << 32 | a, std::memory_order_relaxed);
    fibers::pass(); // each half is valid on its own
    word((char *)p + 8).store((u64)flag << 32 | b, std::memory_order_relaxed);
}
DEV Vec packet_load(const void *p)
{
    fibers::pass();
    const u64 a = word(p).load(std::memory_order_relaxed), b = word((char *)p + 8).load(std::memory_order_relaxed);
    return Vec{(u32)a, (u32)(a >> 32), (u32)b, (u32)(b >> 32)};
}

// On the GPU what is stored where a peer's words told it may be depends on them; here that is
// said with release and acquire.
DEV Vec words_load(const void *p)
{
    fibers::pass();
    const u64 a = word(p).load(std::memory_order_acquire), b = word((char *)p + 8).load(std::memory_order_acquire);
    return Vec{(u32)a, (u32)(a >> 32), (u32)b, (u32)(b >> 32)};
}
DEV void words_store(void *p, Vec v)
{
    word(p).store((u64)v.y << 32 | v.x, std::memory_order_release);
    fibers::pass(); // neither half has to come with the other
    word((char *)p + 8).store((u64)v.w << 32 | v.z, std::memory_order_release);
}

// A line is stored and loaded as a whole: the flag last, and first.
DEV void store_both(void *p, Vec v, std::memory_order order)
{
    word(p).store((u64)v.y << 32 | v.x, std::memory_order_relaxed);
    word((char *)p + 8).store((u64)v.w << 32 | v.z, order);
}
DEV Vec load_both(const void *p)
{
    const u64 b = word((char *)p + 8).load(std::memory_order_acquire), a = word(p).load(std::memory_order_relaxed);
    return Vec{(u32)a, (u32)(a >> 32), (u32)b, (u32)(b >> 32)};
}
DEV void line_store(void *p, Vec v, bool last, bool active)
{
    if (active && !last) store_both(p, v, std::memory_order_relaxed);
    together();
    if (active && last) store_both(p, v, std::memory_order_release);
}
DEV Vec line_load(const void *p, bool last, bool active)
{
    Vec v = {};
    fibers::pass();
    if (active && last) v = load_both(p);
    together();
    if (active && !last) v = load_both(p);
    return v;
}

DEV void wait_for_kernel_ahead() {}
DEV void let_next_kernel_start() {}

DEV void pin(u64) {}

// A turn counts as so long.
DEV u64 now_ns() { return fibers::pass(), 16 * fibers::clock(); }
DEV u32 host_word(const u32 *p) { return ((std::atomic<u32> *)p)->load(); }
DEV bool claim(u32 *p)
{
    u32 zero = 0;
    return ((std::atomic<u32> *)p)->compare_exchange_strong(zero, 1);
}
DEV void host_store(u32 *p, u32 v) { ((std::atomic<u32> *)p)->store(v); }
DEV void host_fence() {}

DEV float as_float(u32 w)
{
    float f;
    __builtin_memcpy(&f, &w, 4);
    return f;
}
DEV u32 as_bits(float f)
{
    u32 w;
    __builtin_memcpy(&w, &f, 4);
    return w;
}

#if defined(T_INT32)
typedef int Acc;
typedef u32 Elem;
constexpr u32 PER_WORD = 1;
DEV void unpack(u32 w, Acc *a) { a[0] = (int)w; }
DEV u32 pack(const Acc *a) { return (u32)a[0]; }
#elif defined(T_BFLOAT16)
typedef float Acc;
typedef unsigned short Elem;
constexpr u32 PER_WORD = 2;
DEV void unpack(u32 w, Acc *a) { a[0] = as_float(w << 16), a[1] = as_float(w & 0xffff0000u); }
DEV u32 rounded(float f) { return (as_bits(f) + 0x7fff + (as_bits(f) >> 16 & 1)) >> 16; }
DEV u32 pack(const Acc *a) { return rounded(a[0]) | rounded(a[1]) << 16; }
#else
typedef float Acc;
typedef u32 Elem;
constexpr u32 PER_WORD = 1;
DEV void unpack(u32 w, Acc *a) { a[0] = as_float(w); }
DEV u32 pack(const Acc *a) { return as_bits(a[0]); }
#endif
