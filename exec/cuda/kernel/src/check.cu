// Inputs, and whether outputs are right. Crafted values are small integers whose partial
// results are exact in every type, so outputs must match bit by bit; random ones must
// match a double-precision reference within the rounding bound.
#include "plan.cuh"
#include "device.cuh"
#include "reduce.cuh"

struct Check {
    u64 at, count, wrong;       // elements from at; where mistakes are counted
    u64 seed;
    double unit;                // rounding of the type, 0 for integers
    double tiny;                // what one rounding may miss near 0
    u32 rank, ranks, block, epoch;
    u32 random, reduces, average, pad;
};

DEV u64 mix(u64 x)
{
    x += 0x9e3779b97f4a7c15ull;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ x >> 27) * 0x94d049bb133111ebull;
    return x ^ x >> 31;
}

// value is what a rank holds at an element of a block, as a double; exec/host's data.go
// has the same rule but for the types of 8 bits, which hold few whole numbers.
DEV double value(const Check &c, u32 rank, u64 i)
{
    const u64 h = mix(c.seed << 32 ^ (u64)c.epoch << 56 ^ (u64)rank << 40 ^ ((u64)c.block << 32 ^ i));
    if (c.random && c.unit > 0) return (double)((long long)(h >> 11)) / (double)(1ull << 52) - 1;
    if (!c.reduces) return (double)(h % 251);
#if defined(R_MAX) || defined(R_MIN)
    return (double)((long long)(h % 201) - 100);
#elif defined(R_PROD)
    return rank < 3 ? (double)(1 + h % 2) : (double)((long long)(h % 2) * 2 - 1);
#else
    const long long most = c.unit * c.ranks * 2 > 1 ? 1 : 2;  // whole numbers up to 1/unit are exact
    return (double)((long long)(h % (2 * most + 1)) - most);
#endif
}

DEV Elem element(double v)
{
    Acc a[PER_WORD] = {};
    a[0] = (Acc)v;
    return (Elem)pack(a);
}

DEV double number(Elem e)
{
    Acc a[PER_WORD];
    unpack(e, a);
    return (double)a[0];
}

extern "C" __global__ void fill(const __grid_constant__ Check c)
{
    for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < c.count; i += (u64)gridDim.x * blockDim.x)
        ((Elem *)c.at)[i] = element(value(c, c.rank, i));
}

extern "C" __global__ void check(const __grid_constant__ Check c)
{
    u64 wrong = 0;
    for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < c.count; i += (u64)gridDim.x * blockDim.x) {
        const Elem got = ((const Elem *)c.at)[i];
        if (!c.reduces) {
            wrong += got != element(value(c, c.rank, i));
            continue;
        }
        double want = number(element(value(c, 0, i))), sum = want < 0 ? -want : want;
        for (u32 r = 1; r < c.ranks; r++) {
            const double v = number(element(value(c, r, i)));
            sum += v < 0 ? -v : v;
            want = (double)combine_double(want, v);
        }
        if (!c.random || c.unit == 0) {
            // An average divides as the kernels do: the exact sum, once.
            Acc a[PER_WORD] = {};
            a[0] = (Acc)want;
            if (c.average) a[0] = a[0] / (Acc)c.ranks;
            const Elem e = (Elem)pack(a);
            wrong += !(got == e || number(got) == number(e));
            continue;
        }
        double bound = (c.ranks - 1) * c.unit * sum + 2 * c.unit * (want < 0 ? -want : want) + 1e-7;
        if (c.average) want /= c.ranks, bound /= c.ranks;
        bound += c.ranks * c.tiny;
        const double miss = number(got) - want;
        wrong += !((miss < 0 ? -miss : miss) <= bound * (1 + 1e-6));
    }
    if (wrong) atomicAdd((u64 *)c.wrong, wrong);
}

// guard counts bytes that are not 0xff any more.
extern "C" __global__ void guard(const __grid_constant__ Check c)
{
    u64 wrong = 0;
    for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < c.count; i += (u64)gridDim.x * blockDim.x) wrong += ((const u8 *)c.at)[i] != 0xff;
    if (wrong) atomicAdd((u64 *)c.wrong, wrong);
}
