// Combining words.
#pragma once

#if defined(R_MAX)
DEV Acc combine(Acc a, Acc b) { return a > b || a != a ? a : b; }
#elif defined(R_MIN)
DEV Acc combine(Acc a, Acc b) { return a < b || a != a ? a : b; }
#elif defined(R_PROD)
DEV Acc combine(Acc a, Acc b) { return a * b; }
#else
DEV Acc combine(Acc a, Acc b) { return a + b; }
#endif

// Sum collects words of several sources.
struct Sum {
    Acc a[PER_WORD];

    DEV void start(u32 w) { unpack(w, a); }
    DEV void add(u32 w)
    {
        Acc b[PER_WORD];
        unpack(w, b);
        for (u32 i = 0; i < PER_WORD; i++) a[i] = combine(a[i], b[i]);
    }
    // word rounds once; an average is divided by the number of ranks first.
    DEV u32 word(bool scale, u32 ranks)
    {
        if (scale)
            for (u32 i = 0; i < PER_WORD; i++) a[i] = a[i] / (Acc)ranks;
        return pack(a);
    }
};

#if defined(R_MAX)
DEV double combine_double(double a, double b) { return a > b ? a : b; }
#elif defined(R_MIN)
DEV double combine_double(double a, double b) { return a < b ? a : b; }
#elif defined(R_PROD)
DEV double combine_double(double a, double b) { return a * b; }
#else
DEV double combine_double(double a, double b) { return a + b; }
#endif

// Totals collects quads in the order they are given.
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
