// LL: data and flag travel in one 16-byte store, so that no fence and no second message
// is needed. A packet carries 8 bytes of data.
#pragma once

// Pair is a packet's data.
struct Pair {
    u32 a, b;
};

// load_elements reads up to 8 bytes that are not aligned or not whole.
DEV u64 load_elements(u64 at, u64 left)
{
    const u32 n = left < 8 ? (u32)left : 8;
    u64 v = 0;
    for (u32 i = 0; i < n; i += sizeof(Elem)) v |= (u64)ld1<Elem>((const void *)(at + i)) << 8 * i;
    return v;
}

DEV Pair load_pair(u64 at, u64 left)
{
    const u64 v = left >= 8 && !(at & 7) ? ld1<u64>((const void *)at) : load_elements(at, left);
    return Pair{(u32)v, (u32)(v >> 32)};
}

DEV void store_elements(u64 at, u64 left, u64 v)
{
    const u32 n = left < 8 ? (u32)left : 8;
    for (u32 i = 0; i < n; i += sizeof(Elem)) st1<Elem>((void *)(at + i), (Elem)(v >> 8 * i));
}

DEV void store_pair(u64 at, u64 left, Pair p)
{
    const u64 v = (u64)p.b << 32 | p.a;
    if (left >= 8 && !(at & 7)) st1<u64>((void *)at, v);
    else store_elements(at, left, v);
}

// Quads are 16 bytes.
DEV Vec load_quad(u64 at, u64 left)
{
    if (left >= 16 && !(at & 15)) return ld16((const void *)at);
    const Pair p = load_pair(at, left);
    Pair q = {0, 0};
    if (left > 8) q = load_pair(at + 8, left - 8);
    return Vec{p.a, p.b, q.a, q.b};
}

DEV void store_quad(u64 at, u64 left, Vec v)
{
    if (left >= 16 && !(at & 15)) {
        st16((void *)at, v);
        return;
    }
    store_pair(at, left, Pair{v.x, v.y});
    if (left > 8) store_pair(at + 8, left - 8, Pair{v.z, v.w});
}

// Part is a share of a block's warps.
struct Part {
    u32 first, count;
};

// part: a put and the reduction behind it (HALVES) are work of one warp in so many, and of the
// others, where there is plenty, so that data leave while others arrive. A lane takes so many
// bytes a round.
DEV Part part(const Head &op, u64 n, u32 bytes, u32 one_in, bool second)
{
    constexpr u32 plenty = 3; // rounds of all lanes; measured on 2 H200: at fewer all are faster
    const u32 all = threads() / LANES, put = all < one_in ? 1 : all / one_in;
    if (!(op.flags & HALVES) || all < 2 || n <= (u64)plenty * all * LANES * bytes) return Part{warp(), all};
    if ((warp() >= put) != second) return Part{0, 0};
    return Part{second ? warp() - put : warp(), second ? all - put : put};
}

// ll_put sends one source to the packet buffers of several peers.
DEV void ll_put(const Head &op, const Places a, u64 n, u32 flag)
{
    const u64 src = a.data(0);
    u64 to[RANKS - 1];
#pragma unroll
    for (u32 d = 0; d < RANKS - 1; d++) to[d] = a.packets(d < op.nput ? 1 + d : 1);
    for (u64 i = thread(); i * 8 < n; i += threads()) {
        const Pair p = load_pair(src + i * 8, n - i * 8);
#pragma unroll
        for (u32 d = 0; d < RANKS - 1; d++)
            if (d < op.nput) packet_store((void *)(to[d] + i * 16), p.a, p.b, flag);
    }
}

// Total collects pairs in the order they are given.
struct Total {
    Sum a, b;
    Pair last;
    u32 n;

    DEV void take(u32 x, u32 y)
    {
        last.a = x, last.b = y;
        if (n++ == 0) a.start(x), b.start(y);
        else a.add(x), b.add(y);
    }
    DEV Pair pair(bool scale, u32 ranks)
    {
        if (n > 1 || scale) last.a = a.word(scale, ranks), last.b = b.word(scale, ranks);
        return last;
    }
};

// ll_reduce combines local sources with packets in the order of ranks (a local source,
// if there is one, is number own), writes the result to local memory and forwards it in
// packets. Without a local source and with one packet source it unpacks. See
// Wait::expired for the way out of the polling.
template <class W> DEV void ll_reduce(const Head &op, const Places a, u64 n, u32 flag, u32 ranks, W &wait)
{
    const u32 nsrc = op.nsrc, nll = op.nll, own = op.own;
    const u32 d0 = nsrc + nll, f0 = d0 + op.ndst;
    const u64 src = a.data(0);
    u64 from[RANKS - 1];
#pragma unroll
    for (u32 s = 0; s < RANKS - 1; s++) from[s] = a.packets(s < nll ? nsrc + s : nsrc);
    const u64 dst = a.data(op.ndst ? d0 : 0);
    for (u64 i = thread(); i * 8 < n; i += threads()) {
        const u64 left = n - i * 8;
        Vec v[RANKS - 1];
#pragma unroll
        for (u32 s = 0; s < RANKS - 1; s++)
            if (s < nll) v[s] = packet_load((const void *)(from[s] + i * 16));
        Pair mine = {0, 0};
        if (nsrc) mine = load_pair(src + i * 8, left);
        for (u32 spins = 0;; spins++) {
            u32 missing = RANKS, got = 0;
#pragma unroll
            for (u32 s = 0; s < RANKS - 1; s++) {
                if (s < nll && (v[s].y != flag || v[s].w != flag)) {
                    missing = s, got = v[s].y;
                    v[s] = packet_load((const void *)(from[s] + i * 16));
                }
            }
            if (missing == RANKS || wait.expired(spins, missing, flag, got)) break;
        }
        Total total = {};
#pragma unroll
        for (u32 s = 0; s < RANKS; s++) {
            if (nsrc && s == own) total.take(mine.a, mine.b);
            if (s < RANKS - 1 && s < nll) total.take(v[s].x, v[s].z);
        }
        const Pair r = total.pair(op.flags & SCALE, ranks);
        if (op.ndst) store_pair(dst + i * 8, left, r);
        for (u32 d = 1; d < op.ndst; d++) store_pair(a.data(d0 + d) + i * 8, left, r);
#pragma unroll
        for (u32 d = 0; d < RANKS - 1; d++)
            if (d < op.nput) packet_store((void *)(a.packets(f0 + d) + i * 16), r.a, r.b, flag);
    }
}
