#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""What a ping takes beyond the verbs it posts: rpma-ping against rpma-bench on the software device.

Usage: ping_overhead.py RPMA_SOFT RPMA_PING RPMA_BENCH [PAIRS]

PAIRS (9) pairs of runs, the sides on cores of their own. A flood's time for a ping, all of it,
less what rpma-bench measures for the same verbs: a write with the flush behind it, and a read.
Per size the median of the differences with its bootstrap 95 % interval, and of the ratios. Exit status 1 if an interval does not reach 1 us.
"""

import statistics
import sys

from sides import bench, interval, ping

SIZES = (64, 4096)
PINGS = 300000
MOST_NS = 1000.0
PAGE = 4096


def time_of(soft: str, program: str, size: int, *options: str) -> float:
    """The time of an operation, the loop around it included, in ns."""
    result, _ = bench(soft, program, f"dram:{max(size, PAGE)}", "--size", str(size), "--test", "lat",
                      "--duration", "500ms", "--warmup", "200ms", "--quiet", *options)  # fmt: skip
    return float(1e9 / result["points"][0]["repeats"][0]["ops_per_s"])


def pair(soft: str, program: str, bench_program: str, size: int) -> tuple[float, float]:
    result = ping(soft, program, "-f", "-c", str(PINGS), "-s", str(size))
    whole = result["pings"]["elapsed_ns"] / PINGS
    verbs = time_of(soft, bench_program, size, "--op", "write", "--persist", "apm") + time_of(
        soft, bench_program, size, "--op", "read")  # fmt: skip
    return whole - verbs, whole / verbs


def main() -> int:
    soft, program, bench_program = sys.argv[1:4]
    pairs = int(sys.argv[4]) if len(sys.argv) > 4 else 9
    missed = False
    for size in SIZES:
        found = [pair(soft, program, bench_program, size) for _ in range(pairs)]
        beyond, ratios = ([one[i] for one in found] for i in range(2))
        low, high = interval(beyond)
        missed |= low > MOST_NS
        print(f"{size} bytes: {statistics.median(beyond):.0f} ns a ping beyond its verbs [{low:.0f}, "
              f"{high:.0f}], ping / verbs {statistics.median(ratios):.2f}"
              f"{'  MISSED' if low > MOST_NS else ''}")  # fmt: skip
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
