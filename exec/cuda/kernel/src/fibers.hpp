// GPU threads on the CPU: fibers of one thread of the processor, of which one, drawn at random but the same each time, goes on
// wherever one looks at memory for what others write, or waits for others. ThreadSanitizer takes each for a thread of its own, which
// knows of others by flags and meetings alone.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <sys/mman.h>
#include <ucontext.h>
#include <vector>

#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#define FIBERS_SEEN(what) what
#else
#define FIBERS_SEEN(what)
#endif
// What all fibers use to take turns says nothing of who knows of whom.
#define UNSEEN __attribute__((no_sanitize("thread"), noinline))

namespace fibers {

struct Fiber {
    std::function<void()> body;
    void *own;   // data of its user
    void *at[5]; // where it goes on
    ucontext_t first;
    void *seen;    // ThreadSanitizer's
    uint32_t place; // among those that can go on
    bool begun;
};

constexpr size_t STACK = 256 << 10, GUARD = 64 << 10; // what no stack may reach is a multiple of any page

inline std::vector<Fiber *> all; // of a run; what the first has of stacks and threads the next take again
inline std::vector<void *> stacks, seen; // seen: ThreadSanitizer's, which takes longer to make one than most run
inline Fiber outside, *now = &outside, **ready;
inline uint32_t going;
constexpr uint64_t SEED = 88172645463325252u;
inline uint64_t drawn = SEED, passed;

UNSEEN inline void *own() { return now->own; }

// add makes a fiber that run runs.
inline void add(void *own, std::function<void()> body)
{
    all.push_back(new Fiber{std::move(body), own, {}, {}, nullptr, 0, false});
}

UNSEEN inline void jump(Fiber *to) { __builtin_longjmp(to->at, 1); }

UNSEEN inline void go(Fiber *to)
{
    Fiber *from = now;
    if (to == from) return;
    now = to;
    FIBERS_SEEN(__tsan_switch_to_fiber(to->seen, __tsan_switch_to_fiber_no_sync));
    if (__builtin_setjmp(from->at)) return;
    if (to->begun) jump(to);
    to->begun = true;
    setcontext(&to->first);
}

// next is one of those that can go on, by Marsaglia's xorshift (2003).
UNSEEN inline Fiber *next()
{
    if (!going) {
        fprintf(stderr, "all threads wait for one another\n");
        exit(5);
    }
    drawn ^= drawn << 13, drawn ^= drawn >> 7, drawn ^= drawn << 17;
    return ready[drawn % going];
}

UNSEEN inline void put(Fiber *f) { ready[f->place = going++] = f; }

UNSEEN inline void take(Fiber *f) { (ready[f->place] = ready[--going])->place = f->place; }

// pass lets others go on.
UNSEEN inline void pass()
{
    passed++;
    go(next());
}

// clock counts turns.
UNSEEN inline uint64_t clock() { return passed; }

UNSEEN inline void end()
{
    FIBERS_SEEN(__tsan_release(&all));
    take(now);
    go(going ? next() : &outside);
}

UNSEEN inline void begin()
{
    FIBERS_SEEN(__tsan_acquire(&outside));
    now->body();
    end();
}

// stack is memory for one, whose lower end is no one's, so that what is too deep ends there and not in another's.
inline void *stack()
{
    char *p = (char *)mmap(nullptr, GUARD + STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED || mprotect(p, GUARD, PROT_NONE)) {
        perror("memory for the stacks of GPU threads");
        exit(6);
    }
    return p + GUARD;
}

// run runs all to their ends.
inline void run()
{
    ready = (Fiber **)calloc(all.size(), sizeof *ready);
    FIBERS_SEEN(outside.seen = __tsan_get_current_fiber());
    for (size_t i = 0; i < all.size(); i++) {
        if (i == stacks.size()) {
            stacks.push_back(stack());
            FIBERS_SEEN(seen.push_back(__tsan_create_fiber(0)));
        }
        Fiber *f = all[i];
        getcontext(&f->first);
        f->first.uc_stack.ss_sp = stacks[i], f->first.uc_stack.ss_size = STACK;
        makecontext(&f->first, begin, 0);
        FIBERS_SEEN(f->seen = seen[i]);
        put(f);
    }
    outside.begun = true;
    FIBERS_SEEN(__tsan_release(&outside)); // what was before a run all know, of one another nothing
    if (going) go(next());
    FIBERS_SEEN(__tsan_acquire(&all));
    for (Fiber *f : all) delete f;
    all.clear();
    free(ready);
}

// Meeting is where so many fibers wait until all are there, as often as they like. What those know who came to one is not what those
// know who came to the next, where some may be already.
struct Meeting {
    uint32_t size, came = 0;
    uint64_t round = 0, known[2];
    Fiber **waiting;

    explicit Meeting(uint32_t n) : size(n), waiting(new Fiber *[n]) {}
    ~Meeting() { delete[] waiting; }
    Meeting(const Meeting &) = delete;

    UNSEEN void arrive_and_wait()
    {
        [[maybe_unused]] uint64_t *what = &known[round % 2];
        FIBERS_SEEN(__tsan_release(what));
        waiting[came++] = now;
        if (came < size) {
            take(now);
            go(next());
        } else {
            came = 0, round++;
            for (uint32_t i = 0; i + 1 < size; i++) put(waiting[i]);
            pass();
        }
        FIBERS_SEEN(__tsan_acquire(what));
    }
};

} // namespace fibers
