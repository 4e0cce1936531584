// LL128: a line of 128 bytes holds 120 bytes of data and their flag. Eight neighbouring
// lanes store it with one instruction, and NVLink delivers what one instruction stores to a
// line as a whole (NCCL's protocol of this name rests on the same), so that no fence and no
// second message is needed, and only a sixteenth of the bytes is flags.
//
// Two lines carry LINES_DATA bytes, for 16 lanes: lanes 0-6 of each line take 16 bytes, the
// last lane of each 8 bytes and the flag. All accesses are aligned where the data are.
#pragma once

constexpr u32 TEAM = 16; // lanes of two lines
constexpr u32 LINES_BYTES = 256;

// Seat is a lane's place in its two lines.
struct Seat {
    u32 offset, bytes; // its data
    bool last;         // holds the flag
};

DEV Seat seat()
{
    const u32 q = lane() % TEAM, line = q / 8, j = q % 8;
    if (j == 7) return Seat{224 + 8 * line, 8, true};
    return Seat{16 * (7 * line + j), 16, false};
}

DEV Vec load_seat(u64 at, u64 left, Seat s)
{
    Vec v = {};
    if (left >= s.bytes && !(at & 15) && !s.last) return ld16((const void *)at);
    if (left) {
        const Pair p = load_pair(at, left);
        v.x = p.a, v.y = p.b;
        if (!s.last && left > 8) {
            const Pair q = load_pair(at + 8, left - 8);
            v.z = q.a, v.w = q.b;
        }
    }
    return v;
}

DEV void store_seat(u64 at, u64 left, Seat s, Vec v)
{
    if (!left) return;
    if (left >= s.bytes && !(at & 15) && !s.last) {
        st16((void *)at, v);
        return;
    }
    store_pair(at, left, Pair{v.x, v.y});
    if (!s.last && left > 8) store_pair(at + 8, left - 8, Pair{v.z, v.w});
}

DEV u64 seat_left(u64 n, u64 at) { return n > at ? n - at : 0; }

// line_put sends one source to the packet buffers of several peers.
DEV void line_put(const Head &op, const Places a, u64 n, u32 flag)
{
    const Seat s = seat();
    const Part w = part(op, n, 15, 2, false);
    if (!w.count) return;
    const u64 src = a.data(0), all = (n + LINES_DATA - 1) / LINES_DATA;
    const u32 team = lane() / TEAM, teams = LANES / TEAM;
    u64 to[RANKS - 1];
#pragma unroll
    for (u32 d = 0; d < RANKS - 1; d++) to[d] = a.packets(d < op.nput ? 1 + d : 1) + lane() % TEAM * 16;
    for (u64 base = (u64)w.first * teams; base < all; base += (u64)w.count * teams) {
        const u64 i = base + team, at = i * LINES_DATA + s.offset;
        Vec v = load_seat(src + at, i < all ? seat_left(n, at) : 0, s);
        if (s.last) v.z = flag, v.w = flag;
#pragma unroll
        for (u32 d = 0; d < RANKS - 1; d++)
            if (d < op.nput) line_store((void *)(to[d] + i * LINES_BYTES), v, s.last, i < all);
    }
}

// Totals collects seats in the order they are given.
struct Totals {
    Sum a, b, c, d;
    Vec last;
    u32 n;

    DEV void take(Vec v)
    {
        last = v;
        if (n++ == 0) a.start(v.x), b.start(v.y), c.start(v.z), d.start(v.w);
        else a.add(v.x), b.add(v.y), c.add(v.z), d.add(v.w);
    }
    DEV Vec words(bool scale, u32 ranks)
    {
        if (n > 1 || scale) last = Vec{a.word(scale, ranks), b.word(scale, ranks), c.word(scale, ranks), d.word(scale, ranks)};
        return last;
    }
};

// line_reduce is ll_reduce in lines. A warp's lanes go on together.
template <class W> DEV void line_reduce(const Head &op, const Places a, u64 n, u32 flag, u32 ranks, W &wait)
{
    const u32 nsrc = op.nsrc, nll = op.nll, own = op.own;
    const u32 d0 = nsrc + nll, f0 = d0 + op.ndst;
    const Seat s = seat();
    const Part w = part(op, n, 15, 2, true);
    if (!w.count) return;
    const u32 team = lane() / TEAM, teams = LANES / TEAM;
    const u64 src = a.data(0), all = (n + LINES_DATA - 1) / LINES_DATA;
    u64 from[RANKS - 1];
#pragma unroll
    for (u32 p = 0; p < RANKS - 1; p++) from[p] = a.packets(p < nll ? nsrc + p : nsrc) + lane() % TEAM * 16;
    for (u64 base = (u64)w.first * teams; base < all; base += (u64)w.count * teams) {
        const u64 i = base + team, at = i * LINES_DATA + s.offset, left = i < all ? seat_left(n, at) : 0;
        Vec v[RANKS - 1], mine = {};
#pragma unroll
        for (u32 p = 0; p < RANKS - 1; p++)
            if (p < nll) v[p] = line_load((const void *)(from[p] + i * LINES_BYTES), s.last, i < all);
        if (nsrc) mine = load_seat(src + at, left, s);
        for (u32 spins = 0;; spins++) {
            u32 missing = RANKS, got = 0;
#pragma unroll
            for (u32 p = 0; p < RANKS - 1; p++)
                if (p < nll && any(s.last && i < all && (v[p].z != flag || v[p].w != flag))) missing = p, got = v[p].w;
            if (missing == RANKS || any(s.last && wait.expired(spins, missing, flag, got))) break;
#pragma unroll
            for (u32 p = 0; p < RANKS - 1; p++)
                if (p < nll) v[p] = line_load((const void *)(from[p] + i * LINES_BYTES), s.last, i < all);
        }
        Totals total = {};
#pragma unroll
        for (u32 p = 0; p < RANKS; p++) {
            if (nsrc && p == own) total.take(mine);
            if (p < RANKS - 1 && p < nll) total.take(v[p]);
        }
        Vec r = total.words(op.flags & SCALE, ranks);
        for (u32 d = 0; d < op.ndst; d++) store_seat(a.data(d0 + d) + at, left, s, r);
        if (s.last) r.z = flag, r.w = flag;
#pragma unroll
        for (u32 d = 0; d < RANKS - 1; d++)
            if (d < op.nput) line_store((void *)(a.packets(f0 + d) + lane() % TEAM * 16 + i * LINES_BYTES), r, s.last, i < all);
    }
}
