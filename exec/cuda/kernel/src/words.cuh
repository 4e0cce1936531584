// Words: every word of 4 bytes is its own flag, since the buffer holds EMPTY where nothing
// has arrived. So all bytes on the way are data, and no access has to arrive whole. Who has
// read a word empties it again: two launches later, when its room is used next, that has
// happened before, since between the two every rank has heard from every other.
//
// EMPTY is not a number in any of the float types; where data hold it, another not-a-number
// is sent instead. So words are for reductions of floats (model/block refuses others).
#pragma once

constexpr u32 EMPTY = 0xffffffffu;

// Measured on 2 H200, 4 to 64 MiB: a quarter of the warps puts as much as the links take, four
// stores a lane ahead; more of them are slower, the more the larger the data.
constexpr u32 PUTTING = 4, PUT_AHEAD = 4, TAKE_AHEAD = RANKS > 2 ? 1 : 2;

DEV u32 not_empty(u32 w) { return w == EMPTY ? EMPTY >> 1 : w; }
DEV Vec not_empty(Vec v) { return Vec{not_empty(v.x), not_empty(v.y), not_empty(v.z), not_empty(v.w)}; }
DEV bool arrived(Vec v) { return v.x != EMPTY && v.y != EMPTY && v.z != EMPTY && v.w != EMPTY; }

// word_put sends one source to the packet buffers of several peers.
DEV void word_put(const Head &op, const Places a, u64 n)
{
    constexpr u32 U = PUT_AHEAD;
    const Part w = part(op, n, 16, PUTTING, false);
    if (!w.count) return;
    const u64 src = a.data(0), step = (u64)w.count * LANES * 16;
    u64 to[RANKS - 1];
#pragma unroll
    for (u32 d = 0; d < RANKS - 1; d++) to[d] = a.packets(d < op.nput ? 1 + d : 1);
    for (u64 i = ((u64)w.first * LANES + lane()) * 16; i < n; i += U * step) {
        Vec v[U];
#pragma unroll
        for (u32 u = 0; u < U; u++)
            if (i + u * step < n) v[u] = load_quad(src + i + u * step, n - i - u * step);
#pragma unroll
        for (u32 u = 0; u < U; u++) {
            if (i + u * step >= n) continue;
            v[u] = not_empty(v[u]);
#pragma unroll
            for (u32 d = 0; d < RANKS - 1; d++)
                if (d < op.nput) words_store((void *)(to[d] + i + u * step), v[u]);
        }
    }
}

// word_reduce is ll_reduce in words.
template <class W> DEV void word_reduce(const Head &op, const Places a, u64 n, u32 ranks, W &wait)
{
    constexpr u32 U = TAKE_AHEAD;
    const u32 nsrc = op.nsrc, nll = op.nll, own = op.own;
    const u32 d0 = nsrc + nll, f0 = d0 + op.ndst;
    const Part w = part(op, n, 16, PUTTING, true);
    if (!w.count) return;
    const u64 src = a.data(0), step = (u64)w.count * LANES * 16;
    u64 from[RANKS - 1];
#pragma unroll
    for (u32 p = 0; p < RANKS - 1; p++) from[p] = a.packets(p < nll ? nsrc + p : nsrc);
    for (u64 i = ((u64)w.first * LANES + lane()) * 16; i < n; i += U * step) {
        Vec v[RANKS - 1][U], mine[U] = {};
#pragma unroll
        for (u32 p = 0; p < RANKS - 1; p++)
#pragma unroll
            for (u32 u = 0; u < U; u++) {
                v[p][u] = Vec{};
                if (p < nll && i + u * step < n) v[p][u] = packet_load((const void *)(from[p] + i + u * step));
            }
        if (nsrc)
#pragma unroll
            for (u32 u = 0; u < U; u++)
                if (i + u * step < n) mine[u] = load_quad(src + i + u * step, n - i - u * step);
        for (u32 spins = 0;; spins++) {
            u32 missing = RANKS;
#pragma unroll
            for (u32 p = 0; p < RANKS - 1; p++)
#pragma unroll
                for (u32 u = 0; u < U; u++)
                    if (p < nll && !arrived(v[p][u])) {
                        missing = p;
                        v[p][u] = packet_load((const void *)(from[p] + i + u * step));
                    }
            if (missing == RANKS || wait.expired(spins, missing, 0, EMPTY)) break;
        }
#pragma unroll
        for (u32 u = 0; u < U; u++) {
            const u64 at = i + u * step;
            if (at >= n) continue;
            Totals total = {};
#pragma unroll
            for (u32 p = 0; p < RANKS; p++) {
                if (nsrc && p == own) total.take(mine[u]);
                if (p < RANKS - 1 && p < nll) {
                    total.take(v[p][u]);
                    words_store((void *)(from[p] + at), Vec{EMPTY, EMPTY, EMPTY, EMPTY});
                }
            }
            const Vec r = total.words(op.flags & SCALE, ranks);
            for (u32 d = 0; d < op.ndst; d++) store_quad(a.data(d0 + d) + at, n - at, r);
#pragma unroll
            for (u32 d = 0; d < RANKS - 1; d++)
                if (d < op.nput) words_store((void *)(a.packets(f0 + d) + at), not_empty(r));
        }
    }
}
