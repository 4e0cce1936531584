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

// word_put sends one source to the packet buffers of several peers, or (PAIRS) source k to
// peer k, so that all peers get their first words at once.
DEV void word_put(const Head &op, const Places a, u64 n)
{
    constexpr u32 U = PUT_AHEAD;
    const bool pairs = op.flags & PAIRS;
    const Part w = part(op, n, 16, PUTTING, false);
    if (!w.count) return;
    const u64 step = (u64)w.count * LANES * 16;
    u64 src[RANKS - 1], to[RANKS - 1], bytes[RANKS - 1];
#pragma unroll
    for (u32 d = 0; d < RANKS - 1; d++) {
        const u32 k = d < op.nput ? d : 0;
        src[d] = a.data(pairs ? k : 0), to[d] = a.packets(op.nsrc + k);
        bytes[d] = pairs ? a.left(2 * op.nput + k, n) : n;
    }
    for (u64 i = ((u64)w.first * LANES + lane()) * 16; i < n; i += U * step) {
        Vec v[RANKS - 1][U];
#pragma unroll
        for (u32 d = 0; d < RANKS - 1; d++)
#pragma unroll
            for (u32 u = 0; u < U; u++)
                if (d < op.nsrc && i + u * step < bytes[d]) v[d][u] = load_quad(src[d] + i + u * step, bytes[d] - i - u * step);
#pragma unroll
        for (u32 u = 0; u < U; u++)
#pragma unroll
            for (u32 d = 0; d < RANKS - 1; d++)
                if (d < op.nput && i + u * step < bytes[d]) words_store((void *)(to[d] + i + u * step), not_empty(v[pairs ? d : 0][u]));
    }
}

// Arriving is words of several peers at U places, step bytes apart.
template <u32 U> struct Arriving {
    u64 from[RANKS - 1];
    Vec v[RANKS - 1][U];

    DEV Arriving(const Head &op, const Places a)
    {
#pragma unroll
        for (u32 p = 0; p < RANKS - 1; p++) from[p] = a.packets(op.nsrc + (p < op.nll ? p : 0));
    }

    // begin has the loads of all places under way at once.
    template <class Bytes> DEV void begin(u32 peers, u64 i, u64 step, Bytes bytes)
    {
#pragma unroll
        for (u32 p = 0; p < RANKS - 1; p++)
#pragma unroll
            for (u32 u = 0; u < U; u++) {
                v[p][u] = Vec{};
                if (p < peers && i + u * step < bytes(p)) v[p][u] = words_load((const void *)(from[p] + i + u * step));
            }
    }

    template <class W> DEV void await(u32 peers, u64 i, u64 step, W &wait)
    {
        for (u32 spins = 0;; spins++) {
            u32 missing = RANKS;
#pragma unroll
            for (u32 p = 0; p < RANKS - 1; p++)
#pragma unroll
                for (u32 u = 0; u < U; u++)
                    if (p < peers && !arrived(v[p][u])) {
                        missing = p;
                        v[p][u] = words_load((const void *)(from[p] + i + u * step));
                    }
            if (missing == RANKS || wait.expired(spins, missing, 0, EMPTY)) break;
        }
    }

    // empty leaves the room of a peer's words as it was.
    DEV void empty(u32 p, u64 at) const { words_store((void *)(from[p] + at), Vec{EMPTY, EMPTY, EMPTY, EMPTY}); }
};

// word_unpack takes the words of several peers side by side, packet source k to destination k.
template <class W> DEV void word_unpack(const Head &op, const Places a, u64 n, W &wait)
{
    constexpr u32 U = TAKE_AHEAD;
    const Part w = part(op, n, 16, PUTTING, true);
    if (!w.count) return;
    const u64 step = (u64)w.count * LANES * 16;
    Arriving<U> x(op, a);
    u64 bytes[RANKS - 1];
#pragma unroll
    for (u32 p = 0; p < RANKS - 1; p++) bytes[p] = a.left(2 * op.nll + (p < op.nll ? p : 0), n);
    for (u64 i = ((u64)w.first * LANES + lane()) * 16; i < n; i += U * step) {
        x.begin(op.nll, i, step, [&](u32 p) { return bytes[p]; });
        x.await(op.nll, i, step, wait);
#pragma unroll
        for (u32 p = 0; p < RANKS - 1; p++)
#pragma unroll
            for (u32 u = 0; u < U; u++) {
                const u64 at = i + u * step;
                if (p >= op.nll || at >= bytes[p]) continue;
                x.empty(p, at);
                store_quad(a.data(op.nll + p) + at, bytes[p] - at, x.v[p][u]);
            }
    }
}

// word_reduce is ll_reduce in words; destinations may be a peer's memory.
template <class W> DEV void word_reduce(const Head &op, const Places a, u64 n, u32 ranks, W &wait)
{
    constexpr u32 U = TAKE_AHEAD;
    const u32 nsrc = op.nsrc, nll = op.nll, own = op.own;
    const u32 d0 = nsrc + nll, f0 = d0 + op.ndst;
    if (op.flags & PAIRS) return word_unpack(op, a, n, wait);
    const Part w = part(op, n, 16, PUTTING, true);
    if (!w.count) return;
    const u64 src = a.data(0), step = (u64)w.count * LANES * 16;
    Arriving<U> x(op, a);
    for (u64 i = ((u64)w.first * LANES + lane()) * 16; i < n; i += U * step) {
        Vec mine[U] = {};
        x.begin(nll, i, step, [&](u32) { return n; });
        if (nsrc)
#pragma unroll
            for (u32 u = 0; u < U; u++)
                if (i + u * step < n) mine[u] = load_quad(src + i + u * step, n - i - u * step);
        x.await(nll, i, step, wait);
#pragma unroll
        for (u32 u = 0; u < U; u++) {
            const u64 at = i + u * step;
            if (at >= n) continue;
            Totals total = {};
#pragma unroll
            for (u32 p = 0; p < RANKS; p++) {
                if (nsrc && p == own) total.take(mine[u]);
                if (p < RANKS - 1 && p < nll) {
                    total.take(x.v[p][u]);
                    x.empty(p, at);
                }
            }
            const Vec r = total.words(op.flags & SCALE, ranks);
#pragma unroll
            for (u32 d = 0; d < RANKS; d++)
                if (d < op.ndst) store_quad(a.data(d0 + d) + at, n - at, r);
#pragma unroll
            for (u32 d = 0; d < RANKS - 1; d++)
                if (d < op.nput) words_store((void *)(a.packets(f0 + d) + at), not_empty(r));
        }
    }
}
