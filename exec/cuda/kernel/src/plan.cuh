// What the host and the kernels agree on. Package model/block documents the operations
// and writes these structures; sizes and offsets are in bytes unless a name says so.
#pragma once

typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long long u64;

// likely lets the compiler put aside what is rare: instructions that are skipped cost time, too.
#define likely(x) __builtin_expect(x, true)

constexpr u32 MAX_RANKS = 32;  // of a program: those of a node, and of others by proxy
#if !defined(PEERS)
#define PEERS 8
#endif
constexpr u32 RANKS = PEERS;   // at most so many in this program: what loops are unrolled to
constexpr u32 BUFFERS = 6;     // places in the table of addresses, by rank
#if !defined(REFS)
#define REFS 24
#endif
constexpr u32 MAX_REFS = REFS; // sources and destinations of an operation
constexpr u32 LINE = 128;      // bytes between flags
constexpr u32 LINES_DATA = 240; // bytes of data in two lines of packets (lines.cuh)
constexpr u32 EPOCH_WORDS = 4; // lines ahead of the flags
constexpr u32 STEP_BITS = 20;  // a flag is epoch << STEP_BITS | step

#if !defined(SLOT_TURNS)
#define SLOT_TURNS 1
#endif
// References with this bit are of slots, in host memory, of which as many launches have some of their own, by turns.
constexpr u64 SLOT = 1ull << 63;

#if defined(UNALIGNED)
constexpr bool ACROSS = true; // some data are not aligned to 16 bytes: they are read across that
#else
constexpr bool ACROSS = false;
#endif

enum : u8 { OP_MULTI, OP_SIGNAL, OP_WAIT, OP_LL_PUT, OP_LL_REDUCE, OP_LINE_PUT, OP_LINE_REDUCE, OP_WORD_PUT, OP_WORD_REDUCE };
enum : u8 { RELAXED = 1, SCALE = 2, BARRIER = 4, EARLIER = 8, PAIRS = 16, HALVES = 32, ONCE = 64 };
enum : u32 { INPUT, OUTPUT, SCRATCH, PACKETS, CONTROL };
enum : u32 { READY, TAKEN, FLAG_KINDS };

// Head is what an operation does, without the places.
struct Head {
    u8 kind, nsrc, nll, ndst, nput, own, flags, line;
    u32 peers, form;            // SIGNAL, WAIT: set of ranks; which of an interpreter's forms it has
    u32 value, per_slice;       // SIGNAL, WAIT: step in slice s is value + s · per_slice; EARLIER: per_slice launches before
    // Block b takes, in slice s, min(unit, limit − skip) bytes at skip = s · stride + b · unit.
    u64 unit, limit, stride;
    u64 packet_unit, packet_stride; // the same in a packet buffer
};

// Op is one operation. A reference is a place of the first block of its lane: an address in
// an interpreter's plan; in constants, which are compiled once for all memory,
// (rank · BUFFERS + buffer) << 48 | offset.
struct Op {
    Head head;
    // Sources, packet sources, destinations, packet destinations; or flags, by peer. Behind them,
    // of packets in pairs, the limit of each pair.
    u64 ref[MAX_REFS];
};

#if defined(SPECIALISED)
constexpr bool RESOLVED = false;
#else
constexpr bool RESOLVED = true;
#endif

// Lane is the program of Instances blocks: before, body once a slice, after. Its operations
// follow it; a rank's lanes are equally long.
struct Lane {
    u32 before, body, after, slices;
};

// Report is what the first wait that gave up leaves in host memory.
struct Report {
    u32 claimed, rank, block, op, slice, peer, kind, line;
    u64 want, got;
};

// Params is the kernel's parameter. It is small: a launch of a graph takes longer with a
// large one.
struct Params {
    u64 control;                // this rank's epoch words and flags
    u64 plan;                   // its lanes
    u64 abort, report;          // host memory
    u64 deadline_ns;
    u64 packet_half;            // bytes of one half of the packet buffer
    u32 rank, ranks, lanes, instances;
    u32 lane_bytes;
    u32 turn;                   // launches modulo EPOCH_WORDS
    u32 jitter_seed, jitter_ns; // random delays before operations, for tests
    u32 advance;                // 1: the last kernel of the launch, which counts it
    u32 slot_lines;             // of a launch's slots
};

// Special is the parameter of a plan of constants.
struct Special {
    Params p;
    u64 base[RANKS * BUFFERS];
};
