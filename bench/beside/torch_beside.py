#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""torch_beside.py RADDLE [SECONDS]: PyTorch and Raddle on one GPU, in two processes.

Multiplies matrices of 4096 x 4096 in bf16, waiting for each product, and lets RADDLE, the path of the
program, measure fib(30): each alone, then both at once. A line has median [least to most]. The driver
gives the GPU to one process after the other, so each should take about twice as long, and neither for
ever. Exit status 77: PyTorch, or a GPU for it, is not there.
"""
import json
import statistics
import subprocess
import sys
import time

try:
    import torch
except ImportError:
    torch = None

SIZE = 4096


def spread(values, unit):
    return f"{statistics.median(values):.3f} [{min(values):.3f} to {max(values):.3f}] {unit}"


def products(wanted):
    """Milliseconds of each product, as long as wanted() says so."""
    a = torch.randn(SIZE, SIZE, device="cuda", dtype=torch.bfloat16)
    b = torch.randn(SIZE, SIZE, device="cuda", dtype=torch.bfloat16)
    for _ in range(10):
        torch.mm(a, b)
    torch.cuda.synchronize()
    times = []
    while wanted():
        before = time.perf_counter()
        torch.mm(a, b)
        torch.cuda.synchronize()
        times.append((time.perf_counter() - before) * 1e3)
    return times


def start_fib(raddle, rounds):
    return subprocess.Popen(
        [raddle, "bench", "--device", "cuda:0", "--shape", "fib", "--n", "30", "--slots", "1000000",
         "--rounds", str(rounds), "--json", "-"], stdout=subprocess.PIPE, text=True)


def tell_fib(label, process):
    text, _ = process.communicate()
    if process.returncode:
        sys.exit(f"raddle bench {label}: exit status {process.returncode}")
    line = json.loads(text)
    times = [line["ns_per_future"], line["ns_min"], line["ns_max"]]
    print(f"raddle, {label}: {times[0]:.1f} [{times[1]:.1f} to {times[2]:.1f}] ns a future", flush=True)


def main():
    if not 2 <= len(sys.argv) <= 3:
        sys.exit(__doc__)
    if torch is None or not torch.cuda.is_available():
        print("PyTorch is not there" if torch is None else "PyTorch finds no GPU")
        return 77
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 5
    rounds = int(seconds * 12)  # of fib(30), which takes 80 ms
    print(f"PyTorch {torch.__version__}", flush=True)
    end = time.perf_counter() + seconds
    alone = products(lambda: time.perf_counter() < end)
    print("torch, alone: " + spread(alone, "ms a product"), flush=True)
    tell_fib("alone", start_fib(sys.argv[1], rounds))
    fib = start_fib(sys.argv[1], rounds)
    time.sleep(2)  # it has opened the device
    both = products(lambda: fib.poll() is None)
    if not both:
        sys.exit("raddle bench ended before PyTorch began")
    print("torch, beside: " + spread(both, "ms a product"), flush=True)
    tell_fib("beside", fib)
    return 0


if __name__ == "__main__":
    sys.exit(main())
