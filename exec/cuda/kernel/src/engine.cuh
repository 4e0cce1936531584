// The engine: runs a lane's operations in the block that calls it.
#pragma once

// Wait is how a spin ends: its flag comes, the host or another block aborts, or the
// deadline passes. Then the block runs on without waiting, so that every kernel ends.
struct Wait {
    u64 abort, report, deadline_ns; // values: a reference would move the parameter to memory
    u32 rank, op, slice, kind, line;
    bool dead;
    u64 began;

    // expired is asked once a poll; it looks at the clock, and at host memory, which is
    // slow when many threads do, every 16,384th time.
    static constexpr u32 POLLS = 16384;
    DEV bool expired(u32 spins, u32 peer, u64 want, u64 got)
    {
        if (dead) return true;
        if ((spins & (POLLS - 1)) != POLLS - 1) return false;
        const u64 t = now_ns();
        if (spins == POLLS - 1) began = t;
        if (host_word((const u32 *)abort)) return dead = true;
        if (t - began < deadline_ns) return false;
        Report *r = (Report *)report;
        if (claim(&r->claimed)) {
            r->rank = rank, r->block = block(), r->op = op, r->slice = slice, r->peer = peer, r->kind = kind, r->line = line;
            r->want = want, r->got = got;
            host_fence();
        }
        host_store((u32 *)abort, 1);
        return dead = true;
    }
};

// packet_room is the room that data take in packets.
DEV u64 packet_room(const Head &op, u64 bytes)
{
    return op.kind == OP_LINE_PUT || op.kind == OP_LINE_REDUCE ? bytes / LINES_DATA * LINES_BYTES : 2 * bytes;
}

// head_of reads an operation's head in words: byte by byte would take longer.
DEV Head head_of(const Op &op)
{
    const u64 a = raw_word(&op, 0), b = raw_word(&op, 1), c = raw_word(&op, 2);
    return Head{(u8)a, (u8)(a >> 8), (u8)(a >> 16), (u8)(a >> 24), (u8)(a >> 32), (u8)(a >> 40), (u8)(a >> 48), (u8)(a >> 56),
                (u32)b, (u32)(b >> 32), (u32)c, (u32)(c >> 32), raw_word(&op, 3), raw_word(&op, 4), raw_word(&op, 5)};
}

DEV u32 mix32(u32 x)
{
    x ^= x >> 16, x *= 0x7feb352du, x ^= x >> 15, x *= 0x846ca68bu;
    return x ^ x >> 16;
}

struct Engine {
    const Params &p;
    const u64 *base; // p.base, or a copy in shared memory, which is faster to index
    u64 epoch;
    u32 instance, lane;
    Wait wait;

    DEV Engine(const Params &params, const u64 *table)
        : p(params), base(table), epoch(0), instance(params.instances == 1 ? 0 : block() % params.instances), lane(params.lanes == 1 ? 0 : block() / params.instances),
          wait{params.abort, params.report, params.deadline_ns, params.rank, 0, 0, 0, 0, false, 0}
    {
    }

    DEV u64 *epoch_word(u32 side) { return (u64 *)(base[p.rank * BUFFERS + CONTROL] + side * LINE); }

    // flag is a line of rank owner: raised for its block by rank from.
    DEV u64 *flag(u32 owner, u32 of_lane, u32 from, u32 kind)
    {
        const u64 n = ((u64)(of_lane * p.instances + instance) * MAX_RANKS + from) * FLAG_KINDS + kind;
        return (u64 *)(base[owner * BUFFERS + CONTROL] + (2 + n) * LINE);
    }

    DEV u64 step(const Head &op, u32 slice) { return epoch << STEP_BITS | (op.value + slice * op.per_slice); }

    DEV void signal(const Head &op, u32 slice)
    {
        if (!(op.flags & RELAXED)) sync();
        const u32 to = thread();
        if (to < p.ranks && op.peers >> to & 1) {
            u64 *f = flag(to, op.lane, p.rank, op.line);
            if (op.flags & RELAXED) raise_relaxed(f, step(op, slice));
            else raise_release(f, step(op, slice));
        }
    }

    DEV void await(const Head &op, u32 slice)
    {
        const u32 from = thread();
        if (from < p.ranks && op.peers >> from & 1) {
            const u64 *f = flag(p.rank, op.lane, from, op.line);
            // Launches count from 1; the first two wait for nobody.
            const u64 want = !(op.flags & EARLIER) ? step(op, slice) : epoch < 3 ? 0 : (epoch - 2) << STEP_BITS | op.value;
            wait.line = op.line;
            if (op.flags & RELAXED) {
                u64 got = flag_relaxed(f);
                for (u32 spins = 0; got < want && !wait.expired(spins, from, want, got); spins++) got = flag_relaxed(f);
            } else {
                u64 got = flag_acquire(f);
                for (u32 spins = 0; got < want && !wait.expired(spins, from, want, got); spins++) got = flag_acquire(f);
            }
        }
        sync();
    }

    // is: kinds that the plan does not have are not in the program.
    static DEV bool is(const Head &op, u32 kind) { return (KINDS >> kind & 1) && op.kind == kind; }

    DEV void run(const Head &op, const u64 *ref, u32 number, u32 slice)
    {
        wait.op = number, wait.slice = slice, wait.kind = op.kind;
#if !defined(SPECIALISED)
        if (p.jitter_ns) delay(number, slice);
#endif
        if (op.flags & BARRIER) sync();
        if (op.kind == OP_SIGNAL) {
            signal(op, slice);
            return;
        }
        if (op.kind == OP_WAIT) {
            await(op, slice);
            return;
        }
        const u64 skip = slice * op.stride + (RESOLVED ? 0 : instance * op.unit);
        if (skip >= op.limit) return;
        const u64 n = op.limit - skip < op.unit ? op.limit - skip : op.unit;
        const Places a = {base, ref, skip, packet_room(op, skip) + (epoch & 1) * p.packet_half};
        const u32 stamp = (u32)epoch << 1 | 1;
        if (is(op, OP_MULTI)) multi(op, a, n, p.ranks);
        else if (is(op, OP_LL_PUT)) ll_put(op, a, n, stamp);
        else if (is(op, OP_LL_REDUCE)) ll_reduce(op, a, n, stamp, p.ranks, wait);
        else if (is(op, OP_LINE_PUT)) line_put(op, a, n, stamp);
        else if (is(op, OP_LINE_REDUCE)) line_reduce(op, a, n, stamp, p.ranks, wait);
    }

    DEV void delay(u32 number, u32 slice)
    {
        const u32 h = mix32(p.jitter_seed ^ mix32(p.rank << 24 ^ block() << 12 ^ number) ^ mix32((u32)epoch << 8 ^ slice));
        const u64 until = now_ns() + h % p.jitter_ns;
        while (now_ns() < until) {}
    }

    DEV void begin()
    {
        const u64 *word = epoch_word(p.side);
        let_next_kernel_start();
        wait_for_kernel_ahead();
        epoch = flag_relaxed(word);
        // It counts the launch at once, by the thread that is likely to have nothing else to do:
        // nobody reads the word that is written before the next one.
        if (p.advance && block() == 0 && thread() == threads() - 1) raise_relaxed(epoch_word(p.side ^ 1), epoch + 1);
    }

    // resolve turns the references of a lane's operations, which lie where only this block
    // reads them, into its addresses, and its limits into what is left behind those: all that
    // does not need the kernel ahead to have ended.
    DEV void resolve(const Lane &l, Op *ops)
    {
        const u32 all = l.before + l.body + l.after;
        for (u32 i = thread(); i < all * MAX_REFS; i += threads()) {
            const Op &op = ops[i / MAX_REFS];
            const u32 k = i % MAX_REFS, n = op.head.nsrc, packets = n + op.head.nll, plain = packets + op.head.ndst;
            const bool packet = (k >= n && k < packets) || k >= plain;
            const u64 skip = instance * op.head.unit, r = op.ref[k];
            if (k < plain + op.head.nput) ops[i / MAX_REFS].ref[k] = base[r >> 48] + (r & 0xffffffffffffull) + (packet ? packet_room(op.head, skip) : skip);
        }
        sync();
        for (u32 i = thread(); i < all; i += threads()) {
            Head &h = ops[i].head;
            const u64 skip = instance * h.unit;
            h.limit = h.limit > skip ? h.limit - skip : 0;
        }
        sync();
    }

    // play runs a lane's operations: before, body for each slice, after. Each one's head is
    // read while the one ahead of it runs.
    DEV void play(const Lane &l, const Op *ops)
    {
        const u32 end = l.before + l.body, all = end + l.after;
        u32 slice = 0;
        Head next = head_of(ops[0]);
        for (u32 i = 0; i < all;) {
            const Head op = next;
            const u32 number = i, of = i < end ? slice : 0;
            if (++i == end && l.body && ++slice < l.slices) i = l.before;
            if (i < all) next = head_of(ops[i]);
            run(op, ops[number].ref, number, of);
        }
    }
};
