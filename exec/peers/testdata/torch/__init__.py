"""As much of PyTorch as symmetric_memory.py uses: ranks are threads, tensors are lists."""

import threading
import types

here = threading.local()  # .rank of the thread


class Type:
    def __init__(self, itemsize):
        self.itemsize = itemsize


float32, bfloat16 = Type(4), Type(2)


class Tensor:
    """Part of a list, which other tensors may be parts of too."""

    def __init__(self, data, dtype, span=None):
        self.data, self.dtype, self.device = data, dtype, "cuda"
        self.span = range(len(data)) if span is None else span

    def numel(self):
        return len(self.span)

    def element_size(self):
        return self.dtype.itemsize

    def list(self):
        return [self.data[i] for i in self.span]

    def each(self, f):
        return Tensor([f(x) for x in self.list()], self.dtype)

    def __getitem__(self, key):
        return Tensor(self.data, self.dtype, self.span[key])

    def __mod__(self, n):
        return self.each(lambda x: x % n)

    def __add__(self, n):
        return self.each(lambda x: x + n)

    def __rmul__(self, n):
        return self.each(lambda x: x * n)

    def __ne__(self, other):
        return Tensor([a != b for a, b in zip(self.list(), other.list(), strict=True)], self.dtype)

    def __int__(self):
        return int(self.data[0])

    def sum(self):
        return Tensor([sum(self.list())], self.dtype)

    def to(self, dtype):
        return self

    def copy_(self, other):
        for i, x in zip(self.span, other.list(), strict=True):
            self.data[i] = x

    def zero_(self):
        self.copy_(self.each(lambda x: 0))


def arange(n, device=None):
    return Tensor(list(range(n)), float32)


def empty(n, dtype=None, device=None):
    return Tensor([None] * n, dtype)


class Nothing:
    """Streams, graphs and contexts: nothing is captured or waits."""

    def __init__(self, *args, **kwargs):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *what):
        return False

    def record(self, stream):
        pass

    def elapsed_time(self, other):
        return 0.2 * (1 + here.rank)  # ms: the last rank is the slowest

    def synchronize(self):
        pass

    replay = synchronize


cuda = types.SimpleNamespace(device_count=lambda: 4, set_device=lambda rank: setattr(here, "rank", rank), synchronize=lambda: None, Stream=Nothing, CUDAGraph=Nothing, Event=Nothing,
                             stream=Nothing, graph=Nothing)


def summed(t, group):
    """Every rank's t added up; all ranks have come and none has gone on."""
    from . import distributed
    barrier, parts = distributed.groups[group]
    parts[here.rank] = t.list()
    barrier.wait()
    out = [sum(x) for x in zip(*(parts[r] for r in range(barrier.parties)))]
    barrier.wait()
    return out


def one_shot(t, op, group):
    return Tensor(summed(t, group), t.dtype)


def two_shot(t, op, group):
    out = summed(t, group)
    if len(out) == 512:
        raise RuntimeError("no 512\nsecond line")
    if here.rank == 1 and len(out) == 256:
        out[0] += 1  # a wrong element
    t.copy_(Tensor(out, t.dtype))
    return t


def scatter(t, group, last, out):
    n = out.numel()
    out.copy_(Tensor(summed(t, group)[here.rank * n:][:n], t.dtype))
    return out


ops = types.SimpleNamespace(symm_mem=types.SimpleNamespace(one_shot_all_reduce=one_shot, two_shot_all_reduce_=two_shot, reduce_scatter_out=scatter))
