#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Instructions of a write of 64 bytes with its completion: with rpma-soft --adversary and without.

Usage: adversary_instructions.py RPMA_SOFT PROGRAM

PROGRAM (adversary_instructions) makes the write 1000 times between two marks of callgrind, to
another process (forced-remote) and within one. Exit status 1 if the adversary makes it cost more
than MOST times as much, with any of SEEDS; 77 if valgrind is missing.
"""

import os
import shutil
import sys

from instructions import count

MOST = 10
SEEDS = (1, 2, 3)


def write(soft: str, program: str, words: str) -> float:
    os.environ["RPMA_SOFT"] = words
    return count(program, soft, "--")["write"]


def main() -> int:
    soft, program = sys.argv[1:]
    if not shutil.which("valgrind"):
        print("needs valgrind")
        return 77
    failed = []
    print(f"{'instructions of a write':<32}{'bare':>8}{'adversary':>11}{'ratio':>7}")
    for words in ("forced-remote", ""):
        bare = write(soft, program, words)
        for seed in SEEDS:
            with_seed = write(soft, program, f"{words} adversary:{seed}")
            name = f"{words or 'same process'}, seed {seed}"
            print(f"{name:<32}{bare:>8.1f}{with_seed:>11.1f}{with_seed / bare:>7.2f}")
            if with_seed > MOST * bare:
                failed.append(f"{name}: more than {MOST} times as much")
    for failure in failed:
        print(f"FAILED: {failure}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
