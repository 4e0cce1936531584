#!/usr/bin/env python3
"""Times what a training step computes on one GPU, in bursts and under steady load.

    python3 training.py [PART...] > training.csv

Matrix products of transformer layers (forward, and both of the backward pass), fused
causal attention in both directions, kernels that only move memory, the optimizer and
whole layers. Data are normally distributed: zeros would draw less power. `burst` is the
median of single runs after a pause, `steady` the mean of back-to-back runs that
last SECONDS, counted in their second half, when clocks have settled.
"""

import csv
import subprocess
import sys
import time

import torch
import torch.nn.functional as F

SECONDS, PAUSE, BURSTS = 1.5, 0.1, 3
DEVICE = "cuda"
BF16 = torch.bfloat16


def normal(*shape, dtype=BF16, grad=False):
    return torch.randn(*shape, device=DEVICE, dtype=torch.float32).to(dtype).requires_grad_(grad)


def timed(run, times):
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    for _ in range(times):
        run()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) / times * 1e3  # µs


def burst(run):
    out = []
    for _ in range(BURSTS):
        time.sleep(PAUSE)
        timed(run, 1)
        out.append(timed(run, 1))
    return sorted(out)[len(out) // 2]


def steady(run, us):
    half = max(int(SECONDS / 2 * 1e6 / us), 3)
    for _ in range(half):
        run()
    return timed(run, half)


def clock():
    text = subprocess.run(["nvidia-smi", "--query-gpu=clocks.sm,power.draw", "--format=csv,noheader,nounits", "-i", "0"], capture_output=True, text=True)
    return [x.strip() for x in text.stdout.split(",")]


class Table:
    def __init__(self, out):
        self.out = csv.writer(out)
        self.out.writerow(["kernel", "shape", "type", "flop", "bytes", "burst_us", "steady_us", "sm_mhz", "watts"])
        self.file = out

    def row(self, kernel, shape, dtype, flop, size, run):
        for _ in range(3):
            run()
        torch.cuda.synchronize()
        b = burst(run)
        s = steady(run, b)
        for _ in range(max(int(0.25e6 / b), 1)):  # under load, when the clock is read
            run()
        c = clock()
        torch.cuda.synchronize()
        self.out.writerow([kernel, shape, dtype, f"{flop:.6g}", f"{size:.6g}", f"{b:.2f}", f"{s:.2f}"] + c)
        self.file.flush()
        torch.cuda.empty_cache()


def products(t):
    for m, n, k in [(8192, 8192, 8192), (16384, 8192, 8192), (16384, 32768, 8192), (16384, 8192, 32768), (12288, 12288, 4096), (12288, 16384, 4096),
                    (12288, 4096, 16384), (8192, 4096, 16384), (4096, 4096, 4096), (28672, 2048, 2048), (28672, 8192, 2048), (8192, 1024, 4096)]:
        x, w, y = normal(m, k), normal(n, k), normal(m, n)
        flop, size = 2 * m * n * k, 2 * (m * n + n * k + m * k)
        t.row("forward", f"{m}x{n}x{k}", "bf16", flop, size, lambda: F.linear(x, w))
        if m * n * k > 7e11:
            t.row("dgrad", f"{m}x{n}x{k}", "bf16", flop, size, lambda: y @ w)
            t.row("wgrad", f"{m}x{n}x{k}", "bf16", flop, size, lambda: y.t() @ x)


def fp8(t):
    one = torch.ones((), device=DEVICE)
    for m, n, k in [(8192, 8192, 8192), (8192, 28672, 8192), (16384, 8192, 8192), (4096, 4096, 4096), (4096, 12288, 4096), (2048, 8192, 8192),
                    (8192, 4096, 14336), (16384, 4096, 4096), (4096, 16384, 2048), (2048, 2048, 8192), (16384, 16384, 12288), (8192, 1280, 8192)]:
        a, b = normal(m, k).to(torch.float8_e4m3fn), normal(n, k).to(torch.float8_e4m3fn)
        t.row("forward", f"{m}x{n}x{k}", "fp8", 2 * m * n * k, m * k + n * k + 2 * m * n,
              lambda: torch._scaled_mm(a, b.t(), scale_a=one, scale_b=one, out_dtype=BF16, use_fast_accum=True))
        t.row("accurate", f"{m}x{n}x{k}", "fp8", 2 * m * n * k, m * k + n * k + 2 * m * n,
              lambda: torch._scaled_mm(a, b.t(), scale_a=one, scale_b=one, out_dtype=BF16, use_fast_accum=False))


def attention(t):
    from torch.nn.attention import SDPBackend, sdpa_kernel
    for name, backend in [("flash2", SDPBackend.FLASH_ATTENTION), ("cudnn", SDPBackend.CUDNN_ATTENTION)]:
        for b, h, s, d in [(6, 32, 2048, 128), (4, 32, 4096, 128), (2, 32, 8192, 128), (1, 16, 32768, 128), (1, 16, 8192, 128), (1, 8, 4096, 128), (2, 16, 2048, 128), (8, 32, 1024, 128), (16, 32, 512, 128)]:
            q, k, v = (normal(b, h, s, d, grad=True) for _ in range(3))
            flop = 2 * b * h * s * s * d  # the causal half of 4
            try:
                with sdpa_kernel(backend):
                    o = F.scaled_dot_product_attention(q, k, v, is_causal=True)
                    go = normal(b, h, s, d)
                    with torch.no_grad():
                        t.row(f"attention {name}", f"{b}x{h}x{s}x{d}", "bf16", flop, 0, lambda: F.scaled_dot_product_attention(q, k, v, is_causal=True))
                    t.row(f"attention {name} backward", f"{b}x{h}x{s}x{d}", "bf16", 2.5 * flop, 0,
                          lambda: torch.autograd.grad(o, (q, k, v), go, retain_graph=True))
            except RuntimeError as e:
                print(name, b, h, s, d, str(e).splitlines()[0], file=sys.stderr)


def memory(t):
    n = 12288 * 16384
    x, y = normal(12288, 16384), normal(12288, 16384)
    z = torch.empty_like(x)
    t.row("copy", f"{n}", "bf16", 0, 4 * n, lambda: z.copy_(x))
    t.row("add", f"{n}", "bf16", 0, 6 * n, lambda: torch.add(x, y, out=z))
    t.row("gelu", f"{n}", "bf16", 0, 4 * n, lambda: F.gelu(x))
    xg = x.clone().requires_grad_()
    g = F.gelu(xg)
    t.row("gelu backward", f"{n}", "bf16", 0, 6 * n, lambda: torch.autograd.grad(g, xg, y, retain_graph=True))
    w = torch.ones(4096, device=DEVICE, dtype=BF16, requires_grad=True)
    bias = torch.zeros(4096, device=DEVICE, dtype=BF16, requires_grad=True)
    v, gv = normal(49152, 4096, grad=True), normal(49152, 4096)
    with torch.no_grad():
        t.row("layernorm", f"{n}", "bf16", 0, 4 * n, lambda: F.layer_norm(v, (4096,), w, bias))
    o = F.layer_norm(v, (4096,), w, bias)
    t.row("layernorm backward", f"{n}", "bf16", 0, 6 * n, lambda: torch.autograd.grad(o, (v, w, bias), gv, retain_graph=True))
    with torch.no_grad():
        t.row("rmsnorm", f"{n}", "bf16", 0, 4 * n, lambda: F.rms_norm(v, (4096,), w))
    t.row("dropout", f"{n}", "bf16", 0, 5 * n, lambda: F.dropout(x, 0.1, True))
    s = normal(64, 2048, 2048)
    with torch.no_grad():
        t.row("softmax", f"{s.numel()}", "bf16", 0, 4 * s.numel(), lambda: torch.softmax(s, -1))
    logits, target = normal(12288, 50368, grad=True), torch.randint(0, 50368, (12288,), device=DEVICE)
    t.row("loss forward and backward", f"{logits.numel()}", "bf16", 0, 18 * logits.numel(),
          lambda: torch.autograd.grad(F.cross_entropy(logits.float(), target), logits))


def optimizer(t):
    n = 400_000_000
    p = [torch.randn(n // 40, device=DEVICE, requires_grad=True) for _ in range(40)]
    for q in p:
        q.grad = torch.randn_like(q)
    for name, kw in [("fused", dict(fused=True)), ("foreach", dict(foreach=True))]:
        o = torch.optim.AdamW(p, lr=1e-6, **kw)
        t.row(f"adamw {name}", f"{n}", "fp32", 0, 28 * n, o.step)
        del o
    t.row("gradient norm", f"{n}", "fp32", 0, 4 * n, lambda: torch.nn.utils.clip_grad_norm_(p, 1e9))


class Layer(torch.nn.Module):
    def __init__(self, h, heads, gated):
        super().__init__()
        self.heads, self.gated = heads, gated
        self.n1, self.n2 = torch.nn.LayerNorm(h), torch.nn.LayerNorm(h)
        self.qkv, self.out = torch.nn.Linear(h, 3 * h, bias=False), torch.nn.Linear(h, h, bias=False)
        self.up, self.down = torch.nn.Linear(h, 4 * h, bias=False), torch.nn.Linear(4 * h, h, bias=False)

    def forward(self, x):
        b, s, h = x.shape
        q, k, v = (y.view(b, s, self.heads, -1).transpose(1, 2) for y in self.qkv(self.n1(x)).chunk(3, -1))
        a = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(b, s, h)
        x = x + self.out(a)
        return x + self.down(F.gelu(self.up(self.n2(x))))


def layers(t):
    for b, s, h, heads in [(6, 2048, 4096, 32), (8, 2048, 8192, 64), (10, 4096, 5120, 40), (3, 8192, 2560, 20), (14, 2048, 2048, 16)]:
        m = torch.nn.Sequential(*[Layer(h, heads, False) for _ in range(3)]).to(DEVICE).to(BF16)
        x, g = normal(b, s, h, grad=True), normal(b, s, h)

        def run():
            m(x).backward(g)
        flop = 3 * 3 * (24 * b * s * h * h + 4 * b * s * s * h)
        t.row("3 layers, forward and backward", f"{b}x{s}x{h}", "bf16", flop, 0, run)
        with torch.no_grad():
            t.row("3 layers, forward", f"{b}x{s}x{h}", "bf16", flop / 3, 0, lambda: m(x))
        del m, x, g


def main():
    torch.manual_seed(1)
    print(torch.cuda.get_device_name(), torch.__version__, torch.version.cuda, file=sys.stderr)
    t = Table(sys.stdout)
    parts = {f.__name__: f for f in (layers, products, attention, memory, optimizer, fp8)}
    for part in [parts[name] for name in sys.argv[1:] or parts]:
        try:
            part(t)
        except Exception as e:
            print(part.__name__, repr(e), file=sys.stderr)


main()
