#!/usr/bin/env python3
"""Times PyTorch's symmetric-memory collectives, a peer of railyard's kernels at small sizes.

    python3 symmetric_memory.py -g 2,3,4 -d float32,bfloat16 -b 1024 -e 67108864 --run NAME > peers.csv

One process a GPU, started anew for each number of GPUs; 5 warm-ups, then 20 operations in a CUDA graph that is replayed back to
back with events between the replays, as `railyard baseline` does; the first replay is not
counted; the slowest GPU's time counts, the median over replays is time_us. Results are
checked once for each size, outside the timed loop. Sizes are rounded down to 16 bytes a
rank, as nccl-tests does. What PyTorch cannot do is a row whose error says why. Every row
says when it was measured and in which run. NVLink multicast stays off.
"""

import argparse
import collections
import csv
import datetime
import os
import sys
import threading

os.environ["TORCH_SYMM_MEM_DISABLE_MULTICAST"] = "1"
os.environ["NCCL_NVLS_ENABLE"] = "0"

import torch
import torch.distributed as dist
import torch.distributed._symmetric_memory as symm_mem
import torch.multiprocessing as mp

WARMUP, ITERATIONS, REPLAYS = 5, 20, 20
PATIENCE = 60  # seconds that ranks wait for one another
HEADER = ["collective", "gpus", "algo", "proto", "registration", "launch", "dtype", "size_bytes", "time_us", "p95_us", "p99_us",
          "algbw_GBps", "busbw_GBps", "wrong", "run", "at", "error"]

# Operation of PyTorch: run(t, out, group) reduces t, in symmetric memory, and returns the
# result; refuses says why not on so many GPUs, "" where it can.
Operation = collections.namedtuple("Operation", "collective name run refuses")


def reduce_scatter_refuses(gpus):
    """two_shot_all_reduce_kernel, which reduce_scatter_out launches, has no loop over a number of ranks known at run time."""
    return "" if gpus in (2, 4, 8) else f"reduce_scatter_out is compiled for 2, 4 and 8 GPUs, not {gpus}"


# one_shot_all_reduce and two_shot_all_reduce_ take any number of GPUs.
OPERATIONS = [
    Operation("all_reduce", "one_shot", lambda t, out, group: torch.ops.symm_mem.one_shot_all_reduce(t, "sum", group), lambda gpus: ""),
    Operation("all_reduce", "two_shot", lambda t, out, group: torch.ops.symm_mem.two_shot_all_reduce_(t, "sum", group), lambda gpus: ""),
    Operation("reduce_scatter", "two_shot", lambda t, out, group: torch.ops.symm_mem.reduce_scatter_out(t, group, False, out), reduce_scatter_refuses),
    Operation("all_gather", "multimem", None, lambda gpus: "multimem_all_gather_out needs NVLink multicast, which is off"),
]


def sizes(begin, end, gpus):
    """Powers of two from begin, in whole 16 bytes for each GPU."""
    while begin <= end:
        yield begin - begin % (16 * gpus)
        begin *= 2


def bus_factor(collective, gpus):
    return (2 if collective == "all_reduce" else 1) * (gpus - 1) / gpus


def nearest_rank(values, percent):
    return values[max(0, (len(values) * percent + 99) // 100 - 1)]


def row(op, gpus, dtype, size, run, times=(), wrong="", error=""):
    """One line of the CSV; times are those of the slowest GPU in each replay, in microseconds."""
    measured = [""] * 5
    if times:
        times = sorted(times)
        us = nearest_rank(times, 50)
        alg = size / us / 1e3
        measured = [f"{x:.3f}" for x in (us, nearest_rank(times, 95), nearest_rank(times, 99), alg, alg * bus_factor(op.collective, gpus))]
    at = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    return [op.collective, gpus, op.name, "symmetric_memory", "symmetric", "graph", dtype, size] + measured + [wrong, run, at, error]


class Shared:
    """What all processes see: a barrier, and each rank's times and wrong elements."""

    def __init__(self, gpus):
        context = mp.get_context("spawn")
        self.barrier = context.Barrier(gpus)
        self.times = context.Array("d", gpus * REPLAYS)
        self.wrong = context.Array("q", gpus)

    def slowest(self, gpus):
        return [max(self.times[r * REPLAYS + i] for r in range(gpus)) for i in range(REPLAYS)]


class Rank:
    """One GPU of a group."""

    def __init__(self, rank, gpus, group, shared):
        self.rank, self.gpus, self.group, self.shared = rank, gpus, group, shared

    def together(self):
        torch.cuda.synchronize()
        self.shared.barrier.wait(PATIENCE)

    def values(self, t, of_ranks):
        """What elements of t are: of_ranks times a small number that depends on the place alone."""
        return of_ranks * (torch.arange(t.numel(), device=t.device) % 5 + 1)

    def wrong(self, op, t, out):
        """How many elements of one operation on small integers are not the exact sum."""
        t.copy_(self.values(t, self.rank + 1))
        self.together()
        got = op.run(t, out, self.group)
        self.together()
        want = self.values(t, self.gpus * (self.gpus + 1) // 2)
        if got.numel() < t.numel():
            want = want[self.rank * got.numel():][:got.numel()]
        bad = int((got != want.to(t.dtype)).sum())
        self.together()
        t.zero_()  # in-place sums must not grow
        return bad

    def replay_times(self, op, t, out):
        """Microseconds of one operation in each replay, this GPU's."""
        side = torch.cuda.Stream()
        with torch.cuda.stream(side):
            self.together()
            for _ in range(WARMUP):
                op.run(t, out, self.group)
            side.synchronize()
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph, stream=side):
                for _ in range(ITERATIONS):
                    op.run(t, out, self.group)
            marks = [torch.cuda.Event(enable_timing=True) for _ in range(REPLAYS + 2)]
            self.together()
            for m in marks[:-1]:
                m.record(side)
                graph.replay()
            marks[-1].record(side)
            side.synchronize()
        return [a.elapsed_time(b) * 1e3 / ITERATIONS for a, b in zip(marks[1:-1], marks[2:])]

    def measure(self, op, t, dtype, run):
        """One row. An operation that PyTorch refuses, it refuses on all GPUs alike."""
        size = t.numel() * t.element_size()
        error = op.refuses(self.gpus)
        if error:
            return row(op, self.gpus, dtype, size, run, error=error)
        out = torch.empty(t.numel() // self.gpus, dtype=t.dtype, device=t.device)
        try:
            self.shared.wrong[self.rank] = self.wrong(op, t, out)
            self.shared.times[self.rank * REPLAYS:(self.rank + 1) * REPLAYS] = self.replay_times(op, t, out)
        except threading.BrokenBarrierError:
            raise  # another rank is gone
        except (RuntimeError, AttributeError, TypeError) as e:  # refused, or not in this version
            return row(op, self.gpus, dtype, size, run, error=str(e).splitlines()[0])
        self.together()
        return row(op, self.gpus, dtype, size, run, self.shared.slowest(self.gpus), sum(self.shared.wrong[:self.gpus]))

    def rows(self, args):
        for name in args.dtypes:
            dtype = getattr(torch, name)
            whole = symm_mem.empty(args.end // dtype.itemsize, dtype=dtype, device=f"cuda:{self.rank}")
            symm_mem.rendezvous(whole, self.group)
            for size in sizes(args.begin, args.end, self.gpus):
                for op in OPERATIONS:
                    yield self.measure(op, whole[:size // dtype.itemsize], name, args.run)
                    self.together()


def worker(rank, gpus, args, shared):
    torch.cuda.set_device(rank)
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(args.port))
    dist.init_process_group("nccl", rank=rank, world_size=gpus)  # no communicator: nothing is sent by NCCL
    out = csv.writer(sys.stdout, lineterminator="\n")
    for r in Rank(rank, gpus, dist.group.WORLD.group_name, shared).rows(args):
        if rank == 0:
            out.writerow(r)
            sys.stdout.flush()
    dist.destroy_process_group()


def listed(kind):
    return lambda text: [kind(part) for part in text.split(",")]


def parse(argv):
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("-g", "--gpus", type=listed(int), default=[torch.cuda.device_count()], help="numbers of GPUs")
    p.add_argument("-b", "--begin", type=int, default=1024, help="smallest size in bytes")
    p.add_argument("-e", "--end", type=int, default=64 << 20, help="largest size in bytes")
    p.add_argument("-d", "--dtypes", type=listed(str), default=["float32"], help="float32, bfloat16")
    p.add_argument("--run", default="", help="what rows say of the run they are from")
    p.add_argument("--port", type=int, default=29511)
    args = p.parse_args(argv)
    if min(args.gpus) < 2 or max(args.gpus) > torch.cuda.device_count():
        sys.exit(f"{args.gpus} GPUs asked for, this machine shows {torch.cuda.device_count()}: two or more are needed")
    if not 16 * max(args.gpus) <= args.begin <= args.end:
        sys.exit("sizes must be at least 16 bytes a GPU and ascend")
    if not set(args.dtypes) <= {"float32", "bfloat16"}:
        sys.exit("types must be float32 or bfloat16")
    return args


def main():
    args = parse(sys.argv[1:])
    csv.writer(sys.stdout, lineterminator="\n").writerow(HEADER)
    sys.stdout.flush()
    for gpus in args.gpus:  # groups of some of the processes waited for ever once memory had been shared in another
        mp.spawn(worker, args=(gpus, args, Shared(gpus)), nprocs=gpus)


if __name__ == "__main__":
    main()
