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
        if (!likely(!dead)) return true;
        if (likely((spins & (POLLS - 1)) != POLLS - 1)) return false;
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

DEV u32 mix32(u32 x)
{
    x ^= x >> 16, x *= 0x7feb352du, x ^= x >> 15, x *= 0x846ca68bu;
    return x ^ x >> 16;
}

// Share is a block's part of an operation in one slice: where it begins, and its bytes.
struct Share {
    u64 skip, packet_skip, n;
};

// Turn is an operation with this block's part of it.
struct Turn {
    Head op;
    Share share;
};

// Where a plan has an operation, and its references.
DEV Words op_at(Words plan, u32 i) { return plan + (sizeof(Lane) + i * sizeof(Op)) / 8; }
DEV Words refs_at(Words plan, u32 i) { return op_at(plan, i) + sizeof(Head) / 8; }

struct Engine {
    const Params &p;
    const u64 *base; // constants: addresses of buffers
    u64 epoch;
    u32 instance, lane;
    Wait wait;

    DEV Engine(const Params &params, const u64 *table)
        : p(params), base(table), epoch(0), instance(params.instances == 1 ? 0 : block() % params.instances), lane(params.lanes == 1 ? 0 : block() / params.instances),
          wait{params.abort, params.report, params.deadline_ns, params.rank, 0, 0, 0, 0, false, 0}
    {
    }

    DEV u64 *epoch_word(u32 turn) { return (u64 *)(p.control + turn * LINE); }

    // flag is the line of a signal or wait that is between this block and a rank's.
    DEV u64 *flag(const Head &op, Refs ref, u32 peer)
    {
        const Places a = {base, ref, 0, 0, 0};
        return (u64 *)(a.at(count_bits(op.peers & ((1u << peer) - 1))) + (u64)instance * (MAX_RANKS * FLAG_KINDS * LINE));
    }

    DEV u64 step(const Head &op, u32 slice) { return epoch << STEP_BITS | (op.value + slice * op.per_slice); }

    DEV void signal(const Head &op, Refs ref, u32 slice)
    {
        if (!(op.flags & RELAXED)) sync();
        const u32 to = thread();
        if (to < MAX_RANKS && op.peers >> to & 1) {
            u64 *f = flag(op, ref, to);
            if (op.flags & RELAXED) raise_relaxed(f, step(op, slice));
            else raise_release(f, step(op, slice));
        }
    }

    DEV void await(const Head &op, Refs ref, u32 slice)
    {
        const u32 from = thread();
        if (from < MAX_RANKS && op.peers >> from & 1) {
            const u64 *f = flag(op, ref, from);
            // Launches count from 1; the first wait for nobody.
            const u64 want = !(op.flags & EARLIER) ? step(op, slice) : epoch <= op.per_slice ? 0 : (epoch - op.per_slice) << STEP_BITS | op.value;
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

    DEV Share share(const Head &op, u32 slice)
    {
        const u64 skip = slice * op.stride + instance * op.unit, left = skip < op.limit ? op.limit - skip : 0;
        return Share{skip, slice * op.packet_stride + instance * op.packet_unit, left < op.unit ? left : op.unit};
    }

    DEV void run(const Head &op, Refs ref, const Share &s, u32 number, u32 slice)
    {
        wait.op = number, wait.slice = slice, wait.kind = op.kind;
#if defined(JITTER)
        if (p.jitter_ns) delay(number, slice);
#endif
        if (op.flags & BARRIER) sync();
        if (op.kind == OP_SIGNAL) {
            signal(op, ref, slice);
            return;
        }
        if (op.kind == OP_WAIT) {
            await(op, ref, slice);
            return;
        }
        if (!s.n) return;
        const Places a = {base, ref, s.skip, s.packet_skip + (epoch & 1) * p.packet_half, (epoch & (SLOT_TURNS - 1)) * p.slot_lines * LINE};
        const u32 stamp = (u32)epoch << 1 | 1;
        if (op.kind == OP_MULTI) multi(op, a, s.n, p.ranks);
        else if (op.kind == OP_LL_PUT) ll_put(op, a, s.n, stamp);
        else if (op.kind == OP_LL_REDUCE) ll_reduce(op, a, s.n, stamp, p.ranks, wait);
        else if (op.kind == OP_LINE_PUT) line_put(op, a, s.n, stamp);
        else if (op.kind == OP_LINE_REDUCE) line_reduce(op, a, s.n, stamp, p.ranks, wait);
        else if (op.kind == OP_WORD_PUT) word_put(op, a, s.n);
        else if (op.kind == OP_WORD_REDUCE) word_reduce(op, a, s.n, p.ranks, wait);
    }

#if defined(SPECIALISED)
    DEV void run(const Op &op, u32 number, u32 slice) { run(op.head, op.ref, share(op.head, slice), number, slice); }
#endif

    DEV void delay(u32 number, u32 slice)
    {
        const u32 h = mix32(p.jitter_seed ^ mix32(p.rank << 24 ^ block() << 12 ^ number) ^ mix32((u32)epoch << 8 ^ slice));
        const u64 until = now_ns() + h % p.jitter_ns;
        while (now_ns() < until) {}
    }

    // count reads the number of this launch, which the one ahead of the one ahead has left in a
    // word that nobody writes meanwhile.
    DEV void count() { epoch = flag_relaxed(epoch_word(p.turn ^ 2)); }

    // begin waits for the kernel ahead, and only then lets the next one be launched: so the one
    // ahead of the one ahead has ended before this one began.
    DEV void begin()
    {
        wait_for_kernel_ahead();
        let_next_kernel_start();
    }

    // end leaves the number of the launch after the next.
    DEV void end()
    {
        if (p.advance && block() == 0 && thread() == 0) raise_relaxed(epoch_word(p.turn), epoch + 2);
    }

    // turn reads an operation.
    DEV Turn turn(Words op, u32 slice)
    {
        const u64 what = op[0], who = op[1], step = op[2];
        Turn t;
        t.op = Head{(u8)what, (u8)(what >> 8), (u8)(what >> 16), (u8)(what >> 24), (u8)(what >> 32), (u8)(what >> 40), (u8)(what >> 48), (u8)(what >> 56),
            (u32)who, (u32)(who >> 32), (u32)step, (u32)(step >> 32), op[3], op[4], op[5], op[6], op[7]};
        t.share = share(t.op, slice);
        pin(t.share.skip), pin(t.share.packet_skip), pin(t.share.n);
        return t;
    }

    // play runs a lane's operations: before, body for each slice, after. Forms knows them. What
    // the first two take is read and computed before the kernel ahead has ended, and then that
    // of the next but one.
    template <class Forms> DEV void play(Words plan)
    {
        const u32 before = (u32)plan[0], body = (u32)(plan[0] >> 32), slices = (u32)(plan[1] >> 32);
        const u32 last = before + body, all = last + (u32)plan[1];
        u32 at = 0, slice = 0, ahead = 0, ahead_slice = 0;
        auto go_on = [&] {
            if (++ahead == last && body && ++ahead_slice < slices) ahead = before;
        };
        Turn now = {}, next = {};
        if (all) now = turn(op_at(plan, 0), 0), go_on();
        if (ahead < all) next = turn(op_at(plan, ahead), ahead < last ? ahead_slice : 0);
        begin();
        while (at < all) {
            Forms::run(*this, now, refs_at(plan, at), at, at < last ? slice : 0);
            now = next, at = ahead, slice = ahead_slice;
            go_on();
            if (at < all && ahead < all) next = turn(op_at(plan, ahead), ahead < last ? ahead_slice : 0);
        }
        end();
    }
};
