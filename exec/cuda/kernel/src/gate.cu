// A gate holds every GPU until the host has queued the work of all, so that a timed
// region begins on all of them within a host write's travel.
#include "plan.cuh"

struct Gate {
    u64 word, want, deadline_ns;
};

extern "C" __global__ void gate(const __grid_constant__ Gate g)
{
    u64 began, t;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(began));
    do asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
    while (*(const volatile u32 *)g.word < g.want && t - began < g.deadline_ns);
}
