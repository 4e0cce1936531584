// The interpreter's kernels: plan in the parameter, or in global memory and copied to
// shared memory first.
#include "plan.cuh"
#include "device.cuh"
#include "reduce.cuh"
#include "multi.cuh"
#include "packets.cuh"
#include "engine.cuh"

#if defined(SPECIALISED)
// The plan as constants: LANES, OPS and play_lanes, written by the host.
#include "constants.cuh"

extern "C" __global__ void __launch_bounds__(512, 1) run_inline(const __grid_constant__ Params p)
{
    Engine e(p);
    e.begin();
    play_lanes(e);
    e.end();
}
#else
extern "C" __global__ void __launch_bounds__(512, 1) run_inline(const __grid_constant__ Params p)
{
    Engine e(p);
    e.begin();
    const Lane &l = ((const Lane *)p.data)[e.lane];
    e.play(l, (const Op *)((const Lane *)p.data + p.lanes) + l.first);
    e.end();
}

extern "C" __global__ void __launch_bounds__(512, 1) run_stored(const __grid_constant__ Params p)
{
    extern __shared__ u64 store[];
    Engine e(p);
    const Lane l = ((const Lane *)p.plan)[e.lane];
    const u32 words = (l.before + l.body + l.after) * (sizeof(Op) / 8);
    const u64 *from = (const u64 *)((const Op *)((const Lane *)p.plan + p.lanes) + l.first);
    for (u32 i = thread(); i < words; i += threads()) store[i] = from[i];
    sync();
    e.begin();
    e.play(l, (const Op *)store);
    e.end();
}
#endif
