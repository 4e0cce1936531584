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
