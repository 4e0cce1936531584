// Runs programs on the CPU, one after another, as if each were alone: for the test that has g++ and ThreadSanitizer. Input is
// one file: of each numbers, then for each rank its plan; output are the ranks' output buffers, epoch by epoch.
#include "plan.cuh"
#include "host.hpp"
#include "reduce.cuh"
#include "quads.cuh"
#include "multi.cuh"
#include "packets.cuh"
#include "lines.cuh"
#include "words.cuh"
#include "engine.cuh"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#if defined(INTERPRETERS)
// What the host writes for each rank, by rank.
#include "interpreters.cuh"
#else
// Forms takes operations as they come.
struct Forms {
    static void run(Engine &e, const Turn &t, Refs ref, u32 number, u32 slice) { e.run(t.op, ref, t.share, number, slice); }
};
static void play_plan(Engine &e, Words plan) { e.play<Forms>(plan); }
#endif

struct Job {
    u32 ranks, lanes, instances, threads, epochs, jitter_ns;
    u64 first_epoch, deadline_ns, packet_half, bytes[BUFFERS];
    u64 shared, input_shift, output_shift; // in place: one memory, by rank so many bytes on
    u64 packet_fill;                       // what packet buffers hold at first, a byte
    u64 lane_bytes;
    u64 ones;                              // rank 0's first element is all ones: not a number
};

constexpr u32 SHARED = CONTROL + 1; // the last of BUFFERS

static void fail(const char *why)
{
    fprintf(stderr, "%s\n", why);
    exit(3);
}

static void get(void *to, size_t n, FILE *f)
{
    if (n && fread(to, n, 1, f) != 1) fail("the input is too short");
}

// Behind each buffer is a guard, which nobody may write.
constexpr u64 GUARD = 4096;
constexpr char GUARDED = 0x5a;
static std::vector<const char *> guards;

static void *memory(u64 n)
{
    char *p = (char *)aligned_alloc(128, (n + GUARD + 127) / 128 * 128);
    memset(p, 0, n);
    memset(p + n, GUARDED, GUARD);
    guards.push_back(p + n);
    return p;
}

static void check_guards()
{
    for (const char *g : guards)
        for (u64 i = 0; i < GUARD; i++)
            if (g[i] != GUARDED) fail("something was written behind a buffer");
}

// resolve turns a plan's references into addresses.
static void resolve(std::vector<char> &plan, u64 lane_bytes, const u64 *base)
{
    for (u64 at = 0; at < plan.size(); at += lane_bytes) {
        Lane *l = (Lane *)&plan[at];
        Op *ops = (Op *)(l + 1);
        for (u32 i = 0; i < l->before + l->body + l->after; i++) {
            const Head &h = ops[i].head;
            const u32 n = h.kind == OP_SIGNAL || h.kind == OP_WAIT ? count_bits(h.peers) : h.nsrc + h.nll + h.ndst + h.nput;
            for (u32 k = 0; k < n; k++) ops[i].ref[k] = base[ops[i].ref[k] >> 48] + (ops[i].ref[k] & 0xffffffffffffull);
        }
    }
}

// value is what a rank holds at a place in an epoch; kernel_test.go computes the same.
static u32 value(u32 rank, u32 epoch, u32 i) { return mix32(rank * 0x9e3779b9u ^ mix32(epoch * 0x85ebca6bu ^ i)) % 5; }

static void fill(char *at, u64 bytes, u32 rank, u32 epoch)
{
    for (u64 i = 0; i < bytes / sizeof(Elem); i++) {
        Acc a[PER_WORD] = {};
        a[0] = (Acc)value(rank, epoch, (u32)i);
        const u32 w = pack(a);
        memcpy(at + i * sizeof(Elem), &w, sizeof(Elem));
    }
}

static int simulate(const Job &h, FILE *f)
{
    guards.clear();
    fibers::drawn = fibers::SEED, fibers::passed = 0;
    std::vector<Params> params(h.ranks);
    std::vector<std::vector<char>> plans(h.ranks);
    Special all = {};
    u32 abort_word = 0;
    Report report = {};
    for (u32 r = 0; r < h.ranks; r++) {
        u32 n;
        get(&n, sizeof n, f);
        plans[r].resize(n);
        get(plans[r].data(), n, f);
        for (u32 b = 0; b < BUFFERS; b++) all.base[r * BUFFERS + b] = (u64)memory(h.bytes[b]);
        if (h.shared) {
            all.base[r * BUFFERS + INPUT] = all.base[r * BUFFERS + SHARED] + r * h.input_shift;
            all.base[r * BUFFERS + OUTPUT] = all.base[r * BUFFERS + SHARED] + r * h.output_shift;
        }
        for (u32 i = 0; i < 2; i++) word((void *)(all.base[r * BUFFERS + CONTROL] + (i ^ 2) * LINE)) = h.first_epoch + i;
        memset((void *)all.base[r * BUFFERS + PACKETS], (int)h.packet_fill, h.bytes[PACKETS]);
    }
    for (u32 r = 0; r < h.ranks; r++) {
        if (RESOLVED) resolve(plans[r], h.lane_bytes, all.base);
        params[r].control = all.base[r * BUFFERS + CONTROL];
        params[r].abort = (u64)&abort_word, params[r].report = (u64)&report;
        params[r].deadline_ns = h.deadline_ns, params[r].packet_half = h.packet_half;
        params[r].rank = r, params[r].ranks = h.ranks, params[r].lanes = h.lanes, params[r].instances = h.instances;
        params[r].jitter_ns = h.jitter_ns, params[r].advance = 1;
    }
    // A rank's blocks start an epoch together, as kernels of a stream do; ranks run ahead.
    const u32 blocks = h.lanes * h.instances;
    std::vector<std::vector<char>> outputs(h.ranks * h.epochs);
    for (u32 r = 0; r < h.ranks; r++) {
        auto *kernel = new fibers::Meeting(blocks * h.threads);
        for (u32 b = 0; b < blocks; b++) {
            auto *barrier = new fibers::Meeting(h.threads);
            auto *warps = new std::vector<Warp>(h.threads / LANES + 1);
            for (u32 t = 0; t < h.threads; t++) {
                fibers::add(new Place{t, h.threads, b, barrier, &(*warps)[t / LANES], 0}, [&, r, b, t, kernel] {
                    const bool first = b == 0 && t == 0;
                    char *in = (char *)all.base[r * BUFFERS + INPUT], *out = (char *)all.base[r * BUFFERS + OUTPUT];
                    for (u32 e = 0; e < h.epochs; e++) {
                        if (first) {
                            if (!h.shared) memset(out, 0xff, h.bytes[OUTPUT]);
                            fill(in, h.bytes[INPUT], r, e);
                            if (h.ones && r == 0) memset(in, 0xff, sizeof(u32));
                            params[r].turn = e % EPOCH_WORDS;
                            params[r].jitter_seed = e;
                        }
                        kernel->arrive_and_wait();
                        Engine engine(params[r], all.base);
                        engine.count();
                        play_plan(engine, (const u64 *)&plans[r][engine.lane * h.lane_bytes]);
                        kernel->arrive_and_wait();
                        if (first) outputs[e * h.ranks + r].assign(out, out + h.bytes[OUTPUT]);
                    }
                });
            }
        }
    }
    fibers::run();
    check_guards();
    if (report.claimed) {
        fprintf(stderr, "deadline: rank %u block %u operation %u slice %u peer %u kind %u line %u want %llu got %llu\n", report.rank, report.block, report.op,
            report.slice, report.peer, report.kind, report.line, report.want, report.got);
        return 4;
    }
    for (auto &o : outputs) fwrite(o.data(), o.size(), 1, stdout);
    return fflush(stdout);
}

int main(int argc, char **argv)
{
    if (argc != 2) fail("usage: simulate FILE");
    FILE *f = fopen(argv[1], "rb");
    if (!f) fail("cannot open the file");
    Job h;
    while (fread(&h, sizeof h, 1, f) == 1)
        if (const int code = simulate(h, f)) return code;
    return 0;
}
