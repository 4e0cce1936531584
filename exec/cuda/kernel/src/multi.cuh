// MULTI: reduce n sources, element by element, and write the result to m destinations;
// any of them may be a peer's memory. One source is a copy.
#pragma once

// Places are the addresses of an operation in one block and slice.
struct Places {
    const u64 *base;
    Refs ref;
    u64 skip, packet_skip, slot_skip;

    DEV u64 at(u32 i) const
    {
        if (!RESOLVED) return base[ref[i] >> 48] + (ref[i] & 0xffffffffffffull);
        return SLOT_TURNS > 1 && ref[i] & SLOT ? (ref[i] & ~SLOT) + slot_skip : ref[i];
    }
    DEV u64 data(u32 i) const { return at(i) + skip; }
    DEV u64 packets(u32 i) const { return at(i) + packet_skip; }
    // left is what a pair has of n bytes, its limit being number i.
    DEV u64 left(u32 i, u64 n) const
    {
        const u64 bytes = ref[i] > skip ? ref[i] - skip : 0;
        return bytes < n ? bytes : n;
    }
};

// AHEAD is how many loads of a source are under way at once where there are three or four.
constexpr u32 AHEAD = 4;

// lead is by how many bytes a block's threads begin ahead of their data, so that a warp's
// accesses to a peer's memory are whole lines: to what a reduction reads, else to what is written.
DEV u64 lead(const Head &op, const Places a, u64 from, u64 n)
{
    constexpr u64 line = 128;
    const bool reads = op.nsrc > 1 && !(op.flags & PAIRS);
    return n < 16 * line ? 0 : (a.data(reads ? 0 : op.nsrc + op.ndst - 1) + from) & (line - 1);
}

// Sources are loaded U times ahead; NS is their number, or with MORE the most.
template <u32 NS, u32 U, bool MORE> DEV void multi_words(const Head &op, const Places a, u64 from, u64 n, u32 ranks)
{
    const u64 step = threads() * 16, ahead = lead(op, a, from, n), begin = from + ahead, end = begin + n;
    const bool scale = op.flags & SCALE;
    const u32 ns = MORE ? op.nsrc : NS, nd = op.ndst;
    u64 src[NS], dst[RANKS];
#pragma unroll
    for (u32 s = 0; s < NS; s++) src[s] = a.data(s < ns ? s : 0) - ahead;
#pragma unroll
    for (u32 d = 0; d < RANKS; d++) dst[d] = a.data(ns + (d < nd ? d : 0)) - ahead;
    for (u64 i = from + thread() * 16; i < end; i += step * U) {
        Vec v[NS][U];
#pragma unroll
        for (u32 s = 0; s < NS; s++)
#pragma unroll
            for (u32 u = 0; u < U; u++)
                if (i + u * step - begin < n && (!MORE || s < ns)) v[s][u] = ld16((const void *)(src[s] + i + u * step));
#pragma unroll
        for (u32 u = 0; u < U; u++) {
            if (NS > 1 || scale) {
                Sum x, y, z, w;
                x.start(v[0][u].x), y.start(v[0][u].y), z.start(v[0][u].z), w.start(v[0][u].w);
#pragma unroll
                for (u32 s = 1; s < NS; s++)
                    if (!MORE || s < ns) x.add(v[s][u].x), y.add(v[s][u].y), z.add(v[s][u].z), w.add(v[s][u].w);
                v[0][u] = Vec{x.word(scale, ranks), y.word(scale, ranks), z.word(scale, ranks), w.word(scale, ranks)};
            }
        }
#pragma unroll
        for (u32 d = 0; d < RANKS; d++) {
            if (d >= nd) break;
#pragma unroll
            for (u32 u = 0; u < U; u++)
                if (i + u * step - begin < n) st16((void *)(dst[d] + i + u * step), v[0][u]);
        }
    }
}

// pair_words copies source k to destination k, U loads of each under way at a time, so
// that all peers' links are busy at once.
template <u32 K, u32 U> DEV void pair_words(const Head &op, const Places a, u64 from, u64 n)
{
    const u64 step = threads() * 16, ahead = lead(op, a, from, n), begin = from + ahead, end = begin + n;
    u64 src[K], dst[K];
#pragma unroll
    for (u32 k = 0; k < K; k++) src[k] = a.data(k) - ahead, dst[k] = a.data(K + k) - ahead;
    for (u64 i = from + thread() * 16; i < end; i += step * U) {
        Vec v[K][U];
#pragma unroll
        for (u32 k = 0; k < K; k++)
#pragma unroll
            for (u32 u = 0; u < U; u++)
                if (i + u * step - begin < n) v[k][u] = ld16((const void *)(src[k] + i + u * step));
#pragma unroll
        for (u32 k = 0; k < K; k++)
#pragma unroll
            for (u32 u = 0; u < U; u++)
                if (i + u * step - begin < n) st16((void *)(dst[k] + i + u * step), v[k][u]);
    }
}

DEV void pair_elements(const Head &op, const Places a, u64 from, u64 n)
{
#pragma unroll 1
    for (u64 i = from + thread() * sizeof(Elem); i < from + n; i += threads() * sizeof(Elem))
#pragma unroll 1
        for (u32 k = 0; k < op.nsrc; k++) st1<Elem>((void *)(a.data(op.nsrc + k) + i), ld1<Elem>((const void *)(a.data(k) + i)));
}

// Part is which of an operation's sources are combined, and for which destinations: of pairs, one.
struct Part {
    u32 src, nsrc, dst, ndst;
};

// part_elements does without alignment: one element at a time.
DEV void part_elements(const Head &op, const Part &x, const Places a, u64 from, u64 n, u32 ranks)
{
#pragma unroll 1
    for (u64 i = from + thread() * sizeof(Elem); i < from + n; i += threads() * sizeof(Elem)) {
        Elem e = ld1<Elem>((const void *)(a.data(x.src) + i));
        if (x.nsrc > 1 || op.flags & SCALE) {
            Sum sum;
            sum.start(e);
            for (u32 s = 1; s < x.nsrc; s++) sum.add(ld1<Elem>((const void *)(a.data(x.src + s) + i)));
            e = (Elem)sum.word(op.flags & SCALE, ranks);
        }
        for (u32 d = 0; d < x.ndst; d++) st1<Elem>((void *)(a.data(x.dst + d) + i), e);
    }
}

// multi_elements: pairs side by side, so that all peers' links are busy at once.
DEV void multi_elements(const Head &op, const Places a, u64 from, u64 n, u32 ranks)
{
    if (op.flags & PAIRS) pair_elements(op, a, from, n);
    else part_elements(op, Part{0, op.nsrc, op.nsrc, op.ndst}, a, from, n, ranks);
}

DEV void many_pairs(const Head &op, const Places a, u64 from, u64 n)
{
    if (op.nsrc == 2) pair_words<2, 2 * AHEAD>(op, a, from, n);
    else if (RANKS > 2 && op.nsrc == 3) pair_words<3, AHEAD>(op, a, from, n);
    else if (RANKS > 3 && op.nsrc == 4) pair_words<4, AHEAD>(op, a, from, n);
}

DEV void many_words(const Head &op, const Places a, u64 from, u64 n, u32 ranks)
{
    if (op.nsrc == 1) multi_words<1, 2 * AHEAD, false>(op, a, from, n, ranks);
    else if (op.nsrc == 2) multi_words<2, 2 * AHEAD, false>(op, a, from, n, ranks);
    else if (RANKS > 2 && op.nsrc == 3) multi_words<3, AHEAD, false>(op, a, from, n, ranks);
    else if (RANKS > 3 && op.nsrc == 4) multi_words<4, AHEAD, false>(op, a, from, n, ranks);
    else if (RANKS > 4) multi_words<8, 1, true>(op, a, from, n, ranks);
}

#if defined(UNALIGNED)
#include "ragged.cuh"
#endif

// multi takes whole 16 bytes where all places are aligned alike, and the rest one by one.
DEV void multi(const Head &op, const Places a, u64 n, u32 ranks)
{
    const u32 refs = op.nsrc + op.ndst;
    const u64 first = a.data(0);
    u64 mixed = 0;
#pragma unroll
    for (u32 i = 1; i < 2 * RANKS; i++)
        if (i < refs) mixed |= (a.data(i) ^ first) & 15;
    u64 head = (16 - (first & 15)) & 15;
#if defined(UNALIGNED)
    // A few rounds of elements are done sooner: all_gather of 12 KB on 2 H200 takes 2.05 us so, 2.25 by lines.
    if (mixed && n > 4 * threads() * sizeof(Elem)) return ragged(op, a, n, ranks);
#endif
    if (mixed || n < head + 16) head = n;
    const u64 body = (n - head) & ~15ull;
    if (head) multi_elements(op, a, 0, head, ranks);
    if (!body) return;
    if (op.flags & PAIRS) many_pairs(op, a, head, body);
    else many_words(op, a, head, body, ranks);
    if (head + body < n) multi_elements(op, a, head + body, n - head - body, ranks);
}
