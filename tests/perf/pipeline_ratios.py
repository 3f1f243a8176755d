#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Pipelined operations of librpma against the same done by hand, or one at a time.

Usage: pipeline_ratios.py PROGRAM RPMA_SOFT

PROGRAM (pipeline) under RPMA_SOFT measures both ways in turns, on one connection. Prints
the median of the ratios of the turns with its bootstrap 95 % interval; exit status 1 if
an interval does not reach its goal.
"""

import statistics
import subprocess
import sys

from sides import interval

TURNS = 101
DELAY = ["-f", "delay:time=5us"]
# subject, faults, operations a turn, how many times as fast as the first way at least
GOALS = (
    ("writes", [], 6400, 1.0),
    ("flushes", DELAY, 640, 5.0),
    ("appends", DELAY, 640, 5.0),
    ("writes", DELAY, 640, None),  # what a copy costs the device: no record takes less
    ("flushes", [], 6400, None),
    ("appends", [], 6400, None),
)


def measure(command: list[str], subject: str, operations: int) -> list[tuple[float, float]]:
    """Nanoseconds of an operation, the first way and the second, for each turn."""
    run = subprocess.run([*command, subject, str(operations), str(TURNS)],
                         check=True, stdout=subprocess.PIPE, text=True, timeout=300)  # fmt: skip
    pairs = (line.split() for line in run.stdout.splitlines())
    return [(float(first), float(second)) for first, second in pairs]


def main() -> int:
    program, rpma_soft = sys.argv[1:]
    missed = False
    print(f"{'subject':<10}{'delay':<8}{'first ns':>10}{'second ns':>11}{'speed':>8}  "
          f"{'95 %':<16}{'goal':>6}")  # fmt: skip
    for subject, faults, operations, goal in GOALS:
        turns = measure([rpma_soft, *faults, program], subject, operations)
        ratios = [first / second for first, second in turns]
        ratio, (low, high) = statistics.median(ratios), interval(ratios)
        first, second = (statistics.median(column) for column in zip(*turns, strict=True))
        verdict = "  MISSED" if goal is not None and high < goal else ""
        missed |= verdict != ""
        print(f"{subject:<10}{'5 us' if faults else 'none':<8}{first:>10.0f}{second:>11.0f}"
              f"{ratio:>8.2f}  {f'{low:.2f} .. {high:.2f}':<16}{goal or '-':>6}{verdict}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
