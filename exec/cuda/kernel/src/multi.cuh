// MULTI: reduce n sources, element by element, and write the result to m destinations;
// any of them may be a peer's memory. One source is a copy.
#pragma once

// Places are the addresses of an operation in one slice. Packets take twice the room of
// their data, and alternate between two halves of their buffer.
struct Places {
    const u64 *base;
    u64 skip, packet_skip;

    DEV u64 data(const Op &op, u32 i) const { return base[op.ref[i] >> 48] + (op.ref[i] & 0xffffffffffffull) + skip; }
    DEV u64 packets(const Op &op, u32 i) const { return base[op.ref[i] >> 48] + (op.ref[i] & 0xffffffffffffull) + packet_skip; }
};

// Sources are loaded U times ahead; NS is their number, or with MORE the most.
template <u32 NS, u32 U, bool MORE> BODY void multi_words(const Op &op, const Places a, u64 from, u64 n, u32 ranks)
{
    const u64 step = threads() * 16, end = from + n;
    const bool scale = op.flags & SCALE;
    const u32 ns = MORE ? op.nsrc : NS, nd = op.ndst;
    u64 src[NS], dst[MAX_RANKS];
#pragma unroll
    for (u32 s = 0; s < NS; s++) src[s] = a.data(op, s < ns ? s : 0);
#pragma unroll
    for (u32 d = 0; d < MAX_RANKS; d++) dst[d] = a.data(op, ns + (d < nd ? d : 0));
    for (u64 i = from + thread() * 16; i < end; i += step * U) {
        Vec v[NS][U];
#pragma unroll
        for (u32 s = 0; s < NS; s++)
#pragma unroll
            for (u32 u = 0; u < U; u++)
                if (i + u * step < end && (!MORE || s < ns)) v[s][u] = ld16((const void *)(src[s] + i + u * step));
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
        for (u32 d = 0; d < MAX_RANKS; d++) {
            if (d >= nd) break;
#pragma unroll
            for (u32 u = 0; u < U; u++)
                if (i + u * step < end) st16((void *)(dst[d] + i + u * step), v[0][u]);
        }
    }
}

// multi_elements does without alignment: one element at a time.
BODY void multi_elements(const Op &op, const Places a, u64 from, u64 n, u32 ranks)
{
    for (u64 i = from + thread() * sizeof(Elem); i < from + n; i += threads() * sizeof(Elem)) {
        Elem e = ld1<Elem>((const void *)(a.data(op, 0) + i));
        if (op.nsrc > 1 || op.flags & SCALE) {
            Sum sum;
            sum.start(e);
            for (u32 s = 1; s < op.nsrc; s++) sum.add(ld1<Elem>((const void *)(a.data(op, s) + i)));
            e = (Elem)sum.word(op.flags & SCALE, ranks);
        }
        for (u32 d = 0; d < op.ndst; d++) st1<Elem>((void *)(a.data(op, op.nsrc + d) + i), e);
    }
}

// multi takes whole 16 bytes where all places are aligned alike, and the rest one by one.
DEV void multi(const Op &op, const Places a, u64 n, u32 ranks)
{
    const u32 refs = op.nsrc + op.ndst;
    const u64 first = a.data(op, 0);
    u64 mixed = 0;
#pragma unroll
    for (u32 i = 1; i < MAX_REFS; i++)
        if (i < refs) mixed |= (a.data(op, i) ^ first) & 15;
    u64 head = (16 - (first & 15)) & 15;
    if (mixed || n < head + 16) head = n;
    const u64 body = (n - head) & ~15ull;
    if (head) multi_elements(op, a, 0, head, ranks);
    if (!body) return;
    switch (op.nsrc) {
    case 1: multi_words<1, 8, false>(op, a, head, body, ranks); break;
    case 2: multi_words<2, 4, false>(op, a, head, body, ranks); break;
    case 3: multi_words<3, 4, false>(op, a, head, body, ranks); break;
    case 4: multi_words<4, 4, false>(op, a, head, body, ranks); break;
    default: multi_words<8, 1, true>(op, a, head, body, ranks);
    }
    if (head + body < n) multi_elements(op, a, head + body, n - head - body, ranks);
}
