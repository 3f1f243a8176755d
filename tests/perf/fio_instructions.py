#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Instructions of a 4 KiB write through fio: fio's own, the engine's, librpma's and the device's.

Usage: fio_instructions.py RPMA_SOFT ENGINE_DIR

fio runs under callgrind with FEW and with MANY writes that nothing flushes, at depth 1 and 32;
what these cost more is told for a write. Both are the least of RUNS runs, as a thread that polls
does more of it the more else the machine does: so this is run by hand, as what reads a clock.
Exit status 1 if the engine and librpma together do more than MOST, which a processor of 1 GHz
does in a microsecond at one instruction a cycle, or more than half of what fio itself does; 77
if a program is missing.
"""

import os
import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from bench_instructions import DEVICE, callgrind, calls_of
from fio_ratios import BESIDE_BENCH, BLOCK, DEPTHS, fio, pair
from sides import ADDRESS

FEW, MANY = 2000, 12000
RUNS = 3
MOST = 1000
HOOKS = ("engine_queue", "engine_commit", "engine_getevents", "client_event")
LIBRPMA = ("rpma_write", "rpma_cq_get_wc")
# functions of fio that the engine calls
CALLED_BACK = ("fio_gettime", "io_u_queued", "io_u_mark_submit")
ENGINE = re.compile(r"engine_|client_|io_queue_|posting")


class Cost(NamedTuple):
    fio: float
    engine: float
    librpma: float
    device: float


def cost(path: Path) -> Cost:
    """Each by the calls that lead into it, from where it is not gone already."""
    calls = calls_of(path)

    def entering(callees: tuple[str, ...], of_engine: bool) -> int:
        return sum(spent for (caller, callee), (_, spent) in calls.items()
                   if callee in callees and bool(ENGINE.match(caller)) == of_engine)  # fmt: skip

    total = re.search(r"^(?:totals|summary): (\d+)", path.read_text(), re.MULTILINE)
    hooks = entering(HOOKS, of_engine=False)
    librpma = entering(LIBRPMA, of_engine=True)
    device = entering(DEVICE, of_engine=False)
    back = entering(CALLED_BACK, of_engine=True)
    if not total or not librpma or not device or not back:
        sys.exit(f"{path}: no calls from fio down to the device: is one of them stripped?")
    return Cost(int(total[1]) - hooks + back, hooks - librpma - back, librpma - device, device)


def measure(soft: str, depth: int, count: int, path: Path) -> Cost:
    engine = {"name": "job", "ioengine": "librpma", "serverip": ADDRESS}
    client = fio(soft, **engine, thread=1, flush="none", rw="write", bs=BLOCK, size=BESIDE_BENCH,
                 io_size=count * BLOCK, iodepth=depth, **{"output-format": "json"})  # fmt: skip
    pair(fio(soft, **engine, role="server", port=0, size=BESIDE_BENCH),
         [soft, *callgrind(path), *client[1:]], r"listening on \S+ port \d+")  # fmt: skip
    return cost(path)


def least(soft: str, depth: int, count: int) -> Cost:
    with tempfile.TemporaryDirectory() as folder:
        runs = [measure(soft, depth, count, Path(folder) / "callgrind.out") for _ in range(RUNS)]
    return Cost._make(min(figures) for figures in zip(*runs, strict=True))


def main() -> int:
    soft, os.environ["LD_LIBRARY_PATH"] = sys.argv[1:]
    if not all(map(shutil.which, ("fio", "valgrind", "taskset"))):
        print("needs fio, valgrind and util-linux")
        return 77
    missed = False
    for depth in DEPTHS:
        few, many = (least(soft, depth, count) for count in (FEW, MANY))
        own = Cost(*((more - less) / (MANY - FEW) for less, more in zip(few, many, strict=True)))
        ours = own.engine + own.librpma
        bad = ours > MOST or ours > own.fio / 2
        missed |= bad
        print(f"depth {depth}: instructions of a write: fio {own.fio:.0f}, engine {own.engine:.0f}, "
              f"librpma {own.librpma:.0f}, device {own.device:.0f}{'  MISSED' if bad else ''}")  # fmt: skip
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
