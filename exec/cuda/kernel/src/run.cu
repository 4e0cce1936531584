// The interpreter's kernels: plan in the parameter, or in global memory and copied to
// shared memory first.
#include "plan.cuh"
#include "device.cuh"
#include "reduce.cuh"
#include "multi.cuh"
#include "packets.cuh"
#include "lines.cuh"
#include "engine.cuh"

#if defined(SPECIALISED)
// The plan as constants: play_lanes, written by the host.
#include "constants.cuh"

extern "C" __global__ void __launch_bounds__(512, 1) run_special(const __grid_constant__ Params p)
{
    Engine e(p, p.base);
    e.begin();
    play_lanes(e);
}
#else
// The table of addresses and the lane's operations lie in shared memory while they run.
constexpr u32 TABLE = MAX_RANKS * BUFFERS;

DEV void copy_table(const Params &p, u64 *store)
{
    for (u32 i = thread(); i < TABLE; i += threads()) store[i] = p.base[i];
}

extern "C" __global__ void __launch_bounds__(512, 1) run_inline(const __grid_constant__ Inline in)
{
    __shared__ u64 store[TABLE + INLINE_BYTES / 8];
    let_next_kernel_start();
    copy_table(in.p, store);
    for (u32 i = thread(); i < INLINE_BYTES / 8; i += threads()) store[TABLE + i] = in.data[i];
    sync();
    Engine e(in.p, store);
    const Lane *lanes = (const Lane *)(store + TABLE), l = lanes[e.lane];
    Op *ops = (Op *)(lanes + in.p.lanes) + l.first;
    e.resolve(l, ops);
    e.begin();
    e.play(l, ops);
}

extern "C" __global__ void __launch_bounds__(512, 1) run_stored(const __grid_constant__ Params p)
{
    extern __shared__ u64 store[];
    let_next_kernel_start();
    copy_table(p, store);
    Engine e(p, store);
    const Lane l = ((const Lane *)p.plan)[e.lane];
    const u32 words = (l.before + l.body + l.after) * (sizeof(Op) / 8);
    const u64 *from = (const u64 *)((const Op *)((const Lane *)p.plan + p.lanes) + l.first);
    for (u32 i = thread(); i < words; i += threads()) store[TABLE + i] = from[i];
    sync();
    e.resolve(l, (Op *)(store + TABLE));
    e.begin();
    e.play(l, (const Op *)(store + TABLE));
}
#endif
