#!/usr/bin/env python3
"""Times PyTorch's symmetric-memory all-reduces, a peer of railyard's kernels at small sizes.

    TORCH_SYMM_MEM_DISABLE_MULTICAST=1 python3 symmetric_memory.py -g 4 -b 1024 -e 67108864 > peers.csv

One process a GPU; 5 warm-ups, then 20 operations in a CUDA graph that is replayed back to
back with events between the replays, as `railyard baseline` does; the first replay is not
counted; the slowest GPU's time counts, the median over replays is time_us. Results are
checked once for each size, outside the timed loop. NVLink multicast stays off.
"""

import argparse
import csv
import os
import sys

os.environ["TORCH_SYMM_MEM_DISABLE_MULTICAST"] = "1"
os.environ["NCCL_NVLS_ENABLE"] = "0"

import torch
import torch.distributed as dist
import torch.distributed._symmetric_memory as symm_mem
import torch.multiprocessing as mp

WARMUP, ITERATIONS, REPLAYS = 5, 20, 20
HEADER = ["collective", "gpus", "algo", "proto", "registration", "launch", "dtype", "size_bytes", "time_us", "p95_us", "p99_us",
          "algbw_GBps", "busbw_GBps", "wrong"]


def operations(group):
    ops = torch.ops.symm_mem
    return {
        "one_shot": lambda t: ops.one_shot_all_reduce(t, "sum", group),
        "two_shot": lambda t: ops.two_shot_all_reduce_(t, "sum", group),
    }


def wrong(run, t, rank, world):
    """How many elements of one all-reduce of small integers are not the exact sum."""
    i = torch.arange(t.numel(), device=t.device)
    t.copy_((rank + 1) * (i % 5 + 1))
    dist.barrier()
    out = run(t)
    torch.cuda.synchronize()
    want = ((i % 5 + 1) * (world * (world + 1) // 2)).to(t.dtype)
    bad = torch.tensor([int((out != want).sum())], device=t.device)
    dist.all_reduce(bad)
    t.zero_()  # in-place sums must not grow
    return int(bad)


def replay_times(run, t):
    """Microseconds of one operation in each replay, the slowest GPU's."""
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for _ in range(WARMUP):
            run(t)
        side.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=side):
            for _ in range(ITERATIONS):
                run(t)
        marks = [torch.cuda.Event(enable_timing=True) for _ in range(REPLAYS + 2)]
        dist.barrier()
        torch.cuda.synchronize()
        for m in marks[:-1]:
            m.record(side)
            graph.replay()
        marks[-1].record(side)
        side.synchronize()
    times = torch.tensor([a.elapsed_time(b) * 1e3 / ITERATIONS for a, b in zip(marks[1:-1], marks[2:])], device="cuda")
    dist.all_reduce(times, op=dist.ReduceOp.MAX)
    return sorted(times.tolist())


def nearest_rank(values, percent):
    return values[max(0, (len(values) * percent + 99) // 100 - 1)]


def worker(rank, args):
    torch.cuda.set_device(rank)
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(args.port))
    dist.init_process_group("nccl", rank=rank, world_size=args.gpus, device_id=torch.device("cuda", rank))
    group = dist.group.WORLD.group_name
    dtype = getattr(torch, args.dtype)
    rows, size = [], args.begin
    while size <= args.end:
        t = symm_mem.empty(size // dtype.itemsize, dtype=dtype, device=f"cuda:{rank}")
        symm_mem.rendezvous(t, group)
        for name, run in operations(group).items():
            bad = wrong(run, t, rank, args.gpus)
            times = replay_times(run, t)
            us = nearest_rank(times, 50)
            alg = size / us / 1e3
            rows.append(["all_reduce", args.gpus, name, "symmetric_memory", "symmetric", "graph", args.dtype, size, f"{us:.3f}",
                         f"{nearest_rank(times, 95):.3f}", f"{nearest_rank(times, 99):.3f}", f"{alg:.3f}", f"{alg * 2 * (args.gpus - 1) / args.gpus:.3f}", bad])
        size *= 2
    if rank == 0:
        out = csv.writer(sys.stdout, lineterminator="\n")
        out.writerow(HEADER)
        out.writerows(rows)
        sys.stdout.flush()
    dist.destroy_process_group()


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("-g", "--gpus", type=int, default=torch.cuda.device_count())
    p.add_argument("-b", "--begin", type=int, default=1024, help="smallest size in bytes")
    p.add_argument("-e", "--end", type=int, default=64 << 20, help="largest size in bytes")
    p.add_argument("-d", "--dtype", default="float32", choices=["float32", "bfloat16"])
    p.add_argument("--port", type=int, default=29511)
    args = p.parse_args()
    if args.gpus < 2 or args.gpus > torch.cuda.device_count():
        sys.exit(f"{args.gpus} GPUs asked for, this machine shows {torch.cuda.device_count()}: two or more are needed")
    if not 16 * args.gpus <= args.begin <= args.end:
        sys.exit("sizes must be at least 16 bytes a GPU and ascend")
    mp.spawn(worker, args=(args,), nprocs=args.gpus)


if __name__ == "__main__":
    main()
