#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""rpma-bench against perftest on the software device: latency of a read, rates of writes.

Usage: bench_ratios.py RPMA_SOFT RPMA_BENCH [PAIRS]

PAIRS (15) pairs of runs, who is first in turns, the sides on cores of their own, both with
the same depth, completions and size of memory. Per size the median of the ratios with its
bootstrap 95 % interval. "tuned": both with the depth, the operations to a doorbell and to a
completion with which perftest was fastest before. Exit status 1 if the latency's interval does
not reach 1.00 or goes above 1.05, or a rate's does not reach 1.00; 77 if a program is missing.
"""

import shutil
import statistics
import sys
from collections.abc import Callable
from typing import TypeVar

from sides import bench, interval, last_line

Side = TypeVar("Side")

LATENCY_SIZES = (8, 4096)
LATENCY_MOST = 1.05
# bytes, depth, operations to a completion
RATES = ((8, 128, 100), (64, 128, 100), (4096, 128, 100), (1 << 20, 32, 1))
# what perftest is tuned over: depth, operations to a doorbell, to a completion
TUNED_SIZES = (8, 64)
TUNINGS = tuple((depth, batch, every) for depth in (128, 512) for batch in (1, 8, 32, 64)
                for every in ((batch,) if batch > 1 else (64, 100)))  # fmt: skip
PAGE = 4096


def repeat_of(soft: str, program: str, size: int, *options: str) -> tuple[dict, dict]:
    result, _ = bench(soft, program, f"dram:{max(size, PAGE)}", "--size", str(size), "--duration",
                      "1s", "--warmup", "500ms", *options)  # fmt: skip
    return result, result["points"][0]["repeats"][0]


def bench_latency(soft: str, program: str, size: int) -> tuple[float, float]:
    """Median in ns, and the ticks of a nanosecond."""
    result, repeat = repeat_of(soft, program, size, "--test", "lat", "--op", "read")
    median = next(one["ns"] for one in repeat["latency"]["percentiles"] if one["p"] == 0.5)
    return median, result["clock"]["hz"] / 1e9


def perftest_latency(soft: str, size: int) -> float:
    """t_typical in ticks: its microseconds have two decimals only."""
    command = [soft, "ib_read_lat", "-F", "-R", "-C", "-s", str(size), "-n", "200000", "-p", ""]
    return float(last_line(command, len(command))[4])


def bench_rate(soft: str, program: str, size: int, depth: int, every: int, batch: int = 1) -> float:
    signals = ["--signal-every", str(every)] if every > 1 else []
    signals += ["--batch", str(batch)] if batch > 1 else []
    _, repeat = repeat_of(soft, program, size, "--test", "bw", "--op", "write", "--depth",
                          str(depth), *signals)  # fmt: skip
    return repeat["ops_per_s"]


def perftest_rate(soft: str, size: int, depth: int, every: int, batch: int = 1) -> float:
    """The rate in the middle second of two: a count of operations would include a slow begin."""
    command = [soft, "ib_write_bw", "-F", "-R", "-s", str(size), "-D", "2", "-t", str(depth),
               "-Q", str(every), *(["-l", str(batch)] if batch > 1 else []), "-p", ""]  # fmt: skip
    rate = 0.0
    while not rate:  # it prints 0 when it could not calibrate its clock
        rate = float(last_line(command, len(command))[4]) * 1e6
    return rate


def in_pairs(
    ours: Callable[[], Side], theirs: Callable[[], Side], pairs: int
) -> tuple[list[Side], list[Side]]:
    """Both sides of each pair; now one is first, now the other."""
    left: list[Side] = []
    right: list[Side] = []
    for pair in range(pairs):
        if pair % 2:
            left.append(ours())
            right.append(theirs())
        else:
            right.append(theirs())
            left.append(ours())
    return left, right


def tune(soft: str, size: int) -> tuple[int, int, int]:
    """Where perftest is fastest."""
    rates = {tuning: perftest_rate(soft, size, tuning[0], tuning[2], tuning[1]) for tuning in TUNINGS}
    return max(rates, key=lambda tuning: rates[tuning])


def show(name: str, ours: list[float], theirs: list[float], most: float | None) -> bool:
    """True when it is missed; most: of the ratio; None: larger is better."""
    ratios = [a / b for a, b in zip(ours, theirs, strict=True)]
    low, high = interval(ratios)
    missed = (low > 1 or high > most) if most else high < 1
    print(f"{name:<22}{statistics.median(ours):>12.0f}{statistics.median(theirs):>12.0f}"
          f"{statistics.median(ratios):>8.3f}  {low:.3f} .. {high:.3f}"
          f"{'  MISSED' if missed else ''}", flush=True)  # fmt: skip
    return missed


def main() -> int:
    soft, program, *rest = sys.argv[1:]
    pairs = int(rest[0]) if rest else 15
    if not all(map(shutil.which, ("ib_read_lat", "ib_write_bw", "taskset"))):
        print("needs perftest and util-linux")
        return 77
    missed = False
    print(f"{'':<22}{'rpma-bench':>12}{'perftest':>12}{'ratio':>8}  95 %")
    for size in LATENCY_SIZES:
        per_ns = bench_latency(soft, program, size)[1]
        ours, theirs = in_pairs(lambda: bench_latency(soft, program, size)[0],
                                lambda: perftest_latency(soft, size) / per_ns, pairs)  # fmt: skip
        missed |= show(f"read {size} B, ns", ours, theirs, LATENCY_MOST)
    for size, depth, every in RATES:
        ours, theirs = in_pairs(
            lambda: bench_rate(soft, program, size, depth, every),
            lambda: perftest_rate(soft, size, depth, every), pairs)  # fmt: skip
        missed |= show(f"write {size} B, 1/s", ours, theirs, None)
    for size in TUNED_SIZES:
        depth, batch, every = tune(soft, size)
        ours, theirs = in_pairs(
            lambda: bench_rate(soft, program, size, depth, every, batch),
            lambda: perftest_rate(soft, size, depth, every, batch), pairs)  # fmt: skip
        missed |= show(f"tuned {size} B, 1/s", ours, theirs, None)
        print(f"  depth {depth}, {batch} to a doorbell, {every} to a completion")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
