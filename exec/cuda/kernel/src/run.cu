// The kernels: a plan of constants, or an interpreter of plans in global memory, which copies
// them to shared memory first.
#if !defined(THREADS)
#define THREADS 512 // of a block
#endif
#include "plan.cuh"
#include "device.cuh"
#include "reduce.cuh"
#include "quads.cuh"
#include "multi.cuh"
#include "packets.cuh"
#include "lines.cuh"
#include "words.cuh"
#include "engine.cuh"

// touch reads a parameter while the kernel ahead still runs: each of its lines is a miss.
template <class T> DEV void touch(const T &in)
{
    u64 some = 0;
#pragma unroll
    for (u32 i = 0; i < sizeof(T) / 8; i += 8) some |= ((const u64 *)&in)[i];
    keep(some | ((const u64 *)&in)[sizeof(T) / 8 - 1]);
}

#if defined(SPECIALISED)
// The plan as constants: play_lanes, written by the host.
#include "constants.cuh"

extern "C" __global__ void __launch_bounds__(THREADS, 1) run_special(const __grid_constant__ Special in)
{
    Engine e(in.p, in.base);
    e.count();
    touch(in);
    play_lanes(e);
}
#else
// What the interpreter knows of its plans: the forms of their operations. play_plan, written by the host.
#include "forms.cuh"

extern "C" __global__ void __launch_bounds__(THREADS, 1) run_plan(const __grid_constant__ Params p)
{
    extern __shared__ u64 store[];
    Engine e(p, nullptr);
    e.count();
    const u64 from = p.plan + (u64)e.lane * p.lane_bytes;
    for (u32 i = thread() * 16; i < p.lane_bytes; i += threads() * 16) *(Vec *)((char *)store + i) = ld16((const void *)(from + i));
    touch(p);
    sync();
    play_plan(e, shared(store));
}
#endif
