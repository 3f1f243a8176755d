#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The memory of a run of rpma-bench does not depend on its length.

Usage: bench_memory.py RPMA_SOFT RPMA_BENCH

Exit status 1 if a run of MANY operations takes MOST bytes, or more than SPREAD above one of
FEW; 77 if a program is missing.
"""

import shutil
import sys

from sides import bench

FEW, MANY = 10**5, 10**7
MOST = 50 * 10**6
SPREAD = 10**6


def most_bytes(soft: str, program: str, ops: int) -> int:
    result, most = bench(soft, program, "dram:4K", "--test", "lat", "--size", "8", "--ops",
                         str(ops), "--warmup", "0s")  # fmt: skip
    assert result["points"][0]["repeats"][0]["ops"] == ops
    return most


def main() -> int:
    soft, program = sys.argv[1:]
    if not shutil.which("taskset"):
        print("needs util-linux")
        return 77
    few, many = (most_bytes(soft, program, ops) for ops in (FEW, MANY))
    missed = many >= MOST or many > few + SPREAD
    print(f"{FEW} operations {few / 1e6:.1f} MB, {MANY} operations {many / 1e6:.1f} MB"
          f"{'  MISSED' if missed else ''}")  # fmt: skip
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
