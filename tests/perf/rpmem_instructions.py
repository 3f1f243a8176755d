#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Instructions of a persist of 64 bytes outside of the device, and what it locks.

Usage: rpmem_instructions.py RPMA_SOFT RPMEMD RPMEM_LANE_DAEMON RPMEM_THREADS

8 threads persist CALLS times on 8 lanes with APM, each after a first call that connects; and
one makes a write, a flush and their completion by hand. Callgrind collects these calls alone; what
the device's functions did is taken off. Exit status 1 if librpmem does more than MOST above that, or
if a persist locks or allocates, so that lanes would wait for each other; 77 if a program is missing.
"""

import re
import shutil
import sys
import tempfile
from pathlib import Path

from bench_instructions import DEVICE as BASIC_DEVICE
from bench_instructions import callgrind, calls_of, part
from rpmem_pools import LANES_SIZE, RELAXED, Programs, Target, target

CALLS = 1000
THREADS = 8
MOST = 450
# a native flush is built between two calls of the device, and posted by the second one
DEVICE = (*BASIC_DEVICE, "wr_start", "wr_flush", "wr_complete")
OURS, BY_HAND, OPENS = "rpmem_persist", "by_hand_persist", "rpmem_create"
# what a call that shares nothing with other lanes does not need
SHARED = re.compile(r"_*(pthread_(mutex|rwlock|spin|cond)_\w+|sem_\w+|(m|c|re)alloc|free|lll_lock\w*)(@.*)?")

Calls = dict[tuple[str, str], tuple[int, int]]


def within(found: Calls, function: str) -> dict[str, int]:
    """All that it calls, however deep, except for what the device calls: how often."""
    seen, reached = {function}, {function}
    counts: dict[str, int] = {}
    while reached:
        callees = set()
        for (caller, callee), (calls, _) in found.items():
            if caller in reached:
                counts[callee] = counts.get(callee, 0) + calls
                callees.add(callee)
        reached = callees - seen - set(DEVICE)
        seen |= reached
    return counts


def own(found: Calls, function: str) -> int:
    total = sum(cost for (_, callee), (_, cost) in found.items() if callee == function)
    device = part(found, function, DEVICE)
    if not total or not device:
        sys.exit(f"no calls from {function}() down to the device: is one of them stripped?")
    return total - device


def shared(found: Calls, function: str) -> dict[str, int]:
    return {name: calls for name, calls in within(found, function).items() if SHARED.fullmatch(name)}


def collect(here: Target, *words: str, only: str = "") -> Calls:
    """What the program makes callgrind collect; ONLY: what this function does."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "callgrind.out"
        options = ["--collect-atstart=no", *([f"--toggle-collect={only}"] if only else [])]
        here.run(LANES_SIZE, *words, wrapper=[*callgrind(path), *options])
        return calls_of(path)


def persists(here: Target, flags: str, least: float) -> bool:
    """True when it is missed."""
    found = collect(here, str(THREADS), str(CALLS), flags)
    locks = shared(found, OURS)
    cost = own(found, OURS) / CALLS / THREADS
    missed = cost > least + MOST or bool(locks)
    print(f"instructions of a persist, flags {flags}: {cost:.1f}, {cost - least:.1f} above {least:.1f} "
          f"by hand; locks and allocations: {locks or 'none'}{'  MISSED' if missed else ''}")  # fmt: skip
    return missed


def main() -> int:
    programs = Programs(*sys.argv[1:])
    if not all(map(shutil.which, ("valgrind", "taskset"))):
        print("needs valgrind and util-linux")
        return 77
    with target(programs) as here:
        if not shared(collect(here, "1", "1", "0", only=OPENS), OPENS):
            sys.exit(f"{OPENS}() locks and allocates nothing: such calls have other names")
        with here.by_hand() as lane:
            least = own(collect(here, "by-hand", str(CALLS), *lane), BY_HAND) / CALLS
        missed = [persists(here, flags, least) for flags in ("0", RELAXED)]
    return 1 if any(missed) else 0


if __name__ == "__main__":
    sys.exit(main())
