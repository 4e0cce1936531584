// The primitives on the GPU: what host.hpp is on the CPU.
#pragma once

#define DEV __device__ __forceinline__
#if defined(SPECIALISED)
#define APART DEV
#else
#define APART static __device__ __noinline__
#endif

struct Vec { u32 x, y, z, w; };

DEV u32 thread() { return threadIdx.x; }
#if defined(THREADS)
DEV u32 threads() { return THREADS; } // what rounds of all threads cover is known to the compiler
#else
DEV u32 threads() { return blockDim.x; }
#endif
DEV u32 block() { return blockIdx.x; }
DEV void sync() { __syncthreads(); }

// Warps: lanes that go on together.
constexpr u32 LANES = 32;
DEV u32 lane() { return threadIdx.x % LANES; }
DEV u32 warp() { return threadIdx.x / LANES; }
DEV bool any(bool x) { return __any_sync(~0u, x); }
DEV u32 count_bits(u32 x) { return __popc(x); }

// Words are in shared memory, whose address the compiler would otherwise ask for at each access.
struct Words {
    u32 at;

    DEV u64 operator[](u32 i) const
    {
        u64 v;
        asm("ld.shared.u64 %0, [%1];" : "=l"(v) : "r"(at + 8 * i));
        return v;
    }
    DEV Words operator+(u32 n) const { return Words{at + 8 * n}; }
};
DEV Words shared(const u64 *p)
{
    u32 at;
    asm volatile("{.reg .u64 a; cvta.to.shared.u64 a, %1; cvt.u32.u64 %0, a;}" : "=r"(at) : "l"(p));
    return Words{at};
}
#if defined(SPECIALISED)
typedef const u64 *Refs;
#else
typedef Words Refs;
#endif

// Data of peers is read around the L1 cache, which nothing keeps coherent.
DEV Vec ld16(const void *p)
{
    Vec v;
    asm volatile("ld.relaxed.sys.global.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p));
    return v;
}
DEV void st16(void *p, Vec v)
{
    asm volatile("st.global.v4.u32 [%0], {%1,%2,%3,%4};" ::"l"(p), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w) : "memory");
}
// ld_around reads the quads that 16 bytes, or what is left, lie across; what else is in them is there to read, and
// nobody asks for it.
DEV void ld_around(u64 at, u64 left, Vec &low, Vec &high)
{
    const u32 m = at & 15;
    low = ld16((const void *)(at - m));
    high = m + left > 16 && m ? ld16((const void *)(at - m + 16)) : low;
}
template <class T> DEV T ld1(const void *p) { return *(const volatile T *)p; }
template <class T> DEV void st1(void *p, T v) { *(volatile T *)p = v; }

DEV u64 flag_relaxed(const u64 *p)
{
    u64 v;
    asm volatile("ld.relaxed.sys.global.u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory");
    return v;
}
DEV u64 flag_acquire(const u64 *p)
{
    u64 v;
    asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory");
    return v;
}
DEV void raise_relaxed(u64 *p, u64 v) { asm volatile("st.relaxed.sys.global.u64 [%0], %1;" ::"l"(p), "l"(v) : "memory"); }
DEV void raise_release(u64 *p, u64 v) { asm volatile("st.release.sys.global.u64 [%0], %1;" ::"l"(p), "l"(v) : "memory"); }

// A packet is 8 bytes of data and the flag twice, in one 16-byte access; each half is
// valid on its own.
DEV void packet_store(void *p, u32 a, u32 b, u32 flag)
{
    asm volatile("st.relaxed.sys.global.v4.u32 [%0], {%1,%2,%3,%2};" ::"l"(p), "r"(a), "r"(flag), "r"(b) : "memory");
}
DEV Vec packet_load(const void *p)
{
    Vec v;
    asm volatile("ld.relaxed.sys.global.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p) : "memory");
    return v;
}

// Words are their own flags (words.cuh). What is stored where words told it may be depends on
// them, so no order has to be asked for.
DEV Vec words_load(const void *p) { return packet_load(p); }
DEV void words_store(void *p, Vec v)
{
    asm volatile("st.relaxed.sys.global.v4.u32 [%0], {%1,%2,%3,%4};" ::"l"(p), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w) : "memory");
}

// Eight lanes access a line of 128 bytes with one instruction; the last lane's second half
// is the line's flag, twice. All lanes of a warp call these together.
DEV void line_store(void *p, Vec v, bool, bool active)
{
    __syncwarp();
    if (active) words_store(p, v);
}
DEV Vec line_load(const void *p, bool, bool active)
{
    Vec v = {};
    __syncwarp();
    if (active) v = packet_load(p);
    return v;
}

// keep makes a value needed: one that is never 0.
DEV void keep(u64 x) { asm volatile("{.reg .pred p; setp.eq.u64 p, %0, 0; @p trap;}" ::"l"(x)); }

// pin keeps what has been computed so far from being computed later.
DEV void pin(u64 &x) { asm volatile("" : "+l"(x)); }

DEV u64 now_ns()
{
    u64 t;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
    return t;
}
DEV u32 host_word(const u32 *p) { return *(const volatile u32 *)p; }
DEV bool claim(u32 *p) { return atomicCAS_system(p, 0u, 1u) == 0; }
DEV void host_store(u32 *p, u32 v) { *(volatile u32 *)p = v; }
DEV void host_fence() { __threadfence_system(); }

// The kernel behind this one in the stream may be launched while this one runs; it
// waits here until this one's memory is visible.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
DEV void wait_for_kernel_ahead() {}
DEV void let_next_kernel_start() {}
#else
DEV void wait_for_kernel_ahead() { asm volatile("griddepcontrol.wait;" ::: "memory"); }
DEV void let_next_kernel_start() { asm volatile("griddepcontrol.launch_dependents;"); }
#endif

// Numbers: a word of 32 bits holds PER_WORD elements; sums are made in Acc.
#if defined(T_FLOAT32)
typedef float Acc;
typedef u32 Elem;
constexpr u32 PER_WORD = 1;
DEV void unpack(u32 w, Acc *a) { a[0] = __uint_as_float(w); }
DEV u32 pack(const Acc *a) { return __float_as_uint(a[0]); }
#elif defined(T_INT32)
typedef int Acc;
typedef u32 Elem;
constexpr u32 PER_WORD = 1;
DEV void unpack(u32 w, Acc *a) { a[0] = (int)w; }
DEV u32 pack(const Acc *a) { return (u32)a[0]; }
#elif defined(T_BFLOAT16)
typedef float Acc;
typedef unsigned short Elem;
constexpr u32 PER_WORD = 2;
DEV void unpack(u32 w, Acc *a) { a[0] = __uint_as_float(w << 16), a[1] = __uint_as_float(w & 0xffff0000u); }
DEV u32 pack(const Acc *a)
{
    u32 w;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(w) : "f"(a[1]), "f"(a[0]));
    return w;
}
#elif defined(T_FLOAT16)
typedef float Acc;
typedef unsigned short Elem;
constexpr u32 PER_WORD = 2;
DEV float half_to_float(u32 h)
{
    float f;
    asm("{.reg .b16 h; cvt.u16.u32 h, %1; cvt.f32.f16 %0, h;}" : "=f"(f) : "r"(h));
    return f;
}
DEV void unpack(u32 w, Acc *a) { a[0] = half_to_float(w & 0xffffu), a[1] = half_to_float(w >> 16); }
DEV u32 pack(const Acc *a)
{
    u32 w;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(w) : "f"(a[1]), "f"(a[0]));
    return w;
}
#else
typedef float Acc;
typedef u8 Elem;
constexpr u32 PER_WORD = 4;
DEV float half_to_float(u32 h)
{
    float f;
    asm("{.reg .b16 h; cvt.u16.u32 h, %1; cvt.f32.f16 %0, h;}" : "=f"(f) : "r"(h));
    return f;
}
#if defined(T_E4M3)
#define FP8 "e4m3x2"
#else
#define FP8 "e5m2x2"
#endif
DEV void unpack(u32 w, Acc *a)
{
    for (u32 i = 0; i < 2; i++) {
        u32 two;
        asm("{.reg .b16 s; cvt.u16.u32 s, %1; cvt.rn.f16x2." FP8 " %0, s;}" : "=r"(two) : "r"(w >> 16 * i & 0xffffu));
        a[2 * i] = half_to_float(two & 0xffffu), a[2 * i + 1] = half_to_float(two >> 16);
    }
}
DEV u32 pack(const Acc *a)
{
    u32 w[2];
    for (u32 i = 0; i < 2; i++)
        asm("{.reg .b16 d; cvt.rn.satfinite." FP8 ".f32 d, %1, %2; cvt.u32.u16 %0, d;}" : "=r"(w[i]) : "f"(a[2 * i + 1]), "f"(a[2 * i]));
    return w[0] | w[1] << 16;
}
#endif
