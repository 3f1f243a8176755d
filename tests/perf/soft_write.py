#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""A write on the software device against process_vm_writev, or a plain socket, of the same bytes.

Usage: soft_write.py PROGRAM RPMA_SOFT

PROGRAM (soft_write) under RPMA_SOFT measures both in turns, in one process, on the same
memory of another one, and then the bandwidth over TCP. Prints per size the median of the
ratios of the turns with its bootstrap 95 % interval; exit status 1 if a median misses its
goal.
"""

import subprocess
import sys

from sides import judge

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


def main() -> int:
    program, rpma_soft = sys.argv[1:]
    met = []
    print(f"{'':<30}{'bare ns':>10}{'RDMA ns':>10}{'ratio':>8}  {'95 %':<16}{'goal':>6}")
    for size, writes, goal in GOALS:
        met.append(judge(f"{size} bytes", measure([rpma_soft, program], size, writes), goal))
    print("TCP, against a plain socket")
    for size, writes, goal in TCP_GOALS:
        command = [rpma_soft, "--transport", "tcp", program]
        met.append(judge(f"{size} bytes", measure(command, size, writes, "tcp"), goal))
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
