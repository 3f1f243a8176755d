#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""librpmem against librpma by hand and rpma-bench, on the software device, with APM.

Usage: rpmem_ratios.py RPMA_SOFT RPMEMD RPMEM_LANE_DAEMON RPMEM_TIMES RPMA_BENCH [PAIRS]

The daemon is on core 1 and its client on core 0; per row the median of the ratios of all pairs with
its bootstrap 95 % interval:

- rpmem_persist() on one lane against rpma_write(), rpma_flush() and the completion of that: at most
  1.10 times. Both sides are one process, and alternate TURNS times.
- 16 persists of 64 bytes against 16 flushes and a drain, each operation delayed by 5 us: at least 3.
- rpmem_read() of a pool of 1 GiB into its own memory against rpma-bench, reads of 1 MiB: at least
  0.80 of its bandwidth. PAIRS (15) pairs of runs, who is first in turns. The software device copies
  with a CPU, so it matters where the bytes go: rpma-bench reads into 32 MiB, which caches may hold,
  and into 256 MiB, memory as the pool is.
- rpmem_create() and rpmem_open() with 1024 lanes, which connect when they are first used: both
  together less than 2 s, the median of PAIRS runs; beside it, until each has persisted once.

Exit status 1 if an interval is wholly on the wrong side; 77 if this host lacks what is needed.
"""

import resource
import shutil
import statistics
import sys
from pathlib import Path

from bench_ratios import in_pairs
from rpmem_pools import LANES_SIZE, MIB, RELAXED, SHARED, Programs, Target, target
from sides import bench, interval, show

# bytes, flags
PERSISTS = ((64, "0"), (8, RELAXED), (4096, "0"), (4096, RELAXED))
PERSIST_MOST = 1.1
CALLS, TURNS = 500, 101
BATCHES, DELAY = 20, "delay:time=5us"
SPLIT_LEAST = 3
READ_SIZE, READ_LEAST, READ_DEPTHS = 1 << 30, 0.8, (32, 256)
LANES, LANES_S, LANE_FILES = 1024, 2.0, 4


def name_of(flags: str) -> str:
    return "relaxed" if flags == RELAXED else "flags 0"


def columns(lines: list[str]) -> tuple[list[float], list[float]]:
    pairs = [line.split() for line in lines]
    return [float(one) for one, _ in pairs], [float(other) for _, other in pairs]


def persist(here: Target, size: int, flags: str) -> bool:
    with here.by_hand() as lane:
        lines = here.run(LANES_SIZE, "persist", str(size), flags, str(CALLS), str(TURNS), *lane)
    return show(f"persist {size} B {name_of(flags)}, ns; by hand", *columns(lines), most=PERSIST_MOST)


def split(here: Target, flags: str) -> bool:
    lines = here.run(LANES_SIZE, "split", flags, str(BATCHES), str(TURNS), faults=DELAY)
    return show(f"16 persists {name_of(flags)}, ns; 16 flushes", *columns(lines), least=SPLIT_LEAST)


def bench_read(here: Target, program: str, depth: int) -> float:
    """GB/s, from the same kind of memory: in anonymous memory the kernel may use huge pages."""
    file = here.folder / "bench"
    file.unlink(missing_ok=True)
    result, _ = bench(here.programs.soft, program, f"{file}:{READ_SIZE}", "--op", "read", "--test", "bw", "--size",
                      str(MIB), "--depth", str(depth), "--duration", "1s", "--warmup", "200ms", "--quiet")  # fmt: skip
    return result["points"][0]["repeats"][0]["ops_per_s"] * MIB / 1e9


def pool_read(here: Target) -> float:
    seconds = [float(line) for line in here.run(READ_SIZE, "read", "3")]
    return READ_SIZE / statistics.median(seconds) / 1e9


def read(here: Target, program: str, depth: int, pairs: int) -> bool:
    ours, theirs = in_pairs(lambda: pool_read(here), lambda: bench_read(here, program, depth), pairs)
    return show(f"read 1 GiB, GB/s; rpma-bench to {depth} MiB", ours, theirs, least=READ_LEAST)


def lanes(here: Target, runs: int) -> bool:
    called, used = [], []
    for _ in range(runs):
        one, other = columns(here.run(LANES_SIZE, "lanes", str(LANES)))
        called.append(sum(one))
        used.append(sum(other))
    low, high = interval(called)
    used_low, used_high = interval(used)
    missed = low >= LANES_S
    print(f"{LANES} lanes, create and open: {statistics.median(called):.3f} s ({low:.3f} .. {high:.3f}); until each is "
          f"used: {statistics.median(used):.3f} s ({used_low:.3f} .. {used_high:.3f})"
          f"{'  MISSED' if missed else ''}", flush=True)  # fmt: skip
    return missed


def raise_open_files() -> bool:
    """For this process and those that it starts."""
    wanted = LANES * LANE_FILES + 256
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < wanted:
        return False
    if soft != resource.RLIM_INFINITY:
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))
    return True


def lacking() -> str:
    if not shutil.which("taskset"):
        return "needs util-linux"
    if not Path(SHARED).is_dir() or shutil.disk_usage(SHARED).free < 2 * READ_SIZE:
        return f"needs 2 GiB in {SHARED}"
    return "" if raise_open_files() else f"needs ulimit -Hn {LANES * LANE_FILES + 256}"


def main() -> int:
    soft, rpmemd, lane_daemon, times, program, *rest = sys.argv[1:]
    pairs = int(rest[0]) if rest else 15
    if reason := lacking():
        print(reason)
        return 77
    missed = False
    print(f"{'':<42}{'librpmem':>12}{'other':>12}{'ratio':>8}  95 %")
    with target(Programs(soft, rpmemd, lane_daemon, times)) as here:
        for size, flags in PERSISTS:
            missed |= persist(here, size, flags)
        for flags in ("0", RELAXED):
            missed |= split(here, flags)
        for depth in READ_DEPTHS:
            missed |= read(here, program, depth, pairs)
        missed |= lanes(here, pairs)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
