#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Instructions of the software device: a write, a read, and calls that it watches.

Usage: soft_instructions.py RPMA_SOFT PROGRAM

PROGRAM (soft_instructions) makes each call 1000 times between two marks of callgrind, with one
region and with MANY beside it. A write and a read of 8 bytes to another process (forced-remote) and
within one, with their completions, cost the same with any number of regions. mmap(), munmap(),
mremap() and madvise() of memory between registered pages look at each region: a few instructions
of each. With checks a write and a read cost at most RATIO times what they do without, the first
thousand of a place and the sixth; with the schedules of SEEDS of the adversary a write of 64 bytes
costs at most ADVERSARY times as much. Exit status 1 if something costs more than its MOST, its RATIO
or ADVERSARY, or grows by more than GROWTH a region; 77 if valgrind is missing.
"""

import os
import shutil
import sys

from instructions import count

MANY = 101
# with one region beside; what one more may add
MOST = {
    ("forced-remote", "write"): 555,
    ("forced-remote", "write of 64"): 555,
    ("forced-remote", "write again"): 555,
    ("forced-remote", "write of 64 again"): 555,
    ("forced-remote", "read"): 700,
    ("forced-remote", "read again"): 700,
    ("", "write"): 570,
    ("", "read"): 730,
    ("", "mmap"): 550,
    ("", "mremap"): 980,
    ("", "madvise"): 550,
    ("", "munmap"): 510,
}
# with checks: the first 128 requests of a place are held until a poll, and then one of 16
RATIO = dict.fromkeys(("write", "write again", "write of 64", "write of 64 again", "read", "read again"), 2.0)
ADVERSARY, SEEDS = 10, (1, 2, 3)
GROWTH = {"mmap": 40, "mremap": 80, "madvise": 40, "munmap": 40}
GROWTH_OF_OPERATIONS = 0.05


def main() -> int:
    soft, program = sys.argv[1:]
    if not shutil.which("valgrind"):
        print("needs valgrind")
        return 77
    failed = []
    counts: dict[tuple[str, int], dict[str, float]] = {}
    for options in ("forced-remote", ""):
        os.environ["RPMA_SOFT"] = options
        for regions in (1, MANY):
            counts[options, regions] = count(program, soft, "--", arguments=(str(regions),))
    print(f"{'instructions per call':<36}{'1 region':>10}{'each more':>11}{'at most':>9}")
    for (options, call), most in MOST.items():
        one = counts[options, 1][call]
        growth = (counts[options, MANY][call] - one) / (MANY - 1)
        name = f"{call}, {'another process' if options else 'the same process'}"
        print(f"{name:<36}{one:>10.1f}{growth:>11.2f}{most:>9}")
        if one > most:
            failed.append(f"{name} takes more than {most} instructions")
        if growth > GROWTH.get(call, GROWTH_OF_OPERATIONS):
            failed.append(f"{name} takes {growth:.2f} more for each region")
    os.environ["RPMA_SOFT"] = "forced-remote check"
    checked = count(program, soft, "--", arguments=("1",))
    for call, ratio in RATIO.items():
        times = checked[call] / counts["forced-remote", 1][call]
        name = f"{call}, with checks"
        print(f"{name:<36}{checked[call]:>10.1f}{times:>10.2f} times{ratio:>5}")
        if times > ratio:
            failed.append(f"{call} with checks takes more than {ratio} times the instructions")
    for options in ("forced-remote", ""):
        bare = counts[options, 1]["write of 64"]
        for seed in SEEDS:
            os.environ["RPMA_SOFT"] = f"{options} adversary:{seed}"
            with_seed = count(program, soft, "--", arguments=("1",))["write of 64"]
            name = f"write of 64, {options or 'same process'}, seed {seed}"
            print(f"{name:<36}{with_seed:>10.1f}{with_seed / bare:>10.2f} times{ADVERSARY:>5}")
            if with_seed > ADVERSARY * bare:
                failed.append(f"{name}: more than {ADVERSARY} times as much")
    for failure in failed:
        print(f"FAILED: {failure}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
