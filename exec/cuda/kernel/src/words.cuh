// Words: every word of 4 bytes is its own flag, since the buffer holds EMPTY where nothing
// has arrived. So all bytes on the way are data, and no access has to arrive whole. Who has
// read a word empties it again: two launches later, when its room is used next, that has
// happened before, since between the two every rank has heard from every other.
//
// EMPTY is not a number in any of the float types; where data hold it, another not-a-number
// is sent instead. So words are for reductions of floats (model/block refuses others).
#pragma once

constexpr u32 EMPTY = 0xffffffffu;

// How many loads of a place a lane has under way: measured on 2 to 4 H200, 4 to 64 MiB. More
// only fill queues. Of several peers one each is enough.
constexpr u32 PUT_AHEAD = 2, TAKE_AHEAD = 2;

// Team is this thread's place among those that share an operation.
struct Team {
    u64 first, count;
};

// team: where an operation takes words that go nowhere, and there is plenty, a quarter of the
// threads put what has to go ahead of it while the others take what arrives (HALVES). Measured on
// 2 and 4 H200: at fewer than five rounds of all threads, counted over the peers, all are faster.
DEV Team team(const Head &op, u64 n)
{
    constexpr u32 plenty = 5;
    const bool takes = op.kind == OP_WORD_REDUCE;
    if (!(op.flags & HALVES) || op.flags & ONCE || n * (takes ? op.nll : op.nput) < (u64)plenty * threads() * 16) return Team{thread(), threads()};
    const u32 putting = threads() / 4;
    if ((thread() >= putting) != takes) return Team{0, 0};
    return takes ? Team{thread() - putting, threads() - putting} : Team{thread(), putting};
}

// few: so few rounds that one access a lane at a time keeps links as busy, and blocks closer together.
DEV bool few(const Head &op, u64 n) { return op.flags & ONCE || n <= 4ull * threads() * 16; }

DEV u32 not_empty(u32 w) { return w == EMPTY ? EMPTY >> 1 : w; }
DEV Vec not_empty(Vec v) { return Vec{not_empty(v.x), not_empty(v.y), not_empty(v.z), not_empty(v.w)}; }
DEV bool arrived(Vec v) { return v.x != EMPTY && v.y != EMPTY && v.z != EMPTY && v.w != EMPTY; }

// Data that are WHOLE, 16 aligned bytes everywhere, take no branches, between which loads would
// wait for one another.
template <bool WHOLE> DEV Vec get_quad(u64 at, u64 left) { return WHOLE ? ld16((const void *)at) : load_quad(at, left); }
template <bool WHOLE> DEV void set_quad(u64 at, u64 left, Vec v)
{
    if (WHOLE) st16((void *)at, v);
    else store_quad(at, left, v);
}

template <u32 U, bool WHOLE> DEV void put_words(const Head &op, const Puts &x, u64 n)
{
    const Team t = team(op, n);
    if (!t.count) return;
    const u64 step = t.count * 16;
    for (u64 i = t.first * 16; i < n; i += U * step) {
        Vec v[RANKS - 1][U];
#pragma unroll
        for (u32 d = 0; d < RANKS - 1; d++)
#pragma unroll
            for (u32 u = 0; u < U; u++)
                if (d < op.nsrc && i + u * step < x.bytes[d]) v[d][u] = get_quad<WHOLE>(x.src[d] + i + u * step, x.left(d, i + u * step));
#pragma unroll
        for (u32 u = 0; u < U; u++)
#pragma unroll
            for (u32 d = 0; d < RANKS - 1; d++)
                if (d < op.nput && i + u * step < x.bytes[d]) words_store((void *)(x.to[d] + i + u * step), not_empty(v[x.source(d)][u]));
        if (op.flags & ONCE) break;
    }
}

// word_put sends sources to the packet buffers of several peers.
DEV void word_put(const Head &op, const Places a, u64 n)
{
    const Puts x(op, a, n);
    if (likely(x.whole(op.nsrc) && few(op, n))) put_words<1, true>(op, x, n);
    else if (x.whole(op.nsrc)) put_words<PUT_AHEAD, true>(op, x, n);
    else if (ACROSS && !few(op, n)) put_words<PUT_AHEAD, false>(op, x, n);
    else put_words<1, false>(op, x, n);
}

// empty leaves the room of a word as it was.
DEV void empty(u64 at) { words_store((void *)at, Vec{EMPTY, EMPTY, EMPTY, EMPTY}); }

// word_unpack takes words of several peers side by side.
template <bool WHOLE, class W> DEV void word_unpack(const Takes &x, u64 n, W &wait)
{
    for (u64 i = thread() * 16; i < n; i += threads() * 16) {
        Vec v[RANKS - 1];
#pragma unroll
        for (u32 p = 0; p < RANKS - 1; p++)
            if (x.left(p, i)) v[p] = words_load((const void *)(x.from[p] + i));
        for (u32 spins = 0;; spins++) {
            u32 missing = RANKS;
#pragma unroll
            for (u32 p = 0; p < RANKS - 1; p++)
                if (x.left(p, i) && !arrived(v[p])) {
                    missing = p;
                    v[p] = words_load((const void *)(x.from[p] + i));
                }
            if (missing == RANKS || wait.expired(spins, missing, 0, EMPTY)) break;
        }
#pragma unroll
        for (u32 p = 0; p < RANKS - 1; p++) {
            if (!x.left(p, i)) continue;
            empty(x.from[p] + i);
            set_quad<WHOLE>(x.to[p] + i, x.left(p, i), v[p]);
        }
        if (x.once) break;
    }
}

// word_combine has U loads of each peer under way.
template <u32 U, bool WHOLE, class W> DEV void word_combine(const Head &op, const Places a, u64 n, u32 ranks, W &wait)
{
    const u32 nsrc = op.nsrc, nll = op.nll, own = op.own;
    const u32 d0 = nsrc + nll, f0 = d0 + op.ndst;
    const Team t = team(op, n);
    if (!t.count) return;
    const u64 src = a.data(0), step = t.count * 16;
    u64 from[RANKS - 1];
#pragma unroll
    for (u32 p = 0; p < RANKS - 1; p++) from[p] = a.packets(p < nll ? nsrc + p : nsrc);
    for (u64 i = t.first * 16; i < n; i += U * step) {
        Vec v[RANKS - 1][U], mine[U] = {};
#pragma unroll
        for (u32 p = 0; p < RANKS - 1; p++)
#pragma unroll
            for (u32 u = 0; u < U; u++) {
                v[p][u] = Vec{};
                if (p < nll && i + u * step < n) v[p][u] = words_load((const void *)(from[p] + i + u * step));
            }
        if (nsrc)
#pragma unroll
            for (u32 u = 0; u < U; u++)
                if (i + u * step < n) mine[u] = get_quad<WHOLE>(src + i + u * step, n - i - u * step);
        for (u32 spins = 0;; spins++) {
            u32 missing = RANKS;
#pragma unroll
            for (u32 p = 0; p < RANKS - 1; p++)
#pragma unroll
                for (u32 u = 0; u < U; u++)
                    if (p < nll && !arrived(v[p][u])) {
                        missing = p;
                        v[p][u] = words_load((const void *)(from[p] + i + u * step));
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
                    empty(from[p] + at);
                }
            }
            const Vec r = total.words(op.flags & SCALE, ranks);
#pragma unroll
            for (u32 d = 0; d < RANKS; d++)
                if (d < op.ndst) set_quad<WHOLE>(a.data(d0 + d) + at, n - at, r);
#pragma unroll
            for (u32 d = 0; d < RANKS - 1; d++)
                if (d < op.nput) words_store((void *)(a.packets(f0 + d) + at), not_empty(r));
        }
        if (op.flags & ONCE) break;
    }
}

// aligned reports whether a reduction's data are 16 aligned bytes everywhere.
DEV bool aligned(const Head &op, const Places a, u64 n)
{
    u64 mixed = n;
    if (op.nsrc) mixed |= a.data(0);
#pragma unroll
    for (u32 d = 0; d < RANKS; d++)
        if (d < op.ndst) mixed |= a.data(op.nsrc + op.nll + d);
    return !(mixed & 15);
}

// word_reduce is ll_reduce in words; destinations may be a peer's memory.
template <class W> DEV void word_reduce(const Head &op, const Places a, u64 n, u32 ranks, W &wait)
{
    if (op.flags & PAIRS) {
        const Takes x(op, a, n);
        if (likely(x.whole(op.nll))) word_unpack<true>(x, n, wait);
        else word_unpack<false>(x, n, wait);
    } else if (likely(aligned(op, a, n) && (op.nll > 1 || few(op, n)))) {
        word_combine<1, true>(op, a, n, ranks, wait);
    } else if (aligned(op, a, n)) {
        word_combine<TAKE_AHEAD, true>(op, a, n, ranks, wait);
    } else if (ACROSS && op.nll == 1 && !few(op, n)) {
        word_combine<TAKE_AHEAD, false>(op, a, n, ranks, wait);
    } else {
        word_combine<1, false>(op, a, n, ranks, wait);
    }
}
