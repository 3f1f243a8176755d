#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Instructions of a ping outside of librpma and the device: what rpma-ping itself does for it.

Usage: ping_instructions.py RPMA_SOFT RPMA_PING

It runs under callgrind, with FEW and with MANY pings of a flood: what these cost more, without
what the calls of librpma did, are the stamps, the comparison, the counts and histograms. Exit
status 1 if that is more than a processor of 1 GHz does in a microsecond at one instruction a
cycle; 77 if a program is missing.
"""

import shutil
import sys
import tempfile
from pathlib import Path

from bench_instructions import calls_of, callgrind, inclusive, part
from sides import ping

FEW, MANY = 2000, 12000
MOST = 1000
LIBRPMA = ("rpma_write", "rpma_flush", "rpma_read", "rpma_cq_get_wc")
LOOP = "pings_send"


def outside(soft: str, program: str, count: int, path: Path) -> int:
    result = ping(soft, program, "-f", "-c", str(count), wrapper=callgrind(path))
    assert result["pings"]["received"] == count
    found = calls_of(path)
    calls = part(found, LOOP, LIBRPMA)
    if not calls:
        sys.exit(f"{path}: no {LOOP}() with calls of librpma: is rpma-ping stripped?")
    return inclusive(found, LOOP) - calls


def main() -> int:
    soft, program = sys.argv[1:]
    if not all(map(shutil.which, ("valgrind", "taskset"))):
        print("needs valgrind and util-linux")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "callgrind.out"
        few, many = (outside(soft, program, count, path) for count in (FEW, MANY))
    own = (many - few) / (MANY - FEW)
    print(f"instructions of a ping outside of librpma: {own:.0f} of {MOST} at most"
          f"{'  MISSED' if own > MOST else ''}")  # fmt: skip
    return 1 if own > MOST else 0


if __name__ == "__main__":
    sys.exit(main())
