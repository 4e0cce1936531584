// Data in quads, 16 bytes, wherever they lie: what is aligned in one access; where some are known not to be
// (ACROSS), data are read by the quads that they lie across; otherwise, and where they are written, in elements.
#pragma once

// joined are the 16 bytes that begin m bytes into two quads, one behind the other.
DEV Vec joined(Vec a, Vec b, u32 m)
{
    if (m & 8) a = Vec{a.z, a.w, b.x, b.y}, b.x = b.z, b.y = b.w;
    if (m & 4) a = Vec{a.y, a.z, a.w, b.x}, b.x = b.y;
    const u32 bits = m % 4 * 8;
    const auto cut = [bits](u32 low, u32 high) { return (u32)(((u64)high << 32 | low) >> bits); };
    return Vec{cut(a.x, a.y), cut(a.y, a.z), cut(a.z, a.w), cut(a.w, b.x)};
}

// ld_any reads 16 bytes, or what is left, wherever they lie.
DEV Vec ld_any(u64 at, u64 left)
{
    Vec low, high;
    ld_around(at, left, low, high);
    return at & 15 ? joined(low, high, at & 15) : low;
}

// Pair is a packet's data.
struct Pair {
    u32 a, b;
};

// load_elements reads up to 8 bytes that are not aligned or not whole. Rare and short: unrolled
// it would only stand between instructions that are needed.
DEV u64 load_elements(u64 at, u64 left)
{
    const u32 n = left < 8 ? (u32)left : 8;
    u64 v = 0;
#pragma unroll 1
    for (u32 i = 0; i < n; i += sizeof(Elem)) v |= (u64)ld1<Elem>((const void *)(at + i)) << 8 * i;
    return v;
}

DEV Pair load_pair(u64 at, u64 left)
{
    if (ACROSS) {
        const Vec v = ld_any(at, left < 8 ? left : 8);
        return Pair{v.x, v.y};
    }
    const u64 v = likely(left >= 8 && !(at & 7)) ? ld1<u64>((const void *)at) : load_elements(at, left);
    return Pair{(u32)v, (u32)(v >> 32)};
}

DEV void store_elements(u64 at, u64 left, u64 v)
{
    const u32 n = left < 8 ? (u32)left : 8;
#pragma unroll 1
    for (u32 i = 0; i < n; i += sizeof(Elem)) st1<Elem>((void *)(at + i), (Elem)(v >> 8 * i));
}

DEV void store_pair(u64 at, u64 left, Pair p)
{
    const u64 v = (u64)p.b << 32 | p.a;
    if (likely(left >= 8 && !(at & 7))) st1<u64>((void *)at, v);
    else store_elements(at, left, v);
}

// Quads are 16 bytes.
DEV Vec load_quad(u64 at, u64 left)
{
    if (ACROSS) return ld_any(at, left);
    if (likely(left >= 16 && !(at & 15))) return ld16((const void *)at);
    const Pair p = load_pair(at, left);
    Pair q = {0, 0};
    if (left > 8) q = load_pair(at + 8, left - 8);
    return Vec{p.a, p.b, q.a, q.b};
}

DEV void store_quad(u64 at, u64 left, Vec v)
{
    if (likely(left >= 16 && !(at & 15))) {
        st16((void *)at, v);
        return;
    }
    store_pair(at, left, Pair{v.x, v.y});
    if (left > 8) store_pair(at + 8, left - 8, Pair{v.z, v.w});
}
