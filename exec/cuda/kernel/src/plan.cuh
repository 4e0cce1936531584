// What the host and the kernels agree on. Package model/block documents the operations
// and writes these structures; sizes and offsets are in bytes unless a name says so.
#pragma once

typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long long u64;

constexpr u32 MAX_RANKS = 8;   // GPUs of a node
#if !defined(PEERS)
#define PEERS 8
#endif
constexpr u32 RANKS = PEERS;   // at most so many in this program: what loops are unrolled to
#if !defined(KINDS)
#define KINDS 127
#endif
constexpr u32 BUFFERS = 6;     // places in the table of addresses, by rank
constexpr u32 MAX_REFS = 16;   // sources and destinations of an operation
constexpr u32 INLINE_BYTES = 640;  // plans up to this travel in the kernel's parameter
constexpr u32 LINE = 128;      // bytes between flags
constexpr u32 LINES_DATA = 240; // bytes of data in two lines of packets (lines.cuh)
constexpr u32 STEP_BITS = 20;  // a flag is epoch << STEP_BITS | step

enum : u8 { OP_MULTI, OP_SIGNAL, OP_WAIT, OP_LL_PUT, OP_LL_REDUCE, OP_LINE_PUT, OP_LINE_REDUCE };
enum : u8 { RELAXED = 1, SCALE = 2, BARRIER = 4, EARLIER = 8, PAIRS = 16, HALVES = 32 };
enum : u32 { INPUT, OUTPUT, SCRATCH, PACKETS, CONTROL };
enum : u32 { READY, TAKEN, FLAG_KINDS };

// Head is what an operation does, without the places.
struct Head {
    u8 kind, nsrc, nll, ndst, nput, own, flags, line;
    u32 peers, lane;            // SIGNAL, WAIT: set of ranks; the lane whose line it is
    u32 value, per_slice;       // SIGNAL, WAIT: step in slice s is value + s · per_slice
    u64 unit, limit, stride;    // bytes in slice s: min(unit, limit − s · stride), at s · stride
};

// Op is one operation. A reference is (rank · BUFFERS + buffer) << 48 | offset.
struct Op {
    Head head;
    u64 ref[MAX_REFS];          // sources, packet sources, destinations, packet destinations
};

#if defined(SPECIALISED)
constexpr bool RESOLVED = false;
#else
constexpr bool RESOLVED = true; // an interpreter's references are addresses (Engine::resolve)
#endif

// Lane is the program of Instances blocks: before, body once a slice, after.
struct Lane {
    u32 first, before, body, after, slices, pad[3];
};

// Report is what the first wait that gave up leaves in host memory.
struct Report {
    u32 claimed, rank, block, op, slice, peer, kind, line;
    u64 want, got;
};

// Params is the kernel's parameter. It is small: a launch of a graph takes longer with a
// large one.
struct Params {
    u64 base[MAX_RANKS * BUFFERS];
    u64 plan;                   // lanes and operations in global memory
    u64 abort, report;          // host memory
    u64 deadline_ns;
    u64 packet_half;            // bytes of one half of the packet buffer
    u32 rank, ranks, lanes, instances;
    u32 side;                   // which of the two epoch words counts this launch
    u32 jitter_seed, jitter_ns; // random delays before operations, for tests
    u32 advance;                // 1: the last kernel of the launch, which counts it
};

// Inline is the parameter with a short plan.
struct Inline {
    Params p;
    u64 data[INLINE_BYTES / 8];
};
