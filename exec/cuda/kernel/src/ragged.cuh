// MULTI where places are not aligned alike: whole lines are written, and read by the quads that they lie across.
#pragma once

// Ragged is a part whose places are aligned unlike one another: whole lines of its last destination, which may be a peer's,
// and what is ahead of them and behind in elements.
struct Ragged {
    Part part;
    u64 head, body;

    DEV Ragged(const Part &x, const Places a, u64 n) : part(x)
    {
        const u64 line = n < 2048 ? 16 : 128;
        head = (line - (a.data(x.dst + x.ndst - 1) & (line - 1))) & (line - 1);
        body = n < head ? 0 : (n - head) & ~15ull;
        if (!body) head = n;
    }
    DEV u64 source(const Places a, u32 s, u64 i) const { return a.data(part.src + s) + head + i; }
};

// across combines a part's sources, U of each under way.
template <u32 NS, u32 U> DEV void across(const Head &op, const Ragged &x, const Places a, u32 ranks)
{
    const u64 step = threads() * 16;
    for (u64 i = thread() * 16; i < x.body; i += step * U) {
        Vec v[NS][U];
#pragma unroll
        for (u32 s = 0; s < NS; s++)
#pragma unroll
            for (u32 u = 0; u < U; u++)
                if (i + u * step < x.body && s < x.part.nsrc) v[s][u] = ld_any(x.source(a, s, i + u * step), 16);
#pragma unroll
        for (u32 u = 0; u < U; u++) {
            if (i + u * step >= x.body) break;
            Totals total = {};
#pragma unroll
            for (u32 s = 0; s < NS; s++)
                if (s < x.part.nsrc) total.take(v[s][u]);
            const Vec sum = total.words(op.flags & SCALE, ranks);
            for (u32 d = 0; d < x.part.ndst; d++) store_quad(a.data(x.part.dst + d) + x.head + i + u * step, 16, sum);
        }
    }
}

// across_pairs copies K pairs side by side, so that all peers' links are busy at once.
template <u32 K, u32 U> DEV void across_pairs(const Head &op, const Places a, u64 n)
{
    const u64 step = threads() * 16;
    for (u64 i = thread() * 16; i < n; i += step * U) {
        Vec v[K][U];
#pragma unroll
        for (u32 k = 0; k < K; k++)
#pragma unroll
            for (u32 u = 0; u < U; u++) {
                const Ragged x(Part{k, 1, K + k, 1}, a, n);
                if (i + u * step < x.body) v[k][u] = ld_any(x.source(a, 0, i + u * step), 16);
            }
#pragma unroll
        for (u32 k = 0; k < K; k++)
#pragma unroll
            for (u32 u = 0; u < U; u++) {
                const Ragged x(Part{k, 1, K + k, 1}, a, n);
                if (i + u * step < x.body) st16((void *)(a.data(K + k) + x.head + i + u * step), v[k][u]);
            }
    }
}

// ragged takes places that are not aligned alike. Interpreters call it, since its code is long and the same for all forms.
APART void ragged(const Head op, const Places a, u64 n, u32 ranks)
{
    const bool pairs = op.flags & PAIRS;
    for (u32 k = 0; k < (pairs ? op.nsrc : 1u); k++) {
        const Part part = pairs ? Part{k, 1, op.nsrc + k, 1} : Part{0, op.nsrc, op.nsrc, op.ndst};
        const Ragged x(part, a, n);
        part_elements(op, part, a, 0, x.head, ranks);
        part_elements(op, part, a, x.head + x.body, n - x.head - x.body, ranks);
    }
    const Ragged x(Part{0, op.nsrc, op.nsrc, op.ndst}, a, n);
    if (pairs && op.nsrc == 2) across_pairs<2, AHEAD>(op, a, n);
    else if (pairs && RANKS > 2 && op.nsrc == 3) across_pairs<3, 2>(op, a, n);
    else if (pairs) across_pairs<4, 2>(op, a, n);
    else if (op.nsrc == 1) across<1, 2 * AHEAD>(op, x, a, ranks);
    else if (op.nsrc == 2) across<2, AHEAD>(op, x, a, ranks);
    else across<RANKS, 1>(op, x, a, ranks);
}
