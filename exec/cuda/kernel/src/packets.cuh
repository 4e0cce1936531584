// LL: data and flag travel in one 16-byte store, so that no fence and no second message
// is needed. A packet carries 8 bytes of data.
#pragma once

// Puts are what goes to the packet buffers of several peers: one source, or (PAIRS) source k to
// peer k, whose loads are all under way at once.
struct Puts {
    u64 src[RANKS - 1], to[RANKS - 1], bytes[RANKS - 1];
    bool pairs;

    DEV Puts(const Head &op, const Places a, u64 n) : pairs(op.flags & PAIRS)
    {
#pragma unroll
        for (u32 d = 0; d < RANKS - 1; d++) {
            const u32 k = d < op.nput ? d : 0;
            src[d] = a.data(pairs ? k : 0), to[d] = a.packets(op.nsrc + k);
            bytes[d] = pairs ? a.left(2 * op.nput + k, n) : n;
        }
    }
    DEV u64 left(u32 d, u64 at) const { return bytes[d] > at ? bytes[d] - at : 0; }
    // whole: all of it is 16 aligned bytes at a time.
    DEV bool whole(u32 sources) const
    {
        u64 mixed = 0;
#pragma unroll
        for (u32 d = 0; d < RANKS - 1; d++)
            if (d < sources) mixed |= src[d] | bytes[d];
        return !(mixed & 15);
    }
    DEV u32 source(u32 d) const { return pairs ? d : 0; }
};

// Takes are packets of several peers that are unpacked side by side (PAIRS), packet source k to
// destination k.
struct Takes {
    u64 from[RANKS - 1], to[RANKS - 1], bytes[RANKS - 1];
    bool once;

    DEV Takes(const Head &op, const Places a, u64 n) : once(op.flags & ONCE)
    {
#pragma unroll
        for (u32 p = 0; p < RANKS - 1; p++) {
            const u32 k = p < op.nll ? p : 0;
            from[p] = a.packets(k), to[p] = a.data(op.nll + k);
            bytes[p] = p < op.nll ? a.left(2 * op.nll + k, n) : 0;
        }
    }
    DEV u64 left(u32 p, u64 at) const { return bytes[p] > at ? bytes[p] - at : 0; }
    DEV bool whole(u32 peers) const
    {
        u64 mixed = 0;
#pragma unroll
        for (u32 p = 0; p < RANKS - 1; p++)
            if (p < peers) mixed |= to[p] | bytes[p];
        return !(mixed & 15);
    }
};

// ll_put sends sources to the packet buffers of several peers.
DEV void ll_put(const Head &op, const Places a, u64 n, u32 flag)
{
    const Puts x(op, a, n);
    for (u64 i = thread(); i * 8 < n; i += threads()) {
        Pair v[RANKS - 1];
#pragma unroll
        for (u32 d = 0; d < RANKS - 1; d++)
            if (d < op.nsrc && x.left(d, i * 8)) v[d] = load_pair(x.src[d] + i * 8, x.left(d, i * 8));
#pragma unroll
        for (u32 d = 0; d < RANKS - 1; d++)
            if (d < op.nput && x.left(d, i * 8)) packet_store((void *)(x.to[d] + i * 16), v[x.source(d)].a, v[x.source(d)].b, flag);
        if (op.flags & ONCE) break;
    }
}

// ll_unpack takes packets of several peers side by side.
template <class W> DEV void ll_unpack(const Head &op, const Places a, u64 n, u32 flag, W &wait)
{
    const Takes x(op, a, n);
    for (u64 i = thread(); i * 8 < n; i += threads()) {
        Vec v[RANKS - 1];
#pragma unroll
        for (u32 p = 0; p < RANKS - 1; p++)
            if (x.left(p, i * 8)) v[p] = packet_load((const void *)(x.from[p] + i * 16));
        for (u32 spins = 0;; spins++) {
            u32 missing = RANKS, got = 0;
#pragma unroll
            for (u32 p = 0; p < RANKS - 1; p++)
                if (x.left(p, i * 8) && (v[p].y != flag || v[p].w != flag)) {
                    missing = p, got = v[p].y;
                    v[p] = packet_load((const void *)(x.from[p] + i * 16));
                }
            if (missing == RANKS || wait.expired(spins, missing, flag, got)) break;
        }
#pragma unroll
        for (u32 p = 0; p < RANKS - 1; p++)
            if (x.left(p, i * 8)) store_pair(x.to[p] + i * 8, x.left(p, i * 8), Pair{v[p].x, v[p].z});
        if (x.once) break;
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
    if (op.flags & PAIRS) return ll_unpack(op, a, n, flag, wait);
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
        if (op.flags & ONCE) break;
    }
}
