#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""A write on the software device against process_vm_writev, or a plain socket, of the same bytes.

Usage: soft_write.py PROGRAM RPMA_SOFT

PROGRAM (soft_write) under RPMA_SOFT measures both in turns, in one process, on the same
memory of another one, and then the bandwidth over TCP. Prints per size the median of the
ratios of the turns with its bootstrap 95 % interval; exit status 1 if a median misses its
goal.
"""

import statistics
import subprocess
import sys

from sides import interval

TURNS = 301
# bytes, writes a turn, the most that a write may take of what the bare call does;
# the last one is a bandwidth of 0.9
GOALS = ((8, 1000, 1.15), (4096, 1000, 1.45), (1 << 20, 20, 1 / 0.9))
TCP_GOALS = ((65536, 500, 1 / 0.8),)  # the time is meant: this is 0.8 of the bandwidth


def measure(command: list[str], size: int, writes: int, *more: str) -> list[tuple[float, float]]:
    """Nanoseconds of a write, bare and by RDMA, for each turn; the first one does not count."""
    run = subprocess.run([*command, str(size), str(writes), str(1 + TURNS), *more],
                         check=True, stdout=subprocess.PIPE, text=True, timeout=300)  # fmt: skip
    pairs = (line.split() for line in run.stdout.splitlines())
    return [(float(bare), float(rdma)) for bare, rdma in pairs][1:]


def judge(turns: list[tuple[float, float]], size: int, goal: float) -> bool:
    """Prints a line; whether the goal is met."""
    ratios = [rdma / bare for bare, rdma in turns]
    ratio, (low, high) = statistics.median(ratios), interval(ratios)
    bare, rdma = (statistics.median(column) for column in zip(*turns, strict=True))
    verdict = "" if ratio <= goal else "  MISSED"
    print(f"{size:>8}{bare:>10.0f}{rdma:>10.0f}{ratio:>8.3f}  "
          f"{f'{low:.3f} .. {high:.3f}':<16}{goal:>6.2f}{verdict}")  # fmt: skip
    return ratio <= goal


def main() -> int:
    program, rpma_soft = sys.argv[1:]
    met = []
    print(f"{'bytes':>8}{'bare ns':>10}{'RDMA ns':>10}{'ratio':>8}  {'95 %':<16}{'goal':>6}")
    for size, writes, goal in GOALS:
        met.append(judge(measure([rpma_soft, program], size, writes), size, goal))
    print("TCP, against a plain socket")
    for size, writes, goal in TCP_GOALS:
        command = [rpma_soft, "--transport", "tcp", program]
        met.append(judge(measure(command, size, writes, "tcp"), size, goal))
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
