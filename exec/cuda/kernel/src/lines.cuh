// LL128: a line of 128 bytes holds 120 bytes of data and their flag. Eight neighbouring
// lanes store it with one instruction, and NVLink delivers what one instruction stores to a
// line as a whole (NCCL's protocol of this name rests on the same), so that no fence and no
// second message is needed, and only a sixteenth of the bytes is flags.
//
// Two lines carry LINES_DATA bytes, for 16 lanes: lanes 0-6 of each line take 16 bytes, the
// last lane of each 8 bytes and the flag. All accesses are aligned where the data are.
#pragma once

constexpr u32 BENCH = 16; // lanes of two lines
constexpr u32 LINES_BYTES = 256;

// Seat is a lane's place in its two lines.
struct Seat {
    u32 offset; // its data
    bool last;  // holds the flag
};

DEV Seat seat()
{
    const u32 q = lane() % BENCH, line = q / 8, j = q % 8;
    if (j == 7) return Seat{224 + 8 * line, true};
    return Seat{16 * (7 * line + j), false};
}

DEV Vec load_seat(u64 at, u64 left, Seat s)
{
    if (!left) return Vec{};
    if (!s.last || ACROSS) return load_quad(at, left);
    const Pair p = load_pair(at, left);
    return Vec{p.a, p.b, 0, 0};
}

DEV void store_seat(u64 at, u64 left, Seat s, Vec v)
{
    if (!left) return;
    if (s.last) store_pair(at, left, Pair{v.x, v.y});
    else store_quad(at, left, v);
}

// Shift is a share of a block's warps.
struct Shift {
    u32 first, count;
};

// part: a put and the reduction behind it (HALVES) are work of one half of the warps and of the
// other, where there is plenty, so that data leave while others arrive.
DEV Shift part(const Head &op, u64 n, bool second)
{
    constexpr u32 plenty = 3, bytes = 15; // rounds of all lanes; measured on 2 H200: at fewer all are faster
    const u32 all = threads() / LANES, half = all / 2;
    if (!(op.flags & HALVES) || all < 2 || n <= (u64)plenty * all * LANES * bytes) return Shift{warp(), all};
    if ((warp() >= half) != second) return Shift{0, 0};
    return Shift{second ? warp() - half : warp(), second ? all - half : half};
}

DEV u64 seat_left(u64 n, u64 at) { return n > at ? n - at : 0; }

// whole is the lines that hold so many bytes, in pairs.
DEV u64 whole(u64 bytes) { return (bytes + LINES_DATA - 1) / LINES_DATA; }

// line_put sends sources to the packet buffers of several peers.
DEV void line_put(const Head &op, const Places a, u64 n, u32 flag)
{
    const Seat s = seat();
    const Shift w = part(op, n, false);
    if (!w.count) return;
    const Puts x(op, a, n);
    const u32 bench = lane() / BENCH, benches = LANES / BENCH, place = lane() % BENCH * 16;
    for (u64 base = (u64)w.first * benches; base < whole(n); base += (u64)w.count * benches) {
        const u64 i = base + bench, at = i * LINES_DATA + s.offset;
        Vec v[RANKS - 1];
#pragma unroll
        for (u32 d = 0; d < RANKS - 1; d++) {
            if (d < op.nsrc) v[d] = load_seat(x.src[d] + at, x.left(d, at), s);
            if (s.last) v[d].z = flag, v[d].w = flag;
        }
#pragma unroll
        for (u32 d = 0; d < RANKS - 1; d++)
            if (d < op.nput) line_store((void *)(x.to[d] + place + i * LINES_BYTES), v[x.source(d)], s.last, i < whole(x.bytes[d]));
    }
}

// line_unpack takes lines of several peers side by side.
template <class W> DEV void line_unpack(const Head &op, const Places a, u64 n, u32 flag, W &wait)
{
    const Seat s = seat();
    const Shift w = part(op, n, true);
    if (!w.count) return;
    const Takes x(op, a, n);
    const u32 bench = lane() / BENCH, benches = LANES / BENCH, place = lane() % BENCH * 16;
    for (u64 base = (u64)w.first * benches; base < whole(n); base += (u64)w.count * benches) {
        const u64 i = base + bench, at = i * LINES_DATA + s.offset;
        Vec v[RANKS - 1];
        for (u32 spins = 0;; spins++) {
            u32 missing = RANKS, got = 0;
#pragma unroll
            for (u32 p = 0; p < RANKS - 1; p++)
                if (p < op.nll) v[p] = line_load((const void *)(x.from[p] + place + i * LINES_BYTES), s.last, i < whole(x.bytes[p]));
#pragma unroll
            for (u32 p = 0; p < RANKS - 1; p++)
                if (p < op.nll && any(s.last && i < whole(x.bytes[p]) && (v[p].z != flag || v[p].w != flag))) missing = p, got = v[p].w;
            if (missing == RANKS || any(s.last && wait.expired(spins, missing, flag, got))) break;
        }
#pragma unroll
        for (u32 p = 0; p < RANKS - 1; p++)
            if (p < op.nll) store_seat(x.to[p] + at, x.left(p, at), s, v[p]);
    }
}

// line_reduce is ll_reduce in lines. A warp's lanes go on together.
template <class W> DEV void line_reduce(const Head &op, const Places a, u64 n, u32 flag, u32 ranks, W &wait)
{
    if (op.flags & PAIRS) return line_unpack(op, a, n, flag, wait);
    const u32 nsrc = op.nsrc, nll = op.nll, own = op.own;
    const u32 d0 = nsrc + nll, f0 = d0 + op.ndst;
    const Seat s = seat();
    const Shift w = part(op, n, true);
    if (!w.count) return;
    const u32 bench = lane() / BENCH, benches = LANES / BENCH;
    const u64 src = a.data(0), all = whole(n);
    u64 from[RANKS - 1];
#pragma unroll
    for (u32 p = 0; p < RANKS - 1; p++) from[p] = a.packets(p < nll ? nsrc + p : nsrc) + lane() % BENCH * 16;
    for (u64 base = (u64)w.first * benches; base < all; base += (u64)w.count * benches) {
        const u64 i = base + bench, at = i * LINES_DATA + s.offset, left = i < all ? seat_left(n, at) : 0;
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
            if (d < op.nput) line_store((void *)(a.packets(f0 + d) + lane() % BENCH * 16 + i * LINES_BYTES), r, s.last, i < all);
    }
}
