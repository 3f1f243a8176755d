#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The time of a write on the software device with rpma-soft --check, and without.

Usage: check_time.py PROGRAM RPMA_SOFT

PROGRAM (soft_write) runs with checks and without in turns, RUNS times each. Prints the median of the ratios
of the runs with its bootstrap 95 % interval: of the average of the first FIRST writes of a place, and of later
ones. Exit status 1 if a median misses its goal. It reads clocks, so it is run by hand.
"""

import statistics
import subprocess
import sys

from sides import judge

RUNS = 21
FIRST = 10000  # writes, among them those that are all held: see the manual
WRITES, TURNS = 500, 40
# bytes, the most that a write may take of what it takes without checks
GOALS = ((64, 2.0), (65536, 1.2))


def measure(command: list[str], size: int) -> tuple[float, float]:
    """Nanoseconds of a write, on average of the first ones and of later ones."""
    run = subprocess.run([*command, str(size), str(WRITES), str(TURNS)],
                         check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, timeout=300)  # fmt: skip
    turns = [float(line.split()[1]) for line in run.stdout.splitlines()]
    first = FIRST // WRITES
    return statistics.mean(turns[:first]), statistics.mean(turns[first:])


def main() -> int:
    program, rpma_soft = sys.argv[1:]
    met = []
    print(f"{'':<30}{'bare ns':>10}{'check ns':>10}{'ratio':>8}  {'95 %':<16}{'goal':>6}")
    for size, goal in GOALS:
        runs = [(measure([rpma_soft, "--", program], size), measure([rpma_soft, "--check", "--", program], size))
                for _ in range(RUNS)]  # fmt: skip
        for which, name in enumerate((f"the first {FIRST}", "later")):
            pairs = [(bare[which], checked[which]) for bare, checked in runs]
            met.append(judge(f"{size} bytes, {name}", pairs, goal))
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
